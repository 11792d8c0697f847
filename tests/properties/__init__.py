"""Properties over random programs and random streams of transactions."""
