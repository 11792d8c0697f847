"""The engines: each module has a class `Peer`, and imports what it measures only when that is made."""

from __future__ import annotations

from importlib import import_module

from tests.bench.peers.engine import Engine, Task

OURS = "leapfrog"
MODULES = {
    OURS: "ours",
    "by hand": "hand",
    "duckdb": "duck",
    "pathway": "streams",
    "egglog": "eqsat",
    "kuzu": "graph",
    "clingo": "ground",
    "nemo": "nemo",
    "souffle": "souffle",
    "souffle compiled": "souffle",
}
PEERS = tuple(name for name in MODULES if name != OURS)


def engine_class(name: str) -> type[Engine]:
    """The class of an engine of the given name."""
    module = import_module(f"{__name__}.{MODULES[name]}")
    found = module.Compiled if name == "souffle compiled" else module.Peer
    assert isinstance(found, type) and issubclass(found, Engine)
    return found


def open_engine(name: str, task: Task) -> Engine:
    """An engine that is ready to be measured at a task."""
    return engine_class(name)(task)
