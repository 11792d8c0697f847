"""The command line: `datalog run | repl | check | plan | explain | fmt`.

Exit status: 0 fine, 1 the program or its data are wrong (or the engine is, and says so), 2 usage, 130 interrupted, 141
nobody reads standard output any more. Each command imports what it needs when it runs, so that `--help` is quick.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from datalog import __version__
from datalog.demand_options import demand_options
from datalog.errors import DatalogError, InternalError, SettingError
from datalog.reading_options import reading_options
from datalog.settings import WORDS
from datalog.souffle_options import noted, souffle_options

if TYPE_CHECKING:
    from datalog.ir.core import CoreProgram
    from datalog.ir.formulas import Program
    from datalog.reading import Reading

DEBUG = "DATALOG_DEBUG"
INTERRUPTED, UNREAD = 130, 141
MADE = 100_000  # objects between two searches for cycles; a command keeps most of what it makes, and with 700 they take a tenth of its time

program_argument = click.argument("program", type=click.Path(path_type=Path), metavar="PROGRAM.dl")
facts_option = click.option(
    "-F",
    "--facts",
    "--fact-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the files of .input are.  [default: what the pragma fact-dir says, or the current directory]",
)
maintain_option = click.option(
    "--maintain",
    type=click.Choice(WORDS["maintain"]),
    default="auto",
    help="How rules follow a change: by recorded sensitivities, by sensitivities derived on demand, by evaluation anew, or by "
    "what takes the fewest steps. Answers never differ.  [default: auto]",
)
settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting: order.RULE=x,y,z binds the variables of a rule (its number in `datalog plan`, or the head of an only rule) in this "
    "order; failing=error|skip: whether a computation without a value is an error or a literal that does not hold; "
    "overflow=error|wrap: whether numbers that leave 64 bits have no value or wrap around, as Soufflé's do; dialect=any|souffle: whether "
    "all is as in Soufflé, where numbers wrap and every predicate is declared; missing=error|empty: whether fact files may be "
    "missing; max_rounds=N, max_rows=N, max_seconds=S limit each recursion; coalesce=hull|run|exact: how records are joined; "
    "memory_limit=500MB; rows_per_page=N.",
)


def threads_of(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """The number of threads that -j asks for, if it is given."""
    if value is None or (value.isascii() and value.isdecimal() and int(value[:9]) > 0):
        return None if value is None else int(value)
    if value != "auto":
        raise click.BadParameter(f"{value} is no number of threads from 1 on, nor auto", ctx, param)
    return os.cpu_count() or 1


def show_warning(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
    """Say a warning as errors are said, with its place if it has one."""
    print(f"{f'{filename}:{lineno}: ' if lineno else ''}warning: {message}", file=sys.stderr)


class Command(click.Command):
    """Takes a setting that does not fit the program for wrong usage."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SettingError as error:
            raise click.BadParameter(str(error), ctx, param_hint="--set") from error


def _as_for_souffle(error: click.UsageError, given: str) -> click.UsageError:
    """The error, with the command that is missing if the arguments are those of `souffle`, which has none."""
    if any(word.endswith(".dl") for word in given.split()):
        return click.UsageError(f"{error.format_message()} Did you mean `datalog run {given}`?", error.ctx)
    return error


class Commands(click.Group):
    """Turns what a command raises into a message and an exit status."""

    command_class = Command

    def invoke(self, ctx: click.Context) -> Any:
        gc.set_threshold(MADE)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", newline="\n")
        try:
            with warnings.catch_warnings():
                warnings.showwarning = show_warning  # type: ignore[assignment]
                result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered has nowhere to go at exit
            ctx.exit(UNREAD)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except InternalError as error:
            self._our_fault(ctx, error)
        except DatalogError as error:
            sys.stdout.flush()
            print(error, file=sys.stderr)
            ctx.exit(1)
        except MemoryError:
            print("datalog: out of memory", file=sys.stderr)
            ctx.exit(1)
        except Exception as error:
            self._our_fault(ctx, error)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = " ".join(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise _as_for_souffle(error, given) from None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise _as_for_souffle(error, " ".join(args)) from None

    def _our_fault(self, ctx: click.Context, error: Exception) -> None:
        message = f"{type(error).__name__}: {error}" if not isinstance(error, InternalError) else str(error)
        print(f"datalog: internal error: {message}; this is a bug of datalog, please report it", file=sys.stderr)
        if os.environ.get(DEBUG):
            raise error
        print(f"    {DEBUG}=1 in the environment shows where it happened", file=sys.stderr)
        ctx.exit(1)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="datalog")
