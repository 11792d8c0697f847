"""Warnings of names that are probably meant for others."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from datalog import Database
from datalog.errors import LikelyTypo
from tests.command_line import datalog

PATHS = """.decl edge(x: number, y: number)
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.output path
"""


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize(
    ("clause", "name", "meant"),
    [
        ("edgee(1, 2).", "edgee", "edge"),
        ("paht(x, y) :- edge(x, y).", "paht", "path"),
        ("paths(x) :- paths(x), edge(x, _).", "paths", "path"),
    ],
)
def test_a_head_that_nothing_reads_and_nobody_declares_is_told_with_its_line(
    tmp_path: Path, command: str, clause: str, name: str, meant: str
) -> None:
    (tmp_path / "p.dl").write_text(PATHS + clause)
    outcome = datalog(command, tmp_path / "p.dl")
    assert outcome.status == 0
    assert outcome.err == (f"{tmp_path / 'p.dl'}:6: warning: `{name}` has no declaration, and nothing reads it; did you mean `{meant}`?\n")


@pytest.mark.parametrize(
    "text",
    [
        PATHS + "paths(x) :- path(x, _).  .output paths",
        PATHS + "paths(x) :- path(x, _).  edge(y, x) :- paths(x), paths(y).",
        PATHS + "unlike(1).",
        PATHS.replace(".output path", "") + "paths(x) :- path(x, _).",
        "edge(1, 2).  edges(1, 2).  path(x, y) :- edge(x, y).",
    ],
)
def test_what_is_read_or_shown_or_like_nothing_is_no_typo(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.dl").write_text(text)
    assert datalog("check", tmp_path / "p.dl").err == ""


def test_without_warnings_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PATHS + "edgee(1, 2).")
    assert datalog("run", "-w", tmp_path / "p.dl", "-m", "pth").err == ""


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (PATHS, {"on_demand": "pth"}, "there is no predicate `pth`, which is to be evaluated on demand; did you mean `path`?"),
        (PATHS, {"on_demand": "*", "whole": ["quux"]}, "there is no predicate `quux`, which is to be left whole"),
        ('.pragma "magic-transform" "zz,path"\n' + PATHS, {}, "there is no predicate `zz`, which is to be evaluated on demand"),
    ],
)
def test_unknown_names_of_what_is_on_demand_are_told(text: str, options: dict[str, str], told: str) -> None:
    with pytest.warns(LikelyTypo) as caught:
        Database(text, **options)  # type: ignore[arg-type]
    assert [str(one.message) for one in caught] == [told]


def test_known_names_of_what_is_on_demand_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Database(PATHS + ".decl near(x: number) inline\nnear(x) :- path(1, x).\n", on_demand="path,near", whole="edge")
