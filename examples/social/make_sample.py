"""Cut the sample in `facts/` from the whole graph: python make_sample.py facebook.tsv [TARGET_DIR].

The sample is the circle of one person: that person, their friends, and every friendship among all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

PERSON = 698


def cut(graph: Path) -> list[tuple[int, int]]:
    """The friendships within the circle, in the order of the file."""
    edges = [(int(a), int(b)) for a, b in (line.split("\t") for line in graph.read_text().splitlines())]
    circle = {PERSON} | {a + b - PERSON for a, b in edges if PERSON in (a, b)}
    return [(a, b) for a, b in edges if a in circle and b in circle]


def write(edges: list[tuple[int, int]], target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    (target / "facebook.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in edges))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(cut(Path(sys.argv[1])), Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).parent / "facts")
