"""What a program's `.output` and `.printsize` directives ask for, done for one database.

A program with neither directive shows all its derived predicates. To files and to standard output it writes them only if it is in
the papers' dialect, which has no directives; Soufflé, too, writes nothing for such a program.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from datalog.ir.core import CoreProgram
from datalog.syntax.tree import Directive

if TYPE_CHECKING:
    from datalog.database import Database


def output_names(core: CoreProgram) -> list[str]:
    """The predicates whose changes are printed: those of `.output`, or all derived ones if there are none."""
    named = [name for directive in core.directives if directive.kind == "output" for name in directive.predicates]
    return list(dict.fromkeys(named)) or derived_names(core)


def derived_names(core: CoreProgram) -> list[str]:
    return [name for name, predicate in core.predicates.items() if predicate.derived and not predicate.hidden]


def wanted(core: CoreProgram, everything: bool = True) -> Iterator[tuple[Directive | None, str]]:
    """Each output and size that is to be given, in the order of the text, with its directive if it has one; without any, `everything`
    that is derived, if so."""
    asked = [directive for directive in core.directives if directive.kind in ("output", "printsize")]
    if not asked and everything:
        yield from ((None, name) for name in derived_names(core))
    for directive in asked:
        yield from ((directive, name) for name in directive.predicates)


def print_outputs(database: Database) -> None:
    """Tables and sizes to standard output."""
    from datalog.io.output import print_size
    from datalog.render import print_relation

    between = ""
    for directive, name in wanted(database.core):
        if only_size(directive):
            sys.stdout.write(print_size(called(directive, name), len(database[name])))
            continue
        sys.stdout.write(between)
        print_relation(database[name], database.predicates[name])
        between = "" if sys.stdout.isatty() else "\n"


def write_outputs(database: Database, directory: Path | None, sizes: TextIO, printing: bool = True) -> None:
    """Write every output into `directory`, or all of them to standard output if it is None; sizes go to `sizes`.

    Without `printing`, outputs whose place is standard output are left out.
    """
    from datalog.io.layout import TO_STANDARD_OUTPUT, place_of
    from datalog.io.output import print_size, write_output
    from datalog.program import quoting

    for directive, name in wanted(database.core, everything=database.program.papers):
        predicate = database.predicates[name]
        if only_size(directive):
            sizes.write(print_size(called(directive, name), len(database[name])))
            continue
        if directive and not printing and place_of(directive).io in TO_STANDARD_OUTPUT:
            continue
        if directory is None:
            directive = printed(directive or Directive("output", (name,)))
        with quoting(database.text, database.file):
            write_output(directive, predicate, database[name].codes(), database.values, directory or Path(), sys.stdout)


def only_size(directive: Directive | None) -> bool:
    """Whether a directive asks for a number of rows and not for the rows."""
    return directive is not None and (directive.kind == "printsize" or ("IO", "stdoutprintsize") in directive.parameters)


def called(directive: Directive | None, name: str) -> str:
    """What a predicate is called where its size is printed."""
    return str(dict(directive.parameters if directive else ()).get("name", name))


def printed(directive: Directive) -> Directive:
    """The directive, with standard output as its place and the names of columns above the rows, as Soufflé prints them."""
    kept = tuple(parameter for parameter in directive.parameters if parameter[0] in ("name", "delimiter", "rfc4180", "attributeNames"))
    return replace(directive, parameters=(*kept, ("IO", "stdout"), ("headers", "true")))
