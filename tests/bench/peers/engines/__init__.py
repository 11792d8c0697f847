"""The engines: each module has a class `Peer`, and imports what it measures only when that is made."""

from __future__ import annotations

from importlib import import_module

from tests.bench.peers.engine import Engine, Task

OURS = "leapfrog"
TWO_THREADS = "leapfrog -j 2"
HOMES = {
    OURS: ("ours", "Peer"),
    TWO_THREADS: ("ours", "TwoThreads"),
    "by hand": ("hand", "Peer"),
    "duckdb": ("duck", "Peer"),
    "pathway": ("streams", "Peer"),
    "egglog": ("eqsat", "Peer"),
    "kuzu": ("graph", "Peer"),
    "clingo": ("ground", "Peer"),
    "nemo": ("nemo", "Peer"),
    "souffle": ("souffle", "Peer"),
    "souffle compiled": ("souffle", "Compiled"),
}
OWN = (OURS, TWO_THREADS)
PEERS = tuple(name for name in HOMES if name != OURS)


def engine_class(name: str) -> type[Engine]:
    """The class of an engine of the given name."""
    module, kind = HOMES[name]
    found = getattr(import_module(f"{__name__}.{module}"), kind)
    assert isinstance(found, type) and issubclass(found, Engine)
    return found


def open_engine(name: str, task: Task) -> Engine:
    """An engine that is ready to be measured at a task."""
    return engine_class(name)(task)
