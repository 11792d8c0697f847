"""`python -m tests.conformance`: runs the suite and reports. Exit status 1 if a test fails."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from tests.conformance import CHECKOUT
from tests.conformance.report import Result, report
from tests.conformance.runner import LIMIT, Engine, run_souffle, run_tests, warm
from tests.conformance.suite import discover

PATIENCE = 300.0  # seconds for Soufflé


@click.command()
@click.argument("checkout", type=click.Path(path_type=Path, exists=True, file_okay=False), required=False)
@click.option("--incremental", is_flag=True, help="Let the facts come as transactions; only tests that should give output are run.")
@click.option("--seed", type=int, default=0, help="Other transactions.  [default: 0]")
@click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Tests at a time.  [default: 1]")
@click.option("--limit", type=float, default=LIMIT, metavar="S", help=f"Seconds for a test.  [default: {LIMIT:g}]")
@click.option("--only", default="", metavar="TEXT", help="Only tests with this in their name.")
@click.option("--options", default="", metavar="OPTIONS", help="Further options of `datalog run`, for every test.")
@click.option("--souffle/--no-souffle", default=True, help="Whether to run Soufflé, too, if there is one, to compare the times.")
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write all results to a file.")
def main(
    checkout: Path | None,
    incremental: bool,
    seed: int,
    jobs: int,
    limit: float,
    only: str,
    options: str,
    souffle: bool,
    file: Path | None,
) -> None:
    """Run Soufflé's tests from CHECKOUT, a checkout of its repository.  [default: what SOUFFLE_SUITE names]"""
    named = checkout or Path(os.environ.get(CHECKOUT, ""))
    if not checkout and CHECKOUT not in os.environ:
        raise click.UsageError(f"name a checkout of Soufflé's repository, here or in {CHECKOUT}")
    tests = [test for test in discover(named.resolve()) if only in test.name and not (incremental and test.kind == "refused")]
    warm()
    task = Engine(tuple(shlex.split(options)), seed if incremental else None)
    results = {}
    for number, (test, seconds, verdict) in enumerate(run_tests(tests, task, jobs, limit), 1):
        results[test.name] = Result(test, seconds, verdict)
        if sys.stderr.isatty():
            click.echo(f"\r{number}/{len(tests)} {test.name:60.60}", nl=False, err=True)
    if souffle and shutil.which("souffle"):
        compared = [test for test in tests if test.kind == "positive"]
        for test, seconds, _ in run_tests(compared, run_souffle, jobs, PATIENCE, judged=False):
            results[test.name] = replace(results[test.name], souffle=seconds)
    ordered = [results[test.name] for test in tests]
    click.echo("\n".join(report(ordered)))
    if file is not None:
        file.write_text("".join(json.dumps(result.as_json(), ensure_ascii=False) + "\n" for result in ordered), encoding="utf-8")
    sys.exit(any(result.verdict.cause for result in ordered))


if __name__ == "__main__":
    main()
