"""Unknown types: sets of types that narrow as uses are merged, by union-find."""

from __future__ import annotations

from datalog.ir.core import Type
from datalog.ir.primitives import ANY, Allowed


class Cell:
    """One unknown type. `reason` says which use decided it, for messages. `doubts` are the rules (by number) in which a mistake
    about it has been told, so that what follows from it there is not told again."""

    __slots__ = ("_allowed", "_doubts", "_parent", "_reason")

    def __init__(self, allowed: Allowed = ANY, reason: str = "", doubts: frozenset[int] = frozenset()) -> None:
        self._parent: Cell | None = None
        self._allowed = allowed
        self._reason = reason
        self._doubts = doubts

    def _root(self) -> Cell:
        root = self
        while root._parent is not None:
            root = root._parent
        while self is not root:
            assert self._parent is not None
            self._parent, self = root, self._parent
        return root

    @property
    def allowed(self) -> Allowed:
        return self._root()._allowed

    @property
    def reason(self) -> str:
        return self._root()._reason

    @property
    def doubts(self) -> frozenset[int]:
        return self._root()._doubts

    def doubt(self, rule: int) -> None:
        """A mistake about this type has been told in that rule."""
        self._root()._doubts |= {rule}

    @property
    def type(self) -> Type:
        """The type, decided by default where the uses left it open."""
        return default_type(self.allowed)

    def merge(self, other: Cell) -> bool:
        """Make both cells one; False, and no change, if no type would be left."""
        mine, theirs = self._root(), other._root()
        if mine is theirs:
            return True
        common = mine._allowed & theirs._allowed
        if not common:
            return False
        if len(theirs._allowed) < len(mine._allowed):
            mine._reason = theirs._reason
        mine._allowed = common
        mine._doubts |= theirs._doubts
        theirs._parent = mine
        return True


def default_type(allowed: Allowed) -> Type:
    """The first of number, unsigned, float, symbol, bool, date, datetime and the decimals in `allowed`, or else of the program's own."""
    found = next((type_ for type_ in Type.ALL if type_ in allowed), None)
    return found if found is not None else min(allowed, key=lambda type_: type_.value)
