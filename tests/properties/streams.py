"""Random streams of transactions on a drawn program: changes of all kinds, and what a stream does to the facts."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Literal

from hypothesis import strategies as st

from tests.oracle.rules import Row
from tests.properties.bodies import Chooser
from tests.properties.programs import Drawn, random_row

Kind = Literal["insert", "delete", "upsert"]
Change = tuple[Kind, str, Row]
Transaction = tuple[Change, ...]
Facts = dict[str, set[Row]]


@st.composite
def streams(draw: Any, drawn: Drawn) -> list[Transaction]:
    """One to six transactions on `drawn`: changes of all kinds, empty ones, deletions of everything, undoing of earlier ones."""
    choose = Chooser(draw)
    history: list[Facts] = [{name: set(rows) for name, rows in drawn.facts.items()}]
    stream: list[Transaction] = []
    for _ in range(choose.number(1, 6)):
        kind = choose.pick(("changes",) * 7 + ("undo", "undo", "clear", "repeat", "empty"))
        transaction: Transaction = ()
        match kind:
            case "changes":
                transaction = _changes(choose, drawn, history[-1])
            case "undo":
                transaction = difference(history[-1], choose.pick(history[:-1] or history))
            case "clear":
                cleared = choose.pick([None, *sorted(drawn.domains)])
                transaction = tuple(
                    ("delete", name, row) for name, rows in history[-1].items() if cleared in (None, name) for row in sorted(rows)
                )
            case "repeat" if stream:
                transaction = choose.pick(stream)
        stream.append(transaction)
        changed = after(history[-1], transaction)
        history.append(history[-1] if conflicts(changed, drawn.program.functional) else changed)
    return stream


def _changes(choose: Chooser, drawn: Drawn, present: Facts) -> Transaction:
    changes: list[Change] = []
    names = list(drawn.domains)
    rich = bool(drawn.program.functional)
    while len(changes) < 8 and (not changes or choose.chance(75)):
        name = choose.pick(names)
        rows = sorted(present[name])
        functional = name in drawn.program.functional
        kinds = ("insert",) * 4 + ("delete",) * 3 + ("any", "again", "opposite")
        match choose.pick(kinds + ("extreme", "extreme", "empty", "refill") * rich + ("upsert",) * (6 if functional else 0)):
            case "insert":
                changes += _insertion(choose, drawn, name, rows)
            case "upsert":
                changes.append(("upsert", name, _near(choose, drawn, name, rows)))
            case "delete" if rows:
                changes.append(("delete", name, choose.pick(rows)))
            case "extreme" if rows:  # the minimum or the maximum of a group
                group = _group(choose, rows)
                changes.append(("delete", name, choose.pick((min, max))(group, key=lambda row: row[-1:])))
            case "empty" if rows:
                changes += [("delete", name, row) for row in _group(choose, rows)]
            case "refill" if not functional:
                first = random_row(choose, drawn.domains[name])[:1]
                changes += [("insert", name, (*first, *random_row(choose, drawn.domains[name])[1:])) for _ in range(3)]
            case "again" if changes:
                changes.append(changes[-1])
            case "opposite" if changes:
                kind, name, row = choose.pick(changes)
                changes.append(("insert" if kind == "delete" else "delete", name, row))
            case "any" if not functional:
                changes.append(("insert" if choose.chance(30) else "delete", name, random_row(choose, drawn.domains[name])))
            case _:
                changes.append(("delete", name, random_row(choose, drawn.domains[name])))
    return tuple(changes)


def _insertion(choose: Chooser, drawn: Drawn, name: str, rows: list[Row]) -> list[Change]:
    """A row; of a functional predicate mostly one with a new key, or with the old value gone, or else a violation."""
    row = random_row(choose, drawn.domains[name])
    if name not in drawn.program.functional:
        return [("insert", name, row)]
    old = [other for other in rows if other[:-1] == row[:-1] and other != row]
    if not old or choose.chance(15):
        return [("insert", name, row)]
    if choose.chance(50):
        return [("delete", name, old[0]), ("insert", name, row)]
    return [("upsert", name, row)]


def _near(choose: Chooser, drawn: Drawn, name: str, rows: list[Row]) -> Row:
    """A row whose key is mostly one that there is."""
    row = random_row(choose, drawn.domains[name])
    return (*choose.pick(rows)[:-1], row[-1]) if rows and choose.chance(75) else row


def _group(choose: Chooser, rows: list[Row]) -> list[Row]:
    """The rows that agree with one of them in some column before the last, all if there is none."""
    chosen = choose.pick(rows)
    if len(chosen) < 2:
        return rows
    column = choose.number(0, len(chosen) - 2)
    return [row for row in rows if row[column] == chosen[column]]


def after(facts: Mapping[str, Set[Row]], transaction: Transaction) -> Facts:
    """The given facts after `transaction`: the last word on a row wins, and an upsert is one on all rows with its key."""
    result = {name: set(rows) for name, rows in facts.items()}
    for kind, name, row in transaction:
        if kind == "upsert":
            result[name] = {other for other in result[name] if other[:-1] != row[:-1]}
        (result[name].discard if kind == "delete" else result[name].add)(row)
    return result


def difference(old: Mapping[str, Set[Row]], new: Mapping[str, Set[Row]]) -> Transaction:
    """The transaction that turns `old` into `new`."""
    gone: list[Change] = [("delete", name, row) for name in old for row in sorted(old[name] - new[name])]
    return (*gone, *(("insert", name, row) for name in old for row in sorted(new[name] - old[name])))


def conflicts(facts: Mapping[str, Set[Row]], functional: Set[str]) -> bool:
    """Whether a key has two values."""
    return any(len({row[:-1] for row in rows}) < len(rows) for name, rows in facts.items() if name in functional)
