"""Options, profiles and fixtures of the whole suite."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from datalog.kernels import jit, machine_code

PAIRS = 2000  # (program, transaction) pairs of the differential property, unless --long says otherwise
BATCH = 250

ROOT = Path(__file__).parents[1]

# No deadline: the first example of a run may compile kernels. A machine under load is not an unhealthy test.
# CI draws the same examples in every run, so that it judges the change and not the draw; elsewhere each run draws others.
IN_CI = bool(os.environ.get("CI"))
settings.register_profile("ours", deadline=None, print_blob=True, derandomize=IN_CI, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ours")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", type=int, default=PAIRS, metavar="N", help=f"(program, transaction) pairs to compare (default {PAIRS})")


def pytest_configure() -> None:
    """Processes that tests start import this checkout, as the tests do, and no installed copy.

    Tests run compiled kernels from the first call, unless DATALOG_PATIENCE says otherwise; processes that they start are as patient
    as those of users.
    """
    os.environ["PYTHONPATH"] = str(ROOT)
    if "DATALOG_PATIENCE" not in os.environ:
        jit.patience = 0.0


def pytest_sessionstart() -> None:
    """Before several processes share the work, and tests look at what is printed: compile the kernels."""
    if jit.has_numba and jit.patience == 0:
        machine_code.compile_all()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Cut the wanted number of pairs into batches (number, pairs), so that several processes share them."""
    if "batch" in metafunc.fixturenames:
        wanted = metafunc.config.getoption("--long")
        sizes = [min(BATCH, wanted - start) for start in range(0, wanted, BATCH)]
        metafunc.parametrize("batch", list(enumerate(sizes)), ids=[f"batch {number}" for number in range(len(sizes))])


@pytest.fixture(scope="session")
def search_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PATH with a `datalog` and a `python` that are this interpreter's."""
    programs = tmp_path_factory.mktemp("bin")
    for name, arguments in (("datalog", "-m datalog "), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        program.chmod(0o755)
    return f"{programs}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the large data sets, which the repository does not hold."""
    name = os.environ.get("DATALOG_DATA")
    if not name:
        pytest.skip("DATALOG_DATA does not name the folder of the large data sets")
    return Path(name)
