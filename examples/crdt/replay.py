"""Replay `session.txn` on the document of `facts/`, transaction by transaction, and print what each did to the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datalog

HERE = Path(__file__).parent
OPERATION = re.compile(r"\+(\w+)\(([^)]*)\)\.")
ORIGIN = (0, 0)


def transactions(text: str) -> Iterator[dict[str, list[tuple[int, ...]]]]:
    """The rows that each transaction inserts, by predicate."""
    for block in text.split("commit.\n")[:-1]:
        rows: dict[str, list[tuple[int, ...]]] = {}
        for name, numbers in OPERATION.findall(block):
            rows.setdefault(name, []).append(tuple(map(int, numbers.split(","))))
        yield rows


def document(db: datalog.Database) -> list[tuple[int, int]]:
    """The visible characters in the order of the text: `next_visible`, followed from the origin."""
    following: dict[Any, Any] = {row[:2]: row[2:] for row in db["next_visible"]}
    characters = []
    place = following.get(ORIGIN)
    while place is not None:
        characters.append(place)
        place = following.get(place)
    return characters


def main() -> None:
    db = datalog.Database(HERE / "editor.dl", facts=HERE / "facts")
    print(f"{len(document(db)):4} characters at the beginning")
    for rows in transactions((HERE / "session.txn").read_text()):
        with db.transaction() as tx:
            for name, operations in rows.items():
                tx.insert(name, operations)
        done = ", ".join(f"{name} {len(operations)}" for name, operations in rows.items())
        order = tx.changes["next_visible"]
        print(f"{len(document(db)):4} characters after {done}: next_visible +{len(order.inserted)} -{len(order.deleted)}")


if __name__ == "__main__":
    main()
