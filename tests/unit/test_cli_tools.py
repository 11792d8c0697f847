"""`datalog check`, `plan`, `fmt`, and the help of all commands."""

from __future__ import annotations

import stat
from pathlib import Path

import click
import pytest

import datalog as package
from datalog.cli import main
from tests.command_line import datalog

UGLY = "// what follows\np( x,y ):-e(x,y),x<3. // behind\n"
NEAT = "// what follows\np(x, y) :- e(x, y), x < 3. // behind\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "p.dl"


# --- check -----------------------------------------------------------------------------------------------------------------


def test_check_counts_what_it_found_well(program: Path) -> None:
    program.write_text("e(1, 2).\np(x) :- e(x, _).\np(y) :- e(_, y).\nq(x) :- p(x), !(e(x, y), y > 1).\n")
    outcome = datalog("check", program)
    assert (outcome.status, outcome.out, outcome.err) == (0, "ok: 3 predicates, 3 rules, 2 strata\n", "")


def test_check_goes_on_to_the_next_file(program: Path, tmp_path: Path) -> None:
    program.write_text("p(x) :- e(y).\n")
    other = tmp_path / "q.dl"
    other.write_text("p(1).\n")
    outcome = datalog("check", program, other)
    assert (outcome.status, outcome.out) == (1, f"{other}: ok: 1 predicate, 0 rules, 0 strata\n")
    assert outcome.err.startswith(f"{program}:1:")


# --- plan ------------------------------------------------------------------------------------------------------------------

PATHS = """\
.decl edge(from: number, to: number)
path(x, y) :- edge(x, y).
path(x, z) :- edge(x, y), path(y, z).
far(x) :- path(x, y), !edge(x, y), y > x.
"""


def test_plan_shows_rules_strata_orders_maintenance_and_arrangements(program: Path) -> None:
    program.write_text(PATHS)
    outcome = datalog("plan", program)
    assert (outcome.status, outcome.err) == (0, "")
    assert (
        outcome.out
        == """\
quantified rules
  ∀ x: number, y: number. path(x, y) ← edge(x, y).
  ∀ x: number, z: number. path(x, z) ← ∃ y: number. edge(x, y), path(y, z).
  ∀ x: number. far(x) ← ∃ y: number. path(x, y), !edge(x, y), y > x.

strata
  1  path: rules 1, 3, 4, recursive
  2  far: rules 2, 5

rules
  1  path(x, y) ← path@base(x, y).
     maintenance  the given rows of path

  2  far(x) ← far@base(x).
     maintenance  the given rows of far

  3  path(x, y) ← edge(x, y).
     order        x, y
       x          edge([x], ·)
       y          edge(x, [y])
     estimate     x 1, y 1: about 1 binding
     maintenance  by stamps, or its stratum is evaluated anew where that takes fewer steps
       change     edge(x, y)
       support    path(x, y)

  4  path(x, z) ← edge(x, y), path(y, z).
     order        y, x, z
       y          edge(·, [y]), path([y], ·)
       x          edge([x], y)
       z          path(y, [z])
     estimate     y 1, x 1, z 1: about 1 binding
     round        path(y, z), then x: about 1 a row
     maintenance  by stamps, or its stratum is evaluated anew where that takes fewer steps
       change     edge(x, y), then z: about 1 a row
       support    path(x, z), then y

  5  far(x) ← path(x, y), !edge(x, y), y > x.
     order        x, y
       x          path([x], ·)
       y          path(x, [y]), y > x, !edge(x, y)
     estimate     x 1, y 1: about 1 binding
     maintenance  derived on demand, or its stratum is evaluated anew where that takes fewer steps
       change     path(x, y)
       change     !edge(x, y)

predicates
  edge  0 rows
  path  about 4 rows
  far   about 3 rows

arrangements
  edge       from, to; to, from
  path       x, y; (y, x)
  path@base  x, y
  far        x
  far@base   x
"""
    )


def test_plan_shows_what_is_watched_where_records_are_kept(program: Path) -> None:
    program.write_text(PATHS)
    recorded = datalog("plan", program, "--maintain", "recorded").out
    assert (
        """
     maintenance  recorded
       watch      path([x], ·)
       watch      path(x, [y])
       watch      !edge(x, [y])
"""
        in recorded
    )
    assert datalog("plan", program, "--maintain", "recompute").out.count("maintenance  its stratum is evaluated anew\n") == 3


def test_plan_follows_the_sizes_of_the_facts(program: Path, tmp_path: Path) -> None:
    program.write_text(".decl a(x: number)\n.decl b(x: number)\n.input a, b\nc(x, y) :- a(x), b(y).\n")
    few, many = "1\n1\n1\n", "".join(f"{n}\n" for n in range(2))  # a row that comes three times is one row
    for a, b, order in ((few, many, "x, y"), (many, few, "y, x")):
        (tmp_path / "a.facts").write_text(a)
        (tmp_path / "b.facts").write_text(b)
        assert f"order        {order}\n" in datalog("plan", program, "-F", tmp_path).out


