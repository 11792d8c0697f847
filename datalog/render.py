"""Relations, query answers and sizes as tables for people.

Where standard output is no terminal the table is plain text, the same on every run and never cut. On a terminal Rich
draws it, and a long one is cut at `SHOWN_ROWS` with a line that says so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO
from unicodedata import combining, east_asian_width

from datalog.ir.core import Predicate, PyValue, Type
from datalog.ir.spelling import spell_value
from datalog.ir.structures import Structure

if TYPE_CHECKING:
    from datalog.ir.core import Row
    from datalog.relation import Relation

SHOWN_ROWS = 100
GAP = "  "


def print_relation(relation: Relation, predicate: Predicate, out: TextIO | None = None) -> None:
    """The relation's rows below its caption `NAME (n rows)`."""
    out = sys.stdout if out is None else out
    size = len(relation)
    right = [stands_right(type) for type in predicate.types]
    rows = relation.first(SHOWN_ROWS) if out.isatty() else relation
    print_table(f"{relation.name} ({counted(size, 'row')})", relation.columns, right, rows, size, out, "use -D to write all")


def print_table(
    caption: str, columns: Sequence[str], right: Sequence[bool], rows: Iterable[Row], size: int, out: TextIO, advice: str = ""
) -> None:
    """`rows` may be the first of `size` only where `out` is a terminal; `advice` says how to see the rest."""
    if out.isatty():
        draw_table(caption, columns, right, rows, size, out, advice)
    else:
        out.writelines(f"{line}\n" for line in plain_table(caption, columns, right, rows))


def plain_table(caption: str, columns: Sequence[str], right: Sequence[bool], rows: Iterable[Row]) -> Iterator[str]:
    """Caption, header, a rule below it and the rows, aligned by spaces, with no blanks at a line's end.

    >>> list(plain_table("edge (2 rows)", ("from", "to"), (True, True), [(1, 2), (10, 3)]))
    ['edge (2 rows)', 'from  to', '----  --', '   1   2', '  10   3']
    """
    yield caption
    cells = [tuple(map(cell, row)) for row in rows]
    if not columns:
        yield from ("()" for _ in cells)
        return
    if not cells:
        return
    widths = [max(map(width_of, column)) for column in zip(columns, *cells, strict=True)]
    yield line_of(columns, widths, right)
    yield GAP.join("-" * width for width in widths)
    for row in cells:
        yield line_of(row, widths, right)


def line_of(cells: Iterable[str], widths: Iterable[int], right: Iterable[bool]) -> str:
    parts = []
    for text, width, to_right in zip(cells, widths, right, strict=False):
        blank = " " * (width - width_of(text))
        parts.append(blank + text if to_right else text + blank)
    return GAP.join(parts).rstrip()


def stands_right(type: Type) -> bool:
    """Whether columns of `type` are aligned at their right end: those of quantities are."""
    return type not in (Type.SYMBOL, Type.BOOL, Type.DATE, Type.DATETIME) and not isinstance(type, Structure)


def cell(value: PyValue) -> str:
    """A value on one line, as `to_string` gives it: what cannot be printed in a symbol stands as its escape."""
    text = spell_value(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def draw_table(
    caption: str, columns: Sequence[str], right: Sequence[bool], rows: Iterable[Row], size: int, out: TextIO, advice: str
) -> None:
    from itertools import islice

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=out, highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, to_right in zip(columns or ("",), right, strict=False):
        table.add_column(Text(name), justify="right" if to_right else "left", overflow="fold")
    for row in islice(rows, SHOWN_ROWS):
        table.add_row(*(Text(cell(value)) for value in row or ("()",)))
    console.print(Text(caption, style="bold"))
    if size:
        console.print(table)
    if size > SHOWN_ROWS:
        console.print(Text(f"… {size - SHOWN_ROWS} more rows" + (f" ({advice})" if advice else ""), style="dim"))
