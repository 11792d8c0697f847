"""Finds the tests of a checkout: what its CMakeLists.txt files register, and what is expected of each.

A test is `positive` if it has output to compare, `functor` if it moreover calls C++ functions of its own, `silent` if it has to end
well and say nothing, and `refused` if its program is wrong. Tests of Soufflé's C++ interface, profiler and proofs are none of an engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.conformance.cmake import after, calls

CATEGORIES = ("evaluation", "example", "semantic", "syntactic", "interface", "scheduler")
Kind = Literal["positive", "functor", "silent", "refused"]
KINDS: tuple[Kind, ...] = ("positive", "functor", "silent", "refused")


@dataclass(frozen=True, slots=True)
class SuiteTest:
    """One test: `expected` is the folder with what it should give, `extra` a form (gzip, sqlite3, json) in which it also does."""

    name: str
    category: str
    kind: Kind
    program: Path
    facts: Path
    expected: Path
    options: tuple[str, ...] = ()
    prints: bool = False
    extra: str = ""

    def expectation(self, ending: str) -> Path:
        """The file with what standard output (`out`) or standard error (`err`) should hold."""
        return self.expected / f"{self.program.stem}.{ending}"

    @property
    def files(self) -> list[Path]:
        """The files that are expected to be written, as far as their contents are compared."""
        found = sorted(self.expected.glob("*.csv"))
        return found + sorted(self.expected.glob("*.json")) if self.extra == "json" else found


def discover(checkout: Path) -> list[SuiteTest]:
    """All tests of the checkout, in the order of its files."""
    found: dict[str, SuiteTest] = {}
    for category in CATEGORIES:
        for name, arguments in calls(checkout / "tests" / category / "CMakeLists.txt"):
            for test in _registered(checkout / "tests" / category, name, arguments):
                found.setdefault(test.name, test)  # some are registered for the interpreter and for the compiler
    return list(found.values())


def _registered(category: Path, call: str, arguments: list[str]) -> Iterator[SuiteTest]:
    if call in ("positive_test", "negative_test", "positive_output_stdout_test", "souffle_add_scheduler_test"):
        yield _test(category, arguments[0], negative=call == "negative_test", prints="stdout" in call)
    elif call == "souffle_positive_functor_test":
        yield _test(category, arguments[0], functors=True)
    elif call == "souffle_positive_multi_test":
        for facts in after(arguments, "FACTS_DIR_NAMES"):
            yield _test(category, after(arguments, "TEST_NAME")[0], part=facts)
    elif call in ("souffle_run_test", "souffle_run_test_helper"):
        (name,) = after(arguments, "TEST_NAME")
        options = ["--no-preprocessor"] if "NO_PREPROCESSOR" in arguments else []
        for folder in after(arguments, "INCLUDE_DIRS"):
            options += ["-I", str(category / name / folder)]
        extra = "".join(after(arguments, "EXTRA_DATA"))
        yield _test(category, name, "NEGATIVE" in arguments, "FUNCTORS" in arguments, tuple(options), extra)


def _test(
    category: Path,
    name: str,
    negative: bool = False,
    functors: bool = False,
    options: tuple[str, ...] = (),
    extra: str = "",
    part: str = "",
    prints: bool = False,
) -> SuiteTest:
    folder = category / name
    test = SuiteTest(
        f"{category.name}/{name}{'_' if part else ''}{part}",
        category.name,
        "refused" if negative else "functor" if functors else "positive",
        folder / f"{name}.dl",
        folder / (part or "facts"),
        folder / part,
        options,
        prints,
        extra,
    )
    output = test.expectation("out")
    if test.kind == "positive" and not test.files and not (output.exists() and output.stat().st_size):
        return SuiteTest(test.name, test.category, "silent", test.program, test.facts, test.expected, options, prints, extra)
    return test