def main() -> None:
    """Datalog whose answers stay true: write rules, then stream inserts and deletes at them."""


@main.command()
@program_argument
@facts_option
@click.option(
    "-D",
    "--output",
    "--output-dir",
    metavar="DIR|-",
    help="Write each .output to a file in DIR (made if missing), or all to standard output (-).  [default: the pragma output-dir]",
)
@click.option("--stream", metavar="FILE|-", help="Apply these transactions one by one, and print what each of them changes.")
@click.option("--format", type=click.Choice(["text", "jsonl"]), help="The format of the stream and of the changes.  [default: text]")
@click.option("--changes-only", is_flag=True, help="Do not print the result on the facts as transaction 0.")
@click.option("--on-error", type=click.Choice(["stop", "skip"]), help="What a bad transaction does to the stream.  [default: stop]")
@maintain_option
@click.option(
    "-j", "--jobs", callback=threads_of, metavar="N|auto", help="Threads for large joins.  [default: the pragma jobs, or one a core]"
)
@settings_option
@demand_options
@reading_options
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
@click.option("-w", "--no-warn", is_flag=True, help="No warnings, and as in Soufflé fact files that are not there have no rows.")
@click.option("--legacy", is_flag=True, expose_value=False, help="Changes nothing: Soufflé's older notations are always read.")
@souffle_options
@click.pass_context
def run(
    ctx: click.Context,
    program: Path,
    facts: Path | None,
    output: str | None,
    stream: str | None,
    format: str | None,
    changes_only: bool,
    on_error: str | None,
    maintain: Literal["auto", "recorded", "derived", "recompute"],
    jobs: int | None,
    settings: Sequence[str],
    demand: Mapping[str, str],
    reading: Reading,
    quiet: bool,
    no_warn: bool,
) -> None:
    """Evaluate PROGRAM.dl on its facts.

    Without -D, outputs are printed as tables. With --stream, the result on the facts is printed as the insertions of
    transaction 0 (text: +path(1,3). and -path(2,4). lines, closed by commit.; jsonl: one object a line), then the changes of each
    transaction before the next one is read; with -D, too, the final contents are written at the end.

    A bad transaction changes nothing. It ends the run with status 1, or with --on-error skip it is passed over: the
    status is then 0, and a line on standard error counts them. Transactions are numbered as they are committed.

    Soufflé's other options are passed over where they change no result, and else refused with what to do instead.
    """
    if stream is None and (given := [name for name, value in _only_with_stream(format, changes_only, on_error) if value]):
        raise click.UsageError(f"{given[0]} says something about a stream, and there is no --stream")
    if stream is not None and output == "-":
        raise click.UsageError("with --stream, standard output is for the changes; give -D a directory")
    if output is not None and Path(output).is_file():
        raise click.UsageError(f"-D takes a directory, and {output} is a file")
    from datalog.runner import Run
    from datalog.runner import run as run_program
    from datalog.settings import read_settings

    options = {**({"missing": "empty"} if no_warn else {}), **read_settings(settings)}
    for note in () if quiet or no_warn else noted(ctx):
        print(f"warning: {note}", file=sys.stderr)
    asked = Run(
        program,
        facts,
        output or "",
        stream or "",
        "jsonl" if format == "jsonl" else "text",
        maintain,
        {**options, **demand, **({} if jobs is None else {"threads": jobs}), "reading": reading},
        quiet,
        changes_only,
        on_error == "skip",
        not no_warn,
    )
    ctx.exit(run_program(asked))


def _only_with_stream(format: str | None, changes_only: bool, on_error: str | None) -> list[tuple[str, object]]:
    return [("--format", format), ("--changes-only", changes_only), ("--on-error", on_error)]


@main.command(short_help="Find what is wrong with programs without running them.")
@click.argument("programs", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="PROGRAM.dl…")
@settings_option
@reading_options
@click.pass_context
def check(ctx: click.Context, programs: Sequence[Path], settings: Sequence[str], reading: Reading) -> None:
    """Find what is wrong with programs without running them: syntax, types, unbound variables, negation through recursion."""
    from datalog.analysis.likely_typos import warn_of_likely_typos
    from datalog.program import check_program
    from datalog.settings import of_program, read_settings

    given = of_program(read_settings(settings))
    status = 0
    for path in programs:
        try:
            program, core = check_program(path, reading, settings=given)
            warn_of_likely_typos(program)
        except InternalError:
            raise
        except DatalogError as error:
            print(error, file=sys.stderr)
            status = 1
        else:
            counts = _counts(program, core)
            click.echo(f"{path}: {counts}" if len(programs) > 1 else counts)
    ctx.exit(status)


