"""What a database says of its memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from datalog import Database, Stats
from datalog.ir.structures import Structure
from datalog.maintain.memory import Part, spell_bytes, summary

PROGRAM = """
    .decl edge(x: number, y: number)
    .decl tag(x: number, t: symbol)
    near(x, z) :- edge(x, y), edge(y, z), x != z.
    degree(x, n) :- tag(x, _), n = count : {edge(x, _)}.
    reach(y) :- edge(0, y).
    reach(y) :- reach(x), edge(x, y).
"""


def filled(size: int, **options: str) -> Database:
    db = Database(PROGRAM, **options)  # type: ignore[arg-type]
    with db.transaction() as transaction:
        transaction.insert("edge", [(x, x * 7 % size) for x in range(size)])
        transaction.insert("tag", [(x, f"the tag of {x}") for x in range(size)])
    return db


def parts_of(stats: Stats) -> dict[str, Part]:
    return {part.name: part for part in stats}


def test_every_arrangement_is_told_by_its_columns_with_its_rows() -> None:
    stats = filled(500).stats()
    parts = parts_of(stats)
    assert parts["edge(x, y)"].count == 500
    assert parts["tag(x, t)"].kind == "arrangement"
    assert parts["reach(y)"].count == len(filled(500)["reach"])
    orders = [name for name in parts if name.startswith("edge(")]
    assert len(orders) == len(set(orders)) == 2
    assert parts["symbols"].count == 500
    assert parts["symbols"].bytes > 500 * len("the tag of 0")


def test_a_predicate_without_columns_is_told_by_its_name() -> None:
    db = Database("p() :- q(_). q(1). r(n) :- q(n), m = min x : { q(x) }, p().")
    assert parts_of(db.stats())["p()"].count == 1


def test_the_parts_come_greatest_first_and_add_up_to_the_whole() -> None:
    stats = filled(300).stats()
    sizes = [part.bytes for part in stats]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 0
    assert (
        stats.bytes
        == sum(sizes)
        == sum(stats.of(kind) for kind in ("arrangement", "records", "aggregates", "pages", "symbols", "structures", "memo", "buffers"))
    )


def test_all_pages_of_the_pool_are_among_the_parts() -> None:
    db = filled(400, maintain="recorded")
    pool = db._engine.storage.pool
    with db.snapshot():
        for step in range(30):
            with db.transaction() as transaction:
                transaction.delete("edge", [(step, step * 7 % 400)])
        stats = db.stats()
        assert parts_of(stats)["older versions and what is unfinished"].count > 0
        assert sum(stats.of(kind) for kind in ("arrangement", "records", "aggregates", "pages")) == pool.bytes
    assert "older versions and what is unfinished" not in parts_of(filled(400).stats())


def test_records_and_states_of_aggregates_have_parts_of_their_own() -> None:
    recorded, derived = filled(400, maintain="recorded").stats(), filled(400, maintain="derived").stats()
    assert recorded.of("records") > 0 == derived.of("records")
    assert any(part.name.endswith(", of near") and part.count > 100 for part in recorded)
    program = "total(x, s) :- s = mean y : {edge(x, y)}, edge(x, _).\n.decl edge(x: number, y: number)\n.input edge"
    db = Database(program)
    with db.transaction() as transaction:
        transaction.insert("edge", [(x % 10, x) for x in range(500)])
    (states,) = [part for part in db.stats() if part.kind == "aggregates"]
    assert (states.name, states.count) == ("states of aggregates", 10)


def test_a_part_prints_as_a_line_of_a_table() -> None:
    stats = Stats((Part("symbols", "symbols", 3, 1500), Part("arrangement", "e(x, y)", 1000, 2_000_000)), limit=5_000_000)
    assert str(stats).splitlines() == [
        "2.0 MB of 5.0 MB",
        "kind         name     entries  memory",
        "-----------  -------  -------  ------",
        "arrangement  e(x, y)     1000  2.0 MB",
        "symbols      symbols        3  1.5 kB",
    ]
    assert stats._repr_html_() == f"<pre>{stats}</pre>"
    assert summary(stats) == "2.0 MB by e(x, y), 1.5 kB by symbols, 0 B by all else"


@pytest.mark.parametrize(
    ("count", "spelt"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_960, "1.0 MB"), (12_345_678_901, "12.3 GB")]
)
def test_bytes_are_spelt_in_powers_of_a_thousand(count: int, spelt: str) -> None:
    assert spell_bytes(count) == spelt


GROWTH = """
import os
import sys
import tracemalloc
from pathlib import Path

from datalog import Database


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


program = Path(sys.argv[1]).read_text()
small = Database(program, facts=sys.argv[2])
before = resident()
large = Database(program, facts=sys.argv[3])
print(resident() - before, large.stats().bytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_the_parts_add_up_to_what_the_process_grew_by(tmp_path: Path) -> None:
    program = tmp_path / "program.dl"
    program.write_text(PROGRAM.replace("near(x, z) :- edge(x, y), edge(y, z), x != z.", "") + ".input edge\n.input tag\n")
    for name, size in (("small", 10_000), ("large", 1_200_000)):
        (tmp_path / name).mkdir()
        edges = np.random.default_rng(1).integers(0, size // 4, (size, 2)).tolist()
        (tmp_path / name / "edge.facts").write_text("".join([f"{x}\t{y}\n" for x, y in edges]))
        (tmp_path / name / "tag.facts").write_text("".join([f"{x}\tthe tag of {x}\n" for x in range(size // 4)]))
    command = [sys.executable, "-c", GROWTH, str(program), str(tmp_path / "small"), str(tmp_path / "large")]
    settings = {"DATALOG_PATIENCE": "0", "NUMBA_DISABLE_JIT": "0"}  # machine code is there before anything is measured
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **settings})
    grown, told = map(int, done.stdout.split())
    assert grown > 50_000_000
    assert abs(told - grown) < 0.1 * grown


def test_records_are_counted_with_what_they_take() -> None:
    program = """
        .type Pair = [a: number, b: number]
        .decl n(x: number)
        .decl pair(p: Pair)
        pair([x, x + 1]) :- n(x).
    """
    db = Database(program)
    assert db.stats().of("structures") == 0
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    structures = db._engine.values.structures
    structures.intern_columns(*_pairs(db), [np.arange(1000, 51_000), np.arange(2000, 52_000)])
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    (part,) = [part for part in db.stats() if part.kind == "structures"]
    assert part.count == 50_000
    assert grown * 0.9 < part.bytes < grown * 1.1


def _pairs(db: Database) -> tuple[Structure, int]:
    type_ = db._engine.program.predicates["pair"].types[0]
    assert isinstance(type_, Structure)
    return type_, 0