def test_plan_names_constants_and_computed_variables(program: Path) -> None:
    program.write_text('p(x, "s", y) :- e(x), y = x * 2.\nq(1) :- true.\n')
    shown = datalog("plan", program).out
    assert '  ="s"       constant\n' in shown
    assert "  y          y = x * 2\n" in shown
    assert "maintenance  none, it reads no predicate\n" in shown


def test_plan_keeps_long_names_apart_from_what_is_said_of_them(program: Path) -> None:
    program.write_text("e(1, 2).\np(long_a + long_b) :- e(long_a, long_b).\nq(a_dozen_long) :- e(a_dozen_long, _).\n")
    shown = datalog("plan", program).out
    assert "       =long_a + long_b  =long_a + long_b = long_a + long_b\n" in shown
    assert "       a_dozen_long  e([a_dozen_long], _)\n" in shown


def test_the_plan_shown_is_the_plan_that_runs(program: Path, tmp_path: Path) -> None:
    program.write_text(".decl a(x: number)\n.decl b(x: number, y: number)\n.input a, b\nc(x, y) :- b(x, y), a(y), d(x).\nd(x) :- a(x).\n")
    (tmp_path / "a.facts").write_text("1\n2\n")
    (tmp_path / "b.facts").write_text("".join(f"{n}\t{n}\n" for n in range(50)))
    shown = datalog("plan", program, "-F", tmp_path).out
    database = package.Database(program, facts=tmp_path)
    for join in database._engine.joins.plan.rules:
        if not join.rule.text.startswith("the given rows"):
            assert f"     order        {', '.join(join.rule.variables[variable] for variable in join.order)}\n" in shown


def test_plan_shows_what_there_was_beside_the_estimates(program: Path) -> None:
    program.write_text(PATHS + "edge(1, 2). edge(2, 3). edge(3, 1). edge(3, 4).\n")
    shown = datalog("plan", program, "--run").out
    database = package.Database(program)
    joins = database._engine.joins
    full, follow = joins.full[3], joins.deltas[3][0].join
    assert (full.rows, full.steps) == (0, 0), "it is evaluated before there are any paths"
    assert follow.rows >= 8 and follow.steps >= follow.rows
    assert (
        f"""
     estimate     y 3, x 1, z 4: about 12 bindings
     run          0 rows in 0 steps
     round        path(y, z), then x: about 1 a row
       run        {follow.rows} rows in {follow.steps} steps
"""
        in shown
    )
    assert (
        f"""
predicates
  edge  4 rows
  path  {len(database["path"])} rows, estimated """
        in shown
    )
    assert sum(join.steps for join in (*joins.full, follow)) == database.steps
    without = datalog("plan", program).out
    assert "run   " not in without
    assert [line for line in without.splitlines() if "order  " in line] == [line for line in shown.splitlines() if "order  " in line]


def test_plan_shows_predicates_without_columns_as_they_are_stored(program: Path) -> None:
    program.write_text("on() :- p(_, x), x > 3.\nseen(x) :- p(x, _), on(), !p(_, 7), q(_).\np(1, 2). q(1).\n")
    shown = datalog("plan", program, "--run").out
    assert "  =0         constant, on([=0]), q@some([=0])\n" in shown
    assert "\npredicates\n  on      0 rows, estimated " in shown and "\n  q@some  1 row, estimated " in shown


def test_plan_shows_which_orders_were_asked_for(program: Path) -> None:
    program.write_text(PATHS.replace("path(y, z).\n", "path(y, z).\n.plan 0:(1,2)\n"))
    shown = datalog("plan", program, "--set", "order.far=y,x").out
    assert "  order        x, y, z, by .plan\n" in shown
    assert "  round        path(y, z), then x, by .plan: about 1 a row\n" in shown
    assert "  order        y, x, by --set\n" in shown


def test_plan_says_that_a_plan_is_ignored(program: Path) -> None:
    choice = "(e(a, b); e(b, a); e(a, b), e(b, _); e(b, a), e(a, _); e(a, b), e(b, a))"
    program.write_text(f"many(a, b) :- {choice}, {choice}.\n.plan 0:({', '.join(map(str, range(1, 17)))})\n.decl e(x: number, y: number)\n")
    assert "  .plan        ignored: a part of the body has become a predicate of its own\n" in datalog("plan", program).out


