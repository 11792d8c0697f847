"""`auto`: maintain a stratum in small steps, or evaluate it anew? By iterator steps, which do not depend on the machine.

A stratum is maintained with a budget, a share of what its evaluation costs; when the budget is spent it is evaluated
anew, so an update costs at most 1 + SHARE evaluations. Where past transactions say that the budget would not do, no
attempt is made.
"""

from __future__ import annotations

from datalog.evaluate.join import Budget

SHARE = 0.3
FLOOR = 20_000  # steps that are always allowed: about a millisecond
MEMORY = 0.7  # how much of the old rate of steps a changed row stays in the running rate


class Choice:
    """What a stratum's evaluation and its transactions have cost; `active` is False where a way is forced."""

    def __init__(self, active: bool) -> None:
        self.active = active
        self.budget: Budget | None = None
        self.rate = 0.0  # steps a changed row
        self._evaluation = 0

    def evaluated(self, steps: int) -> None:
        """An evaluation from scratch took so many steps."""
        self._evaluation = steps

    def anew(self, changed: int, size: int) -> bool:
        """Should a change of `changed` rows be met by evaluation from scratch? `size`: rows that the stratum reads and holds.

        Sets the budget for the attempt.
        """
        if not self.active:
            return False
        allowed = int(SHARE * max(self._evaluation, size)) + FLOOR
        self.budget = Budget(allowed)
        return self.rate * changed > allowed

    def maintained(self, changed: int, steps: int) -> None:
        """A change of so many rows took so many steps, or was given up after them."""
        rate = steps / max(changed, 1)
        self.rate = rate if self.rate == 0.0 else MEMORY * self.rate + (1 - MEMORY) * rate
