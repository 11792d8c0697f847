"""Options, profiles and fixtures of the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

PAIRS = 2000  # (program, transaction) pairs of the differential property, unless --long says otherwise
BATCH = 250

# No deadline: the first example of a run may compile kernels. A machine under load is not an unhealthy test.
settings.register_profile("ci", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", type=int, default=PAIRS, metavar="N", help=f"(program, transaction) pairs to compare (default {PAIRS})")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Cut the wanted number of pairs into batches, so that several processes share them."""
    if "pairs" in metafunc.fixturenames:
        wanted = metafunc.config.getoption("--long")
        metafunc.parametrize("pairs", [min(BATCH, wanted - start) for start in range(0, wanted, BATCH)])


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the large data sets, which the repository does not hold."""
    name = os.environ.get("DATALOG_DATA")
    if not name:
        pytest.skip("DATALOG_DATA does not name the folder of the large data sets")
    return Path(name)
