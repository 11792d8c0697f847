"""The benchmarks beside other engines: data, answers and runs at small sizes, with ours and the hand-written peer only."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from tests.bench.measure import Wrong
from tests.bench.peers import by_hand, suite
from tests.bench.peers.changes import read_changes
from tests.bench.peers.chart import svg
from tests.bench.peers.data import Data
from tests.bench.peers.engines.souffle import apart
from tests.bench.peers.rules import clauses, lisp, parse, select
from tests.bench.peers.truth import Truth, facts_after
from tests.bench.peers.workloads import Workload
from tests.bench.report import Report

SOME_EDGES = np.array([(0, 1), (1, 2), (0, 2), (2, 0), (2, 3), (4, 4)], np.int64)


def _report() -> Report:
    report = Report(Console(file=StringIO(), width=160))
    report.begin("peers", "")
    return report


def test_the_data_is_the_same_at_every_run(tmp_path: Path) -> None:
    one, other = (Data(tmp_path / name, True, None) for name in ("one", "other"))
    for name in ("w1-20k", "w3", "w6", "w9"):
        for path in sorted(one.make(name).iterdir()):
            assert path.read_bytes() == (other.make(name) / path.name).read_bytes()


def test_every_row_of_a_transaction_changes_something(tmp_path: Path) -> None:
    data = Data(tmp_path, True, None)
    for name in ("w1-200k", "w2-random", "w3", "w4", "w6"):
        facts = facts_after(data.make(name), 0)
        for changes in read_changes(data.make(name)):
            for sign, predicate, row in changes:
                assert (row in facts[predicate]) == (sign < 0)
                (facts[predicate].add if sign > 0 else facts[predicate].remove)(row)


def test_hand_written_triangles_and_closures_are_those_of_the_definitions() -> None:
    edges = {(int(x), int(y)) for x, y in SOME_EDGES}
    wanted = {(x, y, z) for x, y in edges for w, z in edges if w == y and (x, z) in edges}
    assert {tuple(map(int, row)) for row in by_hand.triangles(SOME_EDGES)} == wanted
    reached = set(edges)
    while more := {(x, z) for x, y in reached for w, z in edges if w == y} - reached:
        reached |= more
    assert by_hand.bits_set(by_hand.closure(SOME_EDGES)) == len(reached)


def test_a_rule_is_printed_in_each_language() -> None:
    rules = parse(".decl t(x: number)\nt(x, z) :- t(x, y), e(y, z).\ne(1, 2).\n")
    assert clauses(rules) == "t(x, z) :- t(x, y), e(y, z).\ne(1, 2).\n"
    assert clauses(rules, "?{}".format, " .") == "t(?x, ?z) :- t(?x, ?y), e(?y, ?z) .\ne(1, 2) .\n"
    assert lisp(rules) == "(rule ((t v.x v.y) (e v.y v.z)) ((t v.x v.z)))\n(e 1 2)\n"
    assert select(rules[0], ["t", "e"]) == "SELECT a0.c0 AS c0, a1.c1 AS c1 FROM t a0, e a1 WHERE a0.c1 = a1.c0"


def test_runs_of_ours_and_by_hand_are_checked_and_reported(tmp_path: Path) -> None:
    report = _report()
    settings = suite.Settings(("w1-20k", "w5-aggregates"), ("by hand", "souffle"), True, 1, data=tmp_path, chart=tmp_path / "chart.svg")
    suite.run(report, 0.5, settings)
    report.save(tmp_path / "figures.json")
    kept = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["benches"]["peers"]
    (rows,) = kept["tables"].values()
    assert [(row["workload"], row["engine"]) for row in rows] == [
        (workload, engine) for workload in ("w1-20k", "w5-aggregates") for engine in ("leapfrog", "by hand", *_souffle(kept, workload))
    ]
    assert all(row["peak memory"] > 0 and (row["engine"] == "leapfrog" or row["to ours"] > 0) for row in rows)
    assert {"souffle"} == {*kept["missing"], *kept["versions"]} - {"leapfrog", "by hand"}
    assert {"processor", "cores", "threads", "system", "python"} == set(kept["machine"])
    assert ElementTree.parse(tmp_path / "chart.svg").getroot().tag.endswith("svg")


def _souffle(kept: dict[str, dict[str, str]], workload: str) -> list[str]:
    """Where it is installed; it follows no changes."""
    return ["souffle"] if "souffle" in kept["versions"] and workload == "w1-20k" else []


def test_types_and_relations_of_a_program_for_souffle_share_no_name() -> None:
    program = ".type Method <: symbol\n.decl Method(method: Method, name: symbol)\n.decl of(m: Method)\nof(m) :- Method(m, _).\n"
    expected = (
        ".type MethodType <: symbol\n.decl Method(method: MethodType, name: symbol)\n.decl of(m: MethodType)\nof(m) :- Method(m, _).\n"
    )
    assert apart(program) == expected


def test_a_wrong_answer_is_named_and_its_figures_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Truth, "_count", lambda *_: (17,))
    report = _report()
    with pytest.raises(Wrong, match=r"w10-start, leapfrog: \(55,\), and it should be \(17,\)"):
        suite.run(report, 0.5, suite.Settings(("w10-start",), (), True, 1, data=tmp_path))
    (rows,) = report.benches["peers"]["tables"].values()  # type: ignore[attr-defined]
    assert rows[0]["in all"] is None and "should be" in rows[0]["way"]


def test_a_run_goes_on_with_the_figures_that_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep, readme = tmp_path / "figures.json", tmp_path / "README.md"
    settings = suite.Settings(("w10-start",), ("by hand",), True, 1, data=tmp_path, keep=keep)
    suite.run(_report(), 0.5, settings)
    first = keep.read_text(encoding="utf-8")
    monkeypatch.setattr(suite.Suite, "_once", lambda *_: pytest.fail("it ran again"))
    suite.run(_report(), 0.5, settings)
    assert keep.read_text(encoding="utf-8") == first
    readme.write_text("# Title\n\n<!-- benchmarks -->\nold\n<!-- end of benchmarks -->\n\nmore\n", encoding="utf-8")
    suite.run(_report(), 0.5, replace(settings, report_only=True, readme=readme, chart=tmp_path / ".figures" / "chart.svg"))
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n<!-- benchmarks -->\n\n![") and text.endswith("<!-- end of benchmarks -->\n\nmore\n")
    assert "(.figures/chart.svg)" in text and (tmp_path / ".figures" / "chart.svg").exists()
    assert "| w10-start: a process with ten facts and a closure | " in text and "old" not in text


def test_figures_of_another_run_are_not_gone_on_with(tmp_path: Path) -> None:
    keep = tmp_path / "figures.json"
    settings = suite.Settings(("w10-start",), (), True, 1, data=tmp_path, keep=keep)
    suite.run(_report(), 0.5, settings)
    with pytest.raises(Wrong, match="figures of another run"):
        suite.run(_report(), 0.5, replace(settings, rounds=2))


def test_an_engine_that_takes_too_long_is_stopped_and_spared_the_transactions_on_the_same_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, asked = suite.Suite._process, []

    def slow(
        self: suite.Suite, engine: str, arguments: list[str], workload: Workload | None = None, patience: float | None = None
    ) -> CompletedProcess[str]:
        if engine == "by hand" and workload is not None:
            asked.append(workload.name)
            raise TimeoutExpired([], 90)
        return process(self, engine, arguments, workload, patience)

    monkeypatch.setattr(suite.Suite, "_process", slow)
    report = _report()
    suite.run(report, 0.5, suite.Settings(("w1-200k", "w5-triangles"), ("by hand",), True, 1, data=tmp_path))
    (rows,) = report.benches["peers"]["tables"].values()  # type: ignore[attr-defined]
    assert [row["way"] for row in rows if row["engine"] == "by hand"] == ["more than 90 s"] * 2
    assert asked == ["w1-200k"]
    assert all(row["peak memory"] for row in rows if row["engine"] == "leapfrog")


def test_a_chart_has_a_dot_for_each_peer_on_the_side_of_the_faster_one() -> None:
    text = svg([("w1", "1 ms", [("duckdb", 100.0), ("nemo", 0.1)])])
    dots = {name: float(x) for x, name in re.findall(r'cx="([\d.]+)" [^>]*><title>(\w+)', text)}
    middle = float(re.findall(r'class="ours" x1="([\d.]+)"', text)[0])
    assert dots["nemo"] < middle < dots["duckdb"]
