"""Options, profiles and fixtures of the whole suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

PAIRS = 2000  # (program, transaction) pairs of the differential property, unless --long says otherwise
BATCH = 250

ROOT = Path(__file__).parents[1]
LOAD_KERNELS = """
import importlib, pkgutil, datalog.kernels as kernels
for module in pkgutil.iter_modules(kernels.__path__):
    importlib.import_module(f"datalog.kernels.{module.name}")
"""

# No deadline: the first example of a run may compile kernels. A machine under load is not an unhealthy test.
# CI draws the same examples in every run, so that it judges the change and not the draw; elsewhere each run draws others.
IN_CI = bool(os.environ.get("CI"))
settings.register_profile("ours", deadline=None, print_blob=True, derandomize=IN_CI, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ours")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", type=int, default=PAIRS, metavar="N", help=f"(program, transaction) pairs to compare (default {PAIRS})")


def pytest_configure() -> None:
    """Processes that tests start import this checkout, as the tests do, and no installed copy."""
    os.environ["PYTHONPATH"] = str(ROOT)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before several processes share the work: compile the kernels in one, lest each of them does."""
    if session.config.getoption("numprocesses", None):
        subprocess.run([sys.executable, "-c", LOAD_KERNELS], check=True)


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