@pytest.mark.parametrize("command", ["run", "plan"])
def test_an_order_that_does_not_fit_its_rule_is_wrong_usage(program: Path, command: str) -> None:
    program.write_text(PATHS)
    for setting, message in (("order.far=y", "order.far: x is missing"), ("order.9=x", "order.9: there is no rule 9")):
        outcome = datalog(command, program, "--set", setting)
        assert (outcome.status, outcome.out) == (2, "")
        assert f"Invalid value for --set: {message}" in outcome.err
        assert outcome.err.startswith("Usage: datalog ")


def test_an_order_changes_no_answer(program: Path) -> None:
    program.write_text(PATHS + "edge(1, 2). edge(2, 3). edge(3, 1). edge(1, 4).\n.output path, far\n")
    usual = datalog("run", program).out
    for order in ("x,y,z", "z,y,x", "z,x,y"):
        assert datalog("run", program, "--set", f"order.4={order}", "--set", "order.far=y,x").out == usual


# --- fmt -------------------------------------------------------------------------------------------------------------------


def test_fmt_rewrites_in_place_and_keeps_permissions_and_links(program: Path, tmp_path: Path) -> None:
    program.write_text(UGLY)
    program.chmod(0o640)
    link = tmp_path / "link.dl"
    link.symlink_to(program)
    outcome = datalog("fmt", link)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert program.read_text() == NEAT
    assert link.is_symlink()
    assert stat.S_IMODE(program.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.dl", "p.dl"]


def test_fmt_check_names_what_would_change_and_writes_nothing(program: Path, tmp_path: Path) -> None:
    program.write_text(UGLY)
    neat = tmp_path / "neat.dl"
    neat.write_text(NEAT)
    outcome = datalog("fmt", "--check", program, neat)
    assert (outcome.status, outcome.out) == (1, f"{program}\n")
    assert program.read_text() == UGLY
    assert datalog("fmt", "--check", neat).status == 0


def test_fmt_diff_shows_the_differences_and_writes_nothing(program: Path) -> None:
    program.write_text(UGLY)
    outcome = datalog("fmt", "--diff", program)
    assert outcome.status == 0
    assert "-p( x,y ):-e(x,y),x<3. // behind\n+p(x, y) :- e(x, y), x < 3. // behind\n" in outcome.out
    assert program.read_text() == UGLY
    assert datalog("fmt", "--diff", "--check", program).status == 1


def test_fmt_formats_standard_input_to_standard_output() -> None:
    assert datalog("fmt", "-", stdin=UGLY).out == NEAT
    assert datalog("fmt", "-", stdin=NEAT).out == NEAT


def test_fmt_leaves_a_file_that_it_cannot_parse(program: Path, tmp_path: Path) -> None:
    program.write_text("p(x :- e(x).\n")
    other = tmp_path / "other.dl"
    other.write_text(UGLY)
    outcome = datalog("fmt", program, other)
    assert outcome.status == 1
    assert outcome.err.startswith(f"{program}:1:")
    assert program.read_text() == "p(x :- e(x).\n"
    assert other.read_text() == NEAT


def test_fmt_turns_line_ends_of_windows_into_its_own(program: Path) -> None:
    program.write_bytes(NEAT.replace("\n", "\r\n").encode())
    assert datalog("fmt", "--check", program).status == 1
    datalog("fmt", program)
    assert program.read_bytes() == NEAT.encode()


# --- help ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(main.commands))
def test_the_help_of_a_command_explains_all_its_options(name: str) -> None:
    shown = datalog(name, "--help")
    assert shown.status == 0
    for parameter in main.commands[name].params:
        if isinstance(parameter, click.Option) and parameter.hidden:
            assert "Soufflé's other options" in shown.out
        elif isinstance(parameter, click.Option):
            assert parameter.help
            assert all(option in shown.out for option in parameter.opts)
        else:
            assert str(parameter.metavar) in shown.out


def test_the_help_names_all_commands_with_a_whole_sentence() -> None:
    shown = datalog("--help").out
    for name in ("run", "repl", "check", "plan", "fmt"):
        assert f"  {name} " in shown
    assert "..." not in shown.partition("Commands:")[2]


def test_the_version_is_the_package_s() -> None:
    assert datalog("--version").out == f"datalog, version {package.__version__}\n"


def test_a_command_that_is_not_there_is_wrong_usage() -> None:
    outcome = datalog("rum")
    assert outcome.status == 2
    assert "No such command 'rum'" in outcome.err


@pytest.mark.parametrize("given", [["p.dl", "-D", "out"], ["-D", "out", "p.dl"], ["-Dout", "p.dl"]])
def test_the_arguments_of_souffle_lack_a_command(given: list[str]) -> None:
    outcome = datalog(*given)
    assert (outcome.status, outcome.out) == (2, "")
    assert f"Did you mean `datalog run {' '.join(given)}`?" in outcome.err
    assert "Did you mean" not in datalog("-Dout").err + datalog("pdl").err
