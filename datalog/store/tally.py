"""The work that one engine has done, in iterator steps: what tests measure and what `auto` decides by."""

from __future__ import annotations

from dataclasses import dataclass

# In steps, measured: a step takes some 0.1 µs.
A_CALL = 400  # a call of the join kernel, beside its steps
A_PREFIX = 2  # a prefix that it completes
A_BINDING = 2  # a row that it gives, which is then sorted
A_CHANGE = 8  # a row that is inserted into one tree or deleted from it
A_MERGE = 2  # the same in a batch of at least a quarter of the tree's rows
A_BUILD = 1  # a row of a tree that is built in bulk
A_PAGE = 3  # a page of a tree that a fold looks into


@dataclass(slots=True)
class Tally:
    """`steps`: iterator operations of all joins so far, and pages that folds have looked into.

    `cost`: all work so far, in the time of steps.
    """

    steps: int = 0
    cost: int = 0