def _counts(program: Program, core: CoreProgram) -> str:
    from datalog.render import counted

    predicates = {name for name, predicate in core.predicates.items() if not predicate.hidden}
    strata = [stratum for stratum in core.strata if not predicates.isdisjoint(stratum.predicates)]
    counts = (
        counted(len(predicates), "predicate"),
        counted(len(program.rules), "rule"),
        counted(len(strata), "stratum", "strata"),
    )
    return f"ok: {', '.join(counts)}"


@main.command()
@program_argument
@click.option(
    "-F",
    "--facts",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Plan with the sizes of the facts in DIR, as `datalog run` does.",
)
@maintain_option
@settings_option
@demand_options
@reading_options
@click.option("--run", "running", is_flag=True, help="Evaluate the program, and show beside the estimates what there was.")
def plan(
    program: Path,
    facts: Path | None,
    maintain: Literal["auto", "recorded", "derived", "recompute"],
    settings: Sequence[str],
    demand: Mapping[str, str],
    reading: Reading,
    running: bool,
) -> None:
    """Show how PROGRAM.dl is evaluated and maintained.

    Quantified rules, strata, each core rule with its variable order, with estimates and with how a change reaches it, the rows of
    the predicates, and the column orders in which they are kept.
    """
    from datalog.plan_report import report_file, report_run
    from datalog.settings import of_program, read_settings

    given = read_settings(settings)
    if running:
        from datalog.runner import announce_compilation, evaluate

        announce_compilation(quiet=False)
        database = evaluate(program, facts, quiet=False, maintain=maintain, reading=reading, **given, **demand)
        report = report_run(database, maintain)
    else:
        report = report_file(program, facts, maintain, given.get("orders"), reading, **demand, settings=of_program(given))
    click.echo(report, nl=False)


@main.command(short_help="Show why a fact holds, or why it does not.")
@program_argument
@click.argument("fact", metavar="FACT")
@facts_option
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Show so many levels of the proof.  [default: all]")
@click.option("--why-not", is_flag=True, help="Show what is missing for a fact that does not hold.")
@settings_option
@demand_options
@reading_options
def explain(
    program: Path,
    fact: str,
    facts: Path | None,
    depth: int | None,
    why_not: bool,
    settings: Sequence[str],
    demand: Mapping[str, str],
    reading: Reading,
) -> None:
    """Show why FACT, such as 'path(1, 3)', holds: a proof tree, each derived fact with its rule.

    With --why-not, for a fact that does not hold: how far each rule gets that could derive it, and the first literal that fails.
    """
    if why_not and depth is not None:
        raise click.UsageError("--depth says something about a proof, and --why-not asks for none")
    from datalog.runner import announce_compilation, evaluate
    from datalog.settings import read_settings

    given = read_settings(settings)
    announce_compilation(quiet=False)
    database = evaluate(program, facts, quiet=False, reading=reading, **given, **demand)
    click.echo(str(database.why_not(fact) if why_not else database.explain(fact, depth=depth)))


@main.command(short_help="Rewrite programs in canonical layout.")
@click.argument("programs", type=click.Path(path_type=Path, allow_dash=True), nargs=-1, required=True, metavar="PROGRAM.dl…|-")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 and name the files that would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print the differences.")
@click.pass_context
def fmt(ctx: click.Context, programs: Sequence[Path], only_check: bool, diff: bool) -> None:
    """Rewrite programs in canonical layout, comments kept; - formats standard input to standard output."""
    from datalog.fmt import format_file

    changed = wrong = False
    for path in programs:
        try:
            changed = format_file(path, write=not (only_check or diff), diff=diff) or changed
        except InternalError:
            raise
        except DatalogError as error:
            print(error, file=sys.stderr)
            wrong = True
    ctx.exit(1 if wrong or (only_check and changed) else 0)


@main.command()
@click.argument("program", type=click.Path(path_type=Path), required=False, metavar="[PROGRAM.dl]")
@facts_option
@reading_options
@click.pass_context
def repl(ctx: click.Context, program: Path | None, facts: Path | None, reading: Reading) -> None:
    """Try rules, facts, transactions and queries, line by line.

    Rules and facts extend the program at once; +fact(…). and -fact(…). wait for commit. (or abort.); ?- path(1, x). asks. What is
    no terminal is read as a script: errors do not end it, and make the status 1.
    """
    from datalog.repl import converse

    ctx.exit(converse(program, facts, reading))
