"""Cut `facts/` and `session.txn` from the whole editing history: python make_extract.py CRDT_DIR [TARGET_DIR].

`facts/` holds the first TYPED insertions, each right behind the one before it, and the removals that fell between them;
`session.txn` holds what happened next, up to LAST insertions: one transaction for each run of typing and each run of removing.

The history tells the order of the insertions and the order of the removals, but not how the two interleave. The session
lets each removal happen as soon as its character is there and the removals before it have happened.
"""

from __future__ import annotations

import sys
from pathlib import Path

TYPED = 479
LAST = 700

Operation = tuple[int, ...]  # an insertion has four numbers, a removal two


def read(path: Path) -> list[Operation]:
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]


def history(inserts: list[Operation], removes: list[Operation]) -> list[Operation]:
    """All operations, interleaved. A removal of a character that the insertions do not make ends the removals."""
    operations: list[Operation] = []
    made: set[Operation] = set()
    pending = 0
    for insert in inserts:
        operations.append(insert)
        made.add(insert[:2])
        while pending < len(removes) and removes[pending] in made:
            operations.append(removes[pending])
            pending += 1
    return operations


def runs(operations: list[Operation]) -> list[list[Operation]]:
    """Cut where typing turns to removing or back, and where typing goes on somewhere else."""
    found: list[list[Operation]] = []
    for operation in operations:
        previous = found[-1][-1] if found else ()
        goes_on = len(operation) == len(previous) and (len(operation) == 2 or operation[2:] == previous[:2])
        if goes_on:
            found[-1].append(operation)
        else:
            found.append([operation])
    return found


def as_text(run: list[Operation]) -> str:
    """A run as a transaction: a line for each operation, then the commit."""
    predicates = {4: "insert", 2: "remove"}
    return "".join(f"+{predicates[len(operation)]}({', '.join(map(str, operation))}).\n" for operation in run) + "commit.\n"


def write(source: Path, target: Path) -> None:
    operations = history(read(source / "insert.txt")[:LAST], read(source / "remove.txt"))
    beginning = operations.index(read(source / "insert.txt")[TYPED])
    (target / "facts").mkdir(parents=True, exist_ok=True)
    for name, numbers in (("insert", 4), ("remove", 2)):
        rows = [operation for operation in operations[:beginning] if len(operation) == numbers]
        (target / "facts" / f"{name}.txt").write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    (target / "session.txn").write_text("".join(as_text(run) for run in runs(operations[beginning:])))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).parent)
