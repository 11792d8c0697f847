"""Reading a B-tree: the first row that is not less than a prefix."""

from __future__ import annotations

from datalog.kernels.jit import INT, NOTHING, READ1, READ2, WRITE2, WRITE_FLAGS, Flags, Words, device, kernel
from datalog.kernels.layout import CHILD, COUNT, HEADER, INNER_CAP, LEAF_CAP, LEVEL, WIDTH
from datalog.kernels.pages import first_not_less


@device
def first_leaf(pages: Words, child_base: int, page: int) -> int:
    """The leaf that holds the least row below a page."""
    while pages[page, LEVEL] > 0:
        page = pages[page, child_base]
    return page


@kernel(NOTHING(READ2, READ1, INT, READ2, WRITE2, WRITE_FLAGS))
def seek_rows(pages: Words, shape: Words, root: int, prefixes: Words, rows: Words, found: Flags) -> None:
    """For each prefix the first row of a non-empty tree that does not begin with less; not found where all rows do."""
    width = shape[WIDTH]
    length = prefixes.shape[1]
    child_base = HEADER + (width + CHILD) * shape[INNER_CAP]
    for row in range(prefixes.shape[0]):
        page = root
        after = -1  # the page whose least row follows the greatest row below `page`
        while pages[page, LEVEL] > 0:
            # Separators are least rows: rows that are less than the prefix, and then others, stand in the child before `place`.
            place = first_not_less(pages, page, shape[INNER_CAP], prefixes, row, length)
            if place < pages[page, COUNT]:
                after = pages[page, child_base + place]
            page = pages[page, child_base + max(place - 1, 0)]
        place = first_not_less(pages, page, shape[LEAF_CAP], prefixes, row, length)
        if place == pages[page, COUNT] and after >= 0:
            page = first_leaf(pages, child_base, after)
            place = 0
        found[row] = place < pages[page, COUNT]
        if found[row]:
            for column in range(width):
                rows[row, column] = pages[page, HEADER + column * shape[LEAF_CAP] + place]
