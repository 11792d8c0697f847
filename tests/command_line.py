"""The command line as tests run it: in this process, with standard input, output and error of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from datalog.cli import main


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    out: str
    err: str


def datalog(*arguments: str | Path, stdin: str = "") -> Outcome:
    """Run `datalog ARGUMENTS…`."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin, prog_name="datalog")
    return Outcome(result.exit_code, result.stdout, result.stderr)
