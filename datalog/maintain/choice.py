"""`auto`: which way of maintenance is the cheaper one? By work counted in iterator steps, not by the clock.

A stratum is maintained in small steps with a budget, a share of what its evaluation costs; when the budget is spent it is
evaluated anew, so an update costs at most 1 + SHARE evaluations' work. Where most of the last transactions say that the budget would
not do, no attempt is made; each time this happens their word counts for less.

A rule of a recursion-free stratum begins with delta plans, which need no records. Records cost an evaluation and memory,
so they are built when the delta plans have wasted PATIENCE evaluations on steps that changed nothing, and kept only if
they prove to be better: the rule of a skier who rents until the rent has come to the price.
"""

from __future__ import annotations

from collections import deque
from statistics import median

from datalog.evaluate.join import Budget
from datalog.store.tally import Tally

SHARE = 0.25  # of an evaluation's work
SCATTERED = 0.5  # of that share where the stratum is recursive: its small steps are scattered, and take two to three times the time
MOST_LOST = 0.25  # of the rows that a stratum reads; where more go, what is left is evaluated anew
FLOOR = 5_000  # what is always allowed: about half a millisecond
REMEMBERED = 5  # transactions whose work a changed row is kept
FORGETTING = 0.5  # what is left of those rates each time that they forbid an attempt
REVIEW = 64  # transactions after which sizes are looked at again

PATIENCE = 2.0
FEW = 64  # changed rows; each names regions of its own, so of more the delta plans are not blamed
FAIR = 32  # steps for a changed row, in or out, that are no waste
TRIAL = 32  # transactions after which records must be better
BETTER = 0.5  # times the steps of delta plans


class Choice:
    """What a stratum's evaluation and its transactions have cost; `active` is False where a way is forced."""

    def __init__(self, tally: Tally, active: bool, recursive: bool = False) -> None:
        self.active = active
        self._tally, self._part = tally, SCATTERED if recursive else 1.0
        self.budget = Budget(tally, 0) if active else None
        self._rates: deque[float] = deque(maxlen=REMEMBERED)  # work a changed row
        self._evaluation = 0
        self._size = 0
        self._seen = 0

    def evaluated(self, cost: int) -> None:
        """An evaluation from scratch did so much work."""
        self._evaluation = cost

    @property
    def wants_size(self) -> bool:
        """Is it time to say how many rows the stratum reads and holds? An evaluation takes about that many steps at least."""
        return self.active and self._seen % REVIEW == 0

    def resize(self, rows: int) -> None:
        self._size = rows

    def anew(self, changed: int, lost: float) -> bool:
        """Should a change of `changed` rows be met by evaluation from scratch? Sets the budget for the attempt.

        `lost` is the share of the rows read that go: what is left is evaluated in about (1 - lost)² of the time.
        """
        if self.budget is None:
            return False
        self._seen += 1
        if lost > MOST_LOST:
            return True
        allowed = int(SHARE * self._part * max(self._evaluation, self._size) * (1 - lost) ** 2) + FLOOR
        self.budget.limit = self._tally.cost + allowed
        if max(self._rates, default=0.0) * changed <= allowed or median(self._rates) * changed <= allowed:
            return False
        self._rates = deque((rate * FORGETTING for rate in self._rates), REMEMBERED)
        return True

    def maintained(self, changed: int, cost: int) -> None:
        """A change of so many rows took so much work, or was given up after it."""
        self._rates.append(cost / max(changed, 1))

    def forget(self) -> None:
        """The stratum is maintained in another way from now on."""
        self._rates.clear()


class RecordsChoice:
    """Should one rule be maintained by records? `active` is False where a way is forced."""

    def __init__(self, active: bool) -> None:
        self._active = active
        self._wasted = 0
        self._derived = [0, 0]  # steps, changed rows
        self._recorded = [0, 0]
        self._trials = 0

    def derived(self, rows_in: int, rows_out: int, steps: int, evaluation: int) -> bool:
        """Delta plans took so many steps for a change; should records be built now? `evaluation`: steps of a full one."""
        if not self._active or rows_in > FEW:
            return False
        self._derived[0] += steps
        self._derived[1] += rows_in
        self._wasted += max(0, steps - FAIR * (rows_in + rows_out))
        return self._wasted > PATIENCE * max(evaluation, FLOOR)

    def recorded(self, rows_in: int, steps: int) -> bool:
        """Records took so many steps; should they be given up? If so, for good."""
        if not self._active:
            return False
        self._recorded[0] += steps
        self._recorded[1] += rows_in
        self._trials += 1
        if self._trials != TRIAL:
            return False
        better = self._recorded[0] * self._derived[1] < BETTER * self._derived[0] * self._recorded[1]
        self._active = better
        return not better
