"""Transactions, as the files of the workloads hold them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

Row = tuple[int | str, ...]
CHECKPOINTS = (4, 20, 200, 1_000, 5_000, 20_000, 100_000)
"""After how many transactions the answer is known, and so where an engine may stop; the last one is another such place."""


class Change(NamedTuple):
    """A row that comes (1) or goes (-1)."""

    sign: int
    name: str
    row: Row


def write_changes(place: Path, transactions: Sequence[Sequence[Change]]) -> None:
    """Write a folder's transactions."""
    with (place / "changes").open("w", encoding="utf-8") as file:
        for number, changes in enumerate(transactions):
            for sign, name, row in changes:
                file.write("\t".join((str(number), str(sign), name, *map(str, row))) + "\n")


def read_changes(place: Path, only_inserts: bool = False) -> list[list[Change]]:
    """A folder's transactions; with `only_inserts` those that take nothing away, as if there were no others."""
    transactions: list[list[Change]] = []
    for line in (place / "changes").read_text(encoding="utf-8").splitlines():
        number, sign, name, *row = line.split("\t")
        if int(number) == len(transactions):
            transactions.append([])
        transactions[-1].append(Change(int(sign), name, tuple(map(_value, row))))
    return [changes for changes in transactions if not only_inserts or all(change.sign > 0 for change in changes)]


def read_rows(path: Path, delimiter: str = "\t") -> list[Row]:
    """The rows of a file of numbers."""
    return [tuple(map(int, line.split(delimiter))) for line in path.read_text(encoding="utf-8").splitlines()]


def _value(text: str) -> int | str:
    return int(text) if text.isdigit() else text
