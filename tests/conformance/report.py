"""What `python -m tests.conformance` prints: how many tests pass, why others fail, which took longest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.conformance.judge import Verdict
from tests.conformance.suite import KINDS, SuiteTest

SLOWEST = 10
CAUSES = (
    "wrong answer",
    "internal error",
    "crash",
    "accepted",
    "wrong lines",
    "unsupported",
    "refused",
    "usage",
    "time",
)  # the worst first


@dataclass(frozen=True, slots=True)
class Result:
    """One test: its verdict, and how long it took us and, where it was asked, Soufflé's interpreter."""

    test: SuiteTest
    seconds: float
    verdict: Verdict
    souffle: float | None = None

    def as_json(self) -> dict[str, object]:
        test, verdict = self.test, self.verdict
        return {
            "name": test.name,
            "kind": test.kind,
            "seconds": round(self.seconds, 3),
            "souffle_seconds": None if self.souffle is None else round(self.souffle, 3),
            "cause": verdict.cause,
            "reason": verdict.reason,
            "detail": verdict.detail,
        }


def report(results: Iterable[Result]) -> Iterator[str]:
    """The lines of the report."""
    results = list(results)
    yield from _counts(results)
    yield from _causes(results)
    yield ""
    yield "Slowest:"
    for result in sorted(results, key=lambda result: -result.seconds)[:SLOWEST]:
        beside = "" if result.souffle is None else f"   Soufflé {result.souffle:7.2f} s"
        yield f"{result.seconds:9.2f} s{beside}   {result.test.name}{'   FAILED' if result.verdict.cause else ''}"
    yield ""
    yield f"{sum(result.seconds for result in results):9.1f} s in all"
    if compared := [(result.seconds, result.souffle) for result in results if result.souffle is not None]:
        ours, theirs = (sum(side) for side in zip(*compared, strict=True))
        yield f"{ours:9.1f} s for the {len(compared)} tests that Soufflé's interpreter takes {theirs:.1f} s for"


def _counts(results: list[Result]) -> Iterator[str]:
    passed = Counter((result.test.category, result.test.kind) for result in results if not result.verdict.cause)
    there = Counter((result.test.category, result.test.kind) for result in results)
    kinds = [kind for kind in KINDS if any(one == kind for _, one in there)]
    yield " " * 12 + "".join(f"{kind:>12}" for kind in kinds)
    for category in dict.fromkeys(category for category, _ in there):
        cells = (f"{passed[category, kind]}/{there[category, kind]}" if there[category, kind] else "" for kind in kinds)
        yield f"{category:12}" + "".join(f"{cell:>12}" for cell in cells)
    sums = (
        (sum(n for (_, one), n in passed.items() if one == kind), sum(n for (_, one), n in there.items() if one == kind)) for kind in kinds
    )
    yield f"{'all':12}" + "".join(f"{f'{good}/{all_}':>12}" for good, all_ in sums)


def _causes(results: list[Result]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in results:
        if result.verdict.cause:
            groups[result.verdict.cause, result.verdict.reason].append(result.test.name)
    for cause in CAUSES:
        named = sorted(((reason, names) for (one, reason), names in groups.items() if one == cause), key=lambda group: -len(group[1]))
        if named:
            yield ""
            yield f"{cause}: {sum(len(names) for _, names in named)}"
        for reason, names in named:
            yield f"{len(names):5}  {reason}"
            yield f"         {' '.join(sorted(names))}"
