"""Benchmarks: `python -m tests.bench [NAMES]`. They report; pytest does not collect them, and no timer fails a run."""
