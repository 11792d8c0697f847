"""Compares what a run of a test gave with what the checkout expects, and says why a test failed.

Files and standard output are compared as sorted lines without blanks at their ends. Of refusals the lines of the program with errors
are compared: Soufflé's reports tell one or more places for each error, of which ours should name one, and it should name no other.
A syntax error is all that Soufflé tells of a program, so what else we find wrong there is not compared. Wording never is, nor are warnings.
"""

from __future__ import annotations

import gzip
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.conformance.suite import SuiteTest

Cause = Literal["", "wrong answer", "internal error", "crash", "accepted", "wrong lines", "unsupported", "refused", "usage", "time"]
SHOWN = 4  # different lines that a report shows of a file

_OURS = re.compile(r"^(?P<file>[^\n]*?):(?P<line>[0-9]+):[0-9]+: error: (?P<message>[^\n]*)", re.MULTILINE)
_PLACE = re.compile(r"in file (\S+) at line ([0-9]+)")
_REPORT = re.compile(r"^(?=(?:Error|Warning): )", re.MULTILINE)

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave: `status` is negative for a signal, and None where the time was over; `folder` has what it wrote."""

    status: int | None
    seconds: float
    out: Path
    err: Path
    folder: Path


@dataclass(frozen=True, slots=True)
class Verdict:
    """`cause` is empty for a test that passed; `reason` groups those that failed alike, `detail` tells the one from the other."""

    cause: Cause = ""
    reason: str = ""
    detail: str = ""


def judge(test: SuiteTest, ran: Ran) -> Verdict:
    err = ran.err.read_text(encoding="utf-8", errors="replace")
    if ran.status is None:
        return Verdict("time", "over the limit")
    if ran.status < 0:
        return Verdict("crash", f"signal {-ran.status}", err[-400:])
    if "internal error" in err or "Traceback" in err:
        return Verdict("internal error", _grouped(_first_line(err, "internal error")), err[-1500:])
    if ran.status == 2:
        return Verdict("usage", _first_line(err, "Error"), err[:400])
    if test.kind == "refused":
        return _judge_refusal(test, ran, err)
    if ran.status:
        message = _first_line(err, "error")
        return Verdict("unsupported" if "not supported" in message else "refused", _grouped(message), err[:1000])
    try:
        _unpack(test, ran.folder)
    except (OSError, EOFError, sqlite3.Error) as error:
        return Verdict("wrong answer", f"a file is no {test.extra}", str(error))
    if wrong := _differences(test, ran):
        return Verdict("wrong answer", " and ".join(sorted({kind for kind, _ in wrong})), "\n".join(what for _, what in wrong))
    return Verdict()


def _differences(test: SuiteTest, ran: Ran) -> list[tuple[str, str]]:
    expected = {file.name: file for file in test.files}
    written = {file.name for file in ran.folder.glob("*.csv")}
    found = [("too many files", f"{name} is not expected") for name in sorted(written - expected.keys())]
    for name, file in expected.items():
        if not (ran.folder / name).exists():
            found.append(("missing files", f"{name} was not written"))
        elif difference := compare(file, ran.folder / name):
            found.append(("different rows", f"{name}: {difference}"))
    output = test.expectation("out")
    if output.exists() and (difference := compare(output, ran.out)):
        found.append(("different standard output", f"standard output: {difference}"))
    return found


def _judge_refusal(test: SuiteTest, ran: Ran, err: str) -> Verdict:
    if ran.status == 0:
        return Verdict("accepted", next((_grouped(message) for _, message in _theirs(test)), "for a reason that Soufflé does not tell"))
    if difference := compare(test.expectation("out"), ran.out):
        return Verdict("wrong answer", "different standard output", difference)
    reports = [(places, message) for places, message in _theirs(test) if places]
    ours = {(Path(match["file"]).name, int(match["line"])): match["message"] for match in _OURS.finditer(err)}
    known = {place for places, _ in reports for place in places}
    missed = [(min(places), message) for places, message in reports if not places & ours.keys()]
    whole = reports and not any(message.startswith("syntax error") for _, message in reports)
    surplus = {place: message for place, message in ours.items() if place not in known} if whole else {}
    if not missed and not surplus:
        return Verdict()
    detail = [f"missed {place[0]}:{place[1]}: {message}" for place, message in missed]
    detail += [f"surplus {place[0]}:{place[1]}: {message}" for place, message in surplus.items()]
    if missed:
        return Verdict("wrong lines", f"missed: {_grouped(missed[0][1])}", "\n".join(detail))
    return Verdict("wrong lines", f"surplus: {_grouped(next(iter(surplus.values())))}", "\n".join(detail))


def _theirs(test: SuiteTest) -> list[tuple[set[Place], str]]:
    """The errors that are expected: their places, and how Soufflé words them."""
    reports = _REPORT.split(test.expectation("err").read_text(encoding="utf-8", errors="replace"))
    return [
        (
            {(file, int(line)) for file, line in _PLACE.findall(report)},
            _PLACE.split(report.splitlines()[0])[0].removeprefix("Error: ").strip(),
        )
        for report in reports
        if report.startswith("Error: ")
    ]


def lines_of(path: Path) -> list[str]:
    """The lines of a file, sorted, without blanks at their ends."""
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        return sorted(line.rstrip() for line in file)


def compare(expected: Path, given: Path) -> str:
    """How two files differ as sorted lines; empty if they do not."""
    wanted, there = Counter(lines_of(expected)), Counter(lines_of(given))
    missing, surplus = wanted - there, there - wanted
    if not missing and not surplus:
        return ""
    shown = [f"-{line[:160]}" for line in list(missing)[:SHOWN]] + [f"+{line[:160]}" for line in list(surplus)[:SHOWN]]
    return "\n    ".join([f"{missing.total()} of {wanted.total()} lines missing, {surplus.total()} too many", *shown])


def _unpack(test: SuiteTest, folder: Path) -> None:
    """Make text files of the forms that a test writes besides."""
    if test.extra == "gzip":
        for packed in folder.glob("*.gz.output"):
            (folder / packed.name.removesuffix(".gz.output")).write_bytes(gzip.decompress(packed.read_bytes()))
    elif test.extra == "sqlite3":
        for base in folder.glob("*.sqlite.output"):
            script = (test.expected / f"{base.name}.script").read_text(encoding="utf-8")
            connection = sqlite3.connect(base)
            rows = connection.execute(script).fetchall()
            connection.close()
            text = "".join("|".join("" if value is None else str(value) for value in row) + "\n" for row in rows)
            (folder / f"{base.name.removesuffix('.sqlite.output')}.csv").write_text(text, encoding="utf-8")


def _first_line(err: str, word: str) -> str:
    """The first line with the word, without the place it begins with."""
    line = next((line for line in err.splitlines() if word in line), err.strip().splitlines()[0] if err.strip() else "nothing was said")
    return re.sub(r"^.*?: error: ", "", line)


def _grouped(message: str) -> str:
    """The message without what differs from one program to another: numbers, and names that are quoted."""
    return re.sub(r'"[^"]*"', '"…"', re.sub(r"\b[0-9]+\b", "N", message))
