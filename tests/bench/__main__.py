"""`python -m tests.bench [NAMES] [--seconds S] [--save FILE]`, and for the names of workloads [--peers …] [--small] and more"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click
from rich.console import Console

from tests.bench.measure import Skipped, Wrong
from tests.bench.peers import suite
from tests.bench.peers.engines import PEERS
from tests.bench.peers.workloads import GROUPS, WORKLOADS
from tests.bench.report import Report

# Without names all are run but the last, which takes long.
BENCHES = ("facebook", "closure", "points_to", "aggregates", "crossover", "orders", "records_versus_derived", "startup", "peers")
BESIDE_PEERS = (*GROUPS, *(workload.name for workload in WORKLOADS if workload.name not in GROUPS))


def _peers(context: click.Context, parameter: click.Parameter, text: str) -> tuple[str, ...]:
    if text in ("all", "none"):
        return PEERS if text == "all" else ()
    names = tuple(name.strip() for name in text.split(","))
    if unknown := [name for name in names if name not in PEERS]:
        raise click.BadParameter(f"{', '.join(unknown)}: the peers are {', '.join(PEERS)}")
    return names


@click.command()
@click.argument("names", nargs=-1, type=click.Choice((*BENCHES, *BESIDE_PEERS)), metavar="[NAMES]...")
@click.option("--seconds", default=60.0, show_default=True, help="How long one stream of transactions may take.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures as JSON.")
@click.option(
    "--peers", default="all", show_default=True, callback=_peers, help=f"Other engines: all, none, or some of {', '.join(PEERS)}."
)
@click.option("--small", is_flag=True, help="Beside peers: data of about a twentieth of the size.")
@click.option("--rounds", default=3, show_default=True, help="Beside peers: the best of so many runs counts, of fewer where they are long.")
@click.option("--threads", default=1, show_default=True, help="Beside peers: how many threads engines that ask may use.")
@click.option("--python", default=sys.executable, help="The interpreter that has the peers, if it is another one than this.")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="Keep the generated data here, for other runs.")
@click.option("--patience", default=90.0, show_default=True, help="Beside peers: how many seconds one run may take.")
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Beside peers: keep the figures in FILE as they come. What it has already does not run again, so that a run can be gone on with.",
)
@click.option("--report", "report_only", is_flag=True, help="Beside peers: run nothing, and report what --keep FILE has.")
@click.option("--chart", type=click.Path(dir_okay=False, path_type=Path), help="Draw the figures beside peers as SVG.")
@click.option(
    "--readme",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    metavar="FILE",
    help="Put the table of the figures beside peers into a Markdown file, between the two lines that are there for it.",
)
def main(
    names: tuple[str, ...],
    seconds: float,
    save: Path | None,
    peers: tuple[str, ...],
    small: bool,
    rounds: int,
    threads: int,
    python: str,
    data: Path | None,
    patience: float,
    keep: Path | None,
    report_only: bool,
    chart: Path | None,
    readme: Path | None,
) -> None:
    """Run benchmarks (all but `peers`, without NAMES) and print their figures.

    `peers` runs ten workloads beside other engines; w1 to w10, or w1-20k and so on, are single ones of them.

    Seconds are CPU time, but by the clock beside peers. Every result is checked against a known count; exit status 1 says that one was
    wrong. Data sets that the repository does not hold are looked for in the folder that DATALOG_DATA names.
    """
    report = Report(Console(width=None if sys.stdout.isatty() else 160))
    workloads = tuple(name for name in names if name in BESIDE_PEERS)
    benches = [name for name in names if name in BENCHES] + (["peers"] if (workloads or report_only) and "peers" not in names else [])
    settings = suite.Settings(workloads, peers, small, rounds, threads, patience, python, data, keep, report_only, chart, readme)
    wrong = False
    for name in benches or BENCHES[:-1]:
        bench = importlib.import_module(f"tests.bench.{name}")
        report.begin(name, str(bench.__doc__).split("\n")[0])
        try:
            if name == "peers":
                suite.run(report, seconds, settings)
            else:
                bench.run(report, seconds)
        except Skipped as reason:
            report.note(f"skipped: {reason}")
        except Wrong as reason:
            report.note(f"wrong: {reason}")
            wrong = True
    if save is not None:
        report.save(save)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
