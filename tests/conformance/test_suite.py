"""Soufflé's tests, each in one go and, where it has output, as a stream of transactions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance import CHECKOUT
from tests.conformance.runner import Engine, run_tests
from tests.conformance.suite import SuiteTest, discover

SEED = 0
TESTS = discover(Path(os.environ[CHECKOUT]).resolve()) if os.environ.get(CHECKOUT) else []
pytestmark = pytest.mark.skipif(not TESTS, reason=f"{CHECKOUT} does not name a checkout of Soufflé's repository")


def judged(test: SuiteTest, engine: Engine) -> None:
    ((_, _, verdict),) = run_tests([test], engine)
    assert not verdict.cause, f"{verdict.cause}: {verdict.reason}\n{verdict.detail}"


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_a_program_gives_what_souffle_gives(test: SuiteTest) -> None:
    judged(test, Engine())


@pytest.mark.parametrize("test", [test for test in TESTS if test.kind != "refused"], ids=lambda test: test.name)
def test_a_program_whose_facts_come_as_transactions_ends_with_what_souffle_gives(test: SuiteTest) -> None:
    judged(test, Engine(seed=SEED))
