"""What is evaluated on demand only, as asked for, and the versions of predicates that come of it (`datalog.rewrite.demand`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

EVERYTHING = "*"
DEMAND = "@demand"  # ends the name of the predicate that holds what is asked of a version
ALWAYS = "if"  # the adornment of a predicate without columns


@dataclass(frozen=True, slots=True)
class Demand:
    """Which predicates are to be evaluated on demand: the names `asked`, or with "*" all of them, but not those `excluded`.

    With `outputs_only`, what no `.output` and no `.printsize` needs is neither read nor evaluated, if the program has any of these.
    """

    asked: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    outputs_only: bool = False

    def of(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that are to be on demand."""
        everything = EVERYTHING in self.asked
        return frozenset(name for name in names if (everything or name in self.asked) and name not in self.excluded)

    def joined(self, other: Demand) -> Demand:
        """Both together; what one of them excludes is excluded."""
        return Demand(self.asked | other.asked, self.excluded | other.excluded, self.outputs_only or other.outputs_only)


@dataclass(frozen=True, slots=True)
class Version:
    """The rows of `predicate` that have values asked for in the columns where `bound` says so: `path@bf` is asked by first columns."""

    name: str
    predicate: str
    bound: tuple[bool, ...]

    @property
    def demand(self) -> str:
        """The predicate that holds what is asked: the values of the bound columns."""
        return f"{self.name}{DEMAND}"

    @property
    def columns(self) -> tuple[int, ...]:
        """The bound columns."""
        return tuple(column for column, bound in enumerate(self.bound) if bound)


def version_of(predicate: str, bound: tuple[bool, ...], prefix: str = "") -> Version:
    """The version of a predicate that is asked by the columns `bound`."""
    adornment = "".join("b" if one else "f" for one in bound) or ALWAYS
    return Version(f"{prefix}{predicate}@{adornment}", predicate, bound)


def without_adornment(name: str) -> str:
    """The name of the predicate that a version is of; any other name as it is."""
    start, at, adornment = name.rpartition("@")
    return start if at and (adornment == ALWAYS or not adornment.strip("bf")) else name


def names_of(listed: str | Iterable[str]) -> frozenset[str]:
    """The names in a text, with commas between them, or in a collection."""
    names = listed.split(",") if isinstance(listed, str) else listed
    return frozenset(name.strip() for name in names if name.strip())
