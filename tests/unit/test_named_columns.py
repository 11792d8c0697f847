"""Tables that carry names, and dictionaries: names that are the predicate's decide, others do not, and a mixture is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datalog import Database, DataError
from datalog.ir.core import PyValue

PROGRAM = """\
.decl sale(id: number, customer: number)
.decl price(item: symbol, day: date) = cost: decimal(2)
plain(1, 2).
"""
DAY = date(2024, 5, 1)


@pytest.fixture
def db() -> Database:
    return Database(PROGRAM)


def inserted(db: Database, name: str, rows: Any, how: str = "insert") -> list[tuple[PyValue, ...]]:
    with db.transaction() as tx:
        getattr(tx, how)(name, rows)
    return tx.changes[name].inserted


def refused(db: Database, name: str, rows: Any, how: str = "insert") -> str:
    with pytest.raises(DataError) as caught, db.transaction() as tx:
        getattr(tx, how)(name, rows)
    return f"{caught.value.message}|{caught.value.hint}"


@pytest.mark.parametrize("names", [("customer", "id"), ("Customer", "ID")])
def test_columns_go_by_name_in_any_order(db: Database, names: tuple[str, str]) -> None:
    assert inserted(db, "sale", pa.table({names[0]: [7], names[1]: [1]})) == [(1, 7)]


def test_columns_go_by_position_where_no_name_is_the_predicates(db: Database) -> None:
    assert inserted(db, "sale", pa.table({"a": [7], "b": [1]})) == [(7, 1)]
    assert inserted(db, "sale", np.array([[8, 9]])) == [(8, 9)]


def test_columns_of_an_undeclared_predicate_go_by_position_unless_they_are_its_own(db: Database) -> None:
    assert inserted(db, "plain", pa.table({"c1": [5], "other": [6]})) == [(5, 6)]
    swapped = db["plain"].to_arrow().select(["c2", "c1"]).slice(1)
    with db.transaction() as tx:
        tx.delete("plain", swapped)
    assert tx.changes["plain"].deleted == [(5, 6)]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"cust": [7], "id": [1]}, "cust is no column of sale(id, customer)|did you mean `customer`?"),
        ({"id": [1], "x": [2], "y": [3]}, "x and y are no columns of sale(id, customer)|a table goes by its names as soon as one of them"),
        ({"id": [1]}, "there is no customer; the columns are those of sale(id, customer)|"),
    ],
)
def test_a_mixture_of_the_predicates_names_and_others_is_refused(db: Database, table: dict[str, list[int]], message: str) -> None:
    assert refused(db, "sale", pa.table(table)).startswith(message)
    assert len(db["sale"]) == 0


def test_a_name_that_comes_twice_is_refused(db: Database) -> None:
    columns = [pa.array([1]), pa.array([2]), pa.array([3])]
    assert refused(db, "sale", pa.Table.from_arrays(columns, ["id", "customer", "id"])).startswith("the column id comes twice")


def test_keys_and_values_of_functional_predicates_go_by_name(db: Database) -> None:
    assert inserted(db, "price", pa.table({"cost": [3], "item": ["tea"], "day": [DAY]})) == [("tea", DAY, 3)]
    assert inserted(db, "price", pa.table({"cost": [4], "item": ["tea"], "day": [DAY]}), "upsert") == [("tea", DAY, 4)]
    keys = pa.table({"day": [DAY], "item": ["tea"]})
    assert refused(db, "price", keys.append_column("cost", pa.array([4])), "delete_keys").startswith(
        "cost is no column of price(item, day)"
    )
    with db.transaction() as tx:
        tx.delete_keys("price", keys)
    assert tx.changes["price"].deleted == [("tea", DAY, 4)]


def test_dictionaries_are_rows_by_name_also_among_tuples(db: Database) -> None:
    assert inserted(db, "sale", [{"customer": 2, "id": 1}, (3, 4)]) == [(1, 2), (3, 4)]
    assert inserted(Database(".decl word(text: symbol)"), "word", [{"text": "a"}]) == [("a",)]
    wrong = "row 2: costumer is no column of sale(id, customer)|did you mean `customer`?"
    assert refused(db, "sale", [{"id": 1, "customer": 2}, {"id": 1, "costumer": 2}]) == wrong
    assert refused(db, "sale", [{"id": 1}]) == "row 1: there is no customer|"


def load(db: Database, folder: Path, text: str, **options: Any) -> list[tuple[PyValue, ...]]:
    (folder / "sale.csv").write_text(text)
    return db.load("sale", folder / "sale.csv", **options)["sale"].inserted


@pytest.mark.parametrize("header", ["customer,id", '"customer","id"', '"customer\n",id', "customer, id", '"Customer",ID'])
def test_a_header_says_which_column_is_which(db: Database, tmp_path: Path, header: str) -> None:
    assert load(db, tmp_path, f"{header}\n7,1\n9,2\n", headers=True) == [(1, 7), (2, 9)]


def test_a_header_of_other_names_is_passed_over(db: Database, tmp_path: Path) -> None:
    assert load(db, tmp_path, "x,y\n7,1\n", headers=True) == [(7, 1)]


def test_places_nulls_and_rejected_rows_follow_the_header(db: Database, tmp_path: Path) -> None:
    assert load(db, tmp_path, "customer,id\n7,\n", headers=True, null="", defaults={"id": -1}) == [(-1, 7)]
    with pytest.raises(DataError) as caught:
        load(db, tmp_path, "customer,id\n7,x\n", headers=True)
    assert (caught.value.line, caught.value.column, caught.value.message) == (2, 3, '"x" is no number (column id of sale)')


def test_a_header_that_mixes_names_is_refused_in_its_place(db: Database, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load(db, tmp_path, "id,cust\n1,7\n", headers=True, rejects=tmp_path / "bad.csv")
    error = caught.value
    assert (error.line, error.column, error.text, error.hint) == (1, 4, "id,cust", "did you mean `customer`?")
    assert error.message == "cust is no column of sale(id, customer)"
    assert not (tmp_path / "bad.csv").exists()


def test_an_input_directive_heeds_the_header_too(tmp_path: Path) -> None:
    (tmp_path / "sale.facts").write_text("customer\tid\n7\t1\n")
    assert list(Database(f"{PROGRAM}.input sale(headers=true)\n", facts=tmp_path)["sale"]) == [(1, 7)]


# --- what is said of values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [pa.array([1.0, None, 3.0]), np.array([1.0, np.nan, 3.0]), pa.chunked_array([[1.0], [None, 3.0]])])
def test_a_column_of_whole_numbers_with_gaps_is_blamed_for_its_first_gap(db: Database, column: Any) -> None:
    table = np.column_stack((column, [1, 2, 3])) if isinstance(column, np.ndarray) else pa.table({"id": column, "customer": [1, 2, 3]})
    expected = "row 2: a missing value is no number (column id of sale)|the column has missing values: fill or drop them"
    assert refused(db, "sale", table) == expected


def test_a_text_for_a_date_or_a_decimal_hints_at_pythons_type(db: Database) -> None:
    assert refused(db, "price", [("tea", "2024-05-01", 3)]).endswith("|texts are not read here; give a datetime.date")
    assert refused(db, "price", [("tea", DAY, "3.00")]).endswith("|texts are not read here; give a decimal.Decimal")
    table = pa.table({"item": ["tea"], "day": ["2024-05-01"], "cost": [3]})
    assert refused(db, "price", table).endswith("|texts are not read here; give a datetime.date")
