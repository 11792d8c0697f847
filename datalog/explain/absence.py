"""What is missing for a fact to hold, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Condition:
    """One literal of a rule: with the values of the binding at hand, and as it is written in the program."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """How far one rule gets towards the fact.

    `satisfied` is the longest part of the body that can be satisfied, in the order of the text but for literals that wait for
    their variables; `failed` is the first literal after it that then fails under every binding, and `reason` says how. Both are
    shown for one binding, which is `binding` (names of the program and their values as written); `ways` is how many bindings
    get as far (None: too many to count). `failed` is None where the head does not fit the fact. `alternative` counts the rules that
    a rule with disjunctions stands for, as "2 of 3".
    """

    rule: str
    place: str
    satisfied: tuple[Condition, ...]
    failed: Condition | None
    reason: str
    binding: dict[str, str]
    ways: int | None
    alternative: str = ""

    def lines(self) -> Iterator[str]:
        """The attempt as a tree of one level."""
        place = f"{self.place}, alternative {self.alternative}" if self.alternative else self.place
        yield f"{self.rule}  ({place})"
        for condition in self.satisfied:
            yield f"├─ ✓ {condition.text}" + ("" if condition.text == condition.source else f"  {condition.source}")
        if self.failed is None:
            yield f"└─ ✗ {self.reason}"
            return
        yield f"└─ ✗ {self.failed.text}  {self.reason}"
        if self.satisfied and self.ways != 1:
            many = "too many bindings to count get" if self.ways is None else f"{self.ways} bindings get"
            shown = ", ".join(f"{name} = {value}" for name, value in self.binding.items())
            yield f"   {many} this far; shown is {shown}"


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a fact does not hold: `given` says that it is not among the given facts, where the predicate has some; `nearby` are
    given facts that differ from it in one column; `attempts` holds what each rule for its predicate lacks."""

    fact: str
    given: str
    nearby: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries and lists, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        blocks = [f"{self.fact} does not hold" + (f": {self.given}" if self.given else "")]
        if self.nearby:
            blocks[0] += f"\nnearby: {', '.join(self.nearby)}"
        return "\n\n".join([*blocks, *("\n".join(attempt.lines()) for attempt in self.attempts)])
