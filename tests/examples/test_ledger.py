"""The ledger: running totals, best sellers and stock equal what plain dictionaries give, after each of many random changes."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import datalog
from tests.examples.conftest import EXAMPLES

HERE = EXAMPLES / "ledger"
FIRST_DAY = date(2024, 1, 1)
ITEMS = ("mug", "pan", "soap", "towel")

Key = tuple[Any, ...]


class Books:
    """The facts as dictionaries, and what the example derives, computed from them."""

    def __init__(self, db: datalog.Database) -> None:
        self.facts: dict[str, dict[Key, Any]] = {
            name: {row[:-1]: row[-1] for row in db[name]} for name in ("category", "price", "receipt", "sold", "returned", "delivered")
        }

    def lines(self) -> dict[Key, Decimal]:
        found = {}
        for (receipt, item), pieces in self.facts["sold"].items():
            day = self.facts["receipt"].get((receipt,))
            prices = {since: amount for (other, since), amount in self.facts["price"].items() if other == item and day and since <= day}
            if prices:
                kept = pieces - self.facts["returned"].get((receipt, item), 0)
                found[receipt, item] = kept * prices[max(prices)]
        return found

    def running(self) -> set[Key]:
        takings: dict[date, Decimal] = defaultdict(Decimal)
        for (receipt, _), amount in self.lines().items():
            takings[self.facts["receipt"][receipt,]] += amount
        return {(day, sum(amount for other, amount in takings.items() if other <= day)) for day in takings}

    def best(self) -> set[Key]:
        earned: dict[str, Decimal] = defaultdict(Decimal)
        for (_, item), amount in self.lines().items():
            earned[item] += amount
        found: dict[str, tuple[Decimal, str]] = {}
        for (item,), category in sorted(self.facts["category"].items()):
            if item in earned and (category not in found or earned[item] > found[category][0]):
                found[category] = earned[item], item
        return {(category, item) for category, (_, item) in found.items()}

    def stock(self) -> dict[str, int]:
        pieces = {item: 0 for (item,) in self.facts["category"]}
        for name, sign in (("delivered", 1), ("sold", -1), ("returned", 1)):
            for (_, item), number in self.facts[name].items():
                if item in pieces:
                    pieces[item] += sign * number
        return pieces

    def agree(self, db: datalog.Database) -> None:
        assert set(db["running"]) == self.running()
        assert set(db["best"]) == self.best()
        assert set(db["stock"]) == set(self.stock().items())
        gone = {item for item, pieces in self.stock().items() if pieces <= 0}
        assert set(db["sold_out"]) == {(item, self.facts["category"][item,]) for item in gone}


def a_change(chance: random.Random, books: Books) -> tuple[str, Key, Any]:
    """A key of a random predicate and the value that it gets; None: it goes."""
    name = chance.choice(list(books.facts))
    item = chance.choice(ITEMS)
    day = FIRST_DAY + timedelta(chance.randrange(6))
    value: Any
    if name == "category":
        key, value = (item,), chance.choice(("bath", "kitchen"))
    elif name == "price":
        key, value = (item, day), Decimal(chance.randrange(-200, 3000)).scaleb(-2)
    elif name == "receipt":
        key, value = (chance.randrange(8),), day
    else:
        key, value = (chance.randrange(8), item), chance.randrange(-1, 9)
    return name, key, None if chance.random() < 0.3 else value


def test_the_ledger_follows_random_changes() -> None:
    chance = random.Random(5)
    db = datalog.Database(HERE / "ledger.dl", facts=HERE / "facts")
    books = Books(db)
    books.agree(db)
    for _ in range(60):
        changes = [a_change(chance, books) for _ in range(chance.randrange(1, 4))]
        with db.transaction() as tx:
            for name, key, value in changes:
                if value is None:
                    tx.delete_keys(name, [key])
                    books.facts[name].pop(key, None)
                else:
                    tx.upsert(name, [(*key, value)])
                    books.facts[name][key] = value
        books.agree(db)
    db.check()


def test_a_second_value_is_refused_and_changes_nothing() -> None:
    db = datalog.Database(HERE / "ledger.dl", facts=HERE / "facts")
    books = Books(db)
    try:
        with db.transaction() as tx:
            tx.insert("sold", [(9, "mug", 1)])
            tx.insert("receipt", [(1, date(2024, 5, 1))])
    except datalog.DatalogError as error:
        assert "receipt[1] has two values" in str(error)
    else:
        raise AssertionError("receipt 1 has two days")
    books.agree(db)
