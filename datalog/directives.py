"""What is wrong with `.input` and `.output` directives, as far as the program tells: no file is opened.

Names of files are compared as they are written, although facts and rejected rows, and outputs, may lie in different directories.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from os.path import normpath
from pathlib import Path

from datalog.errors import Diagnostic, IgnoredParameter, ProgramError
from datalog.io.layout import FROM_STANDARD_INPUT, Place, at, place_of, unknown_parameters
from datalog.ir.core import Predicate
from datalog.syntax.tree import Directive

OWN_FILES = "give each a file of its own"


def find_mistakes(directives: Iterable[Directive], predicates: Mapping[str, Predicate] | None = None) -> list[Diagnostic]:
    """Values of parameters that make no sense and files that would be written over; with `predicates` also defaults that columns do
    not admit. Warns of parameters that nobody knows."""
    found: list[Diagnostic] = []
    placed: list[tuple[Directive, Place]] = []
    sizes: dict[tuple[str, str], Directive] = {}
    for directive in directives:
        if directive.kind == "limitsize":
            found += _wrong_limit(directive)
        if directive.kind in ("printsize", "limitsize"):
            found += _said_twice(directive, sizes)
            continue
        for message in unknown_parameters(directive):
            warnings.warn_explicit(IgnoredParameter(message), None, directive.span.file, directive.span.line)
        try:
            place = place_of(directive)
        except ProgramError as error:
            found += error.diagnostics
            continue
        placed.append((directive, place))
        if predicates is not None:
            found += _wrong_columns(directive, place, predicates)
            found += _wrong_defaults(directive, place, predicates)
    return [*found, *_overwritten(placed), *_read_twice(placed)]


def _wrong_limit(directive: Directive) -> Iterator[Diagnostic]:
    limits = [value for name, value in directive.parameters if name == "n"]
    if len(limits) != 1 or not isinstance(limits[0], int) or limits[0] < 0:
        message = "`.limitsize` takes one number of rows, n"
        yield at(directive.span, message, f".limitsize {directive.predicates[0]}(n=1000)")


def _said_twice(directive: Directive, sizes: dict[tuple[str, str], Directive]) -> Iterator[Diagnostic]:
    """A size that is printed or limited a second time; `sizes` has the directives before."""
    for name in directive.predicates:
        first = sizes.setdefault((directive.kind, name), directive)
        if first is not directive or directive.predicates.count(name) > 1:
            yield at(directive.span, f"a second `.{directive.kind}` of {name}", f"the first is at line {first.span.line}")
            return


def _wrong_columns(directive: Directive, place: Place, predicates: Mapping[str, Predicate]) -> Iterator[Diagnostic]:
    from datalog.io.facts import problem_of_columns

    for name in directive.predicates:
        if problem := problem_of_columns(place, predicates[name]):
            yield at(directive.span, problem, 'columns="2:0" picks the third and the first')


def _wrong_defaults(directive: Directive, place: Place, predicates: Mapping[str, Predicate]) -> Iterator[Diagnostic]:
    from datalog.io.facts import nulls_of

    for name in directive.predicates if place.defaults else ():
        for default in place.defaults:
            try:
                nulls_of(directive, replace(place, defaults=(default,)), predicates[name], Path())
            except ProgramError as error:
                yield from error.diagnostics


def _overwritten(placed: Iterable[tuple[Directive, Place]]) -> Iterator[Diagnostic]:
    """Files that two directives write, and files of facts that another writes its rejected rows to."""
    placed = list(placed)
    read = {
        normpath(place.file(name, "input")): name
        for directive, place in placed
        for name in directive.predicates
        if directive.kind == "input" and place.io not in FROM_STANDARD_INPUT
    }
    outputs: dict[str, str] = {}
    rejects: dict[str, str] = {}
    for directive, place in placed:
        for name in directive.predicates if directive.kind == "output" and place.io in ("file", "jsonfile") else ():
            file = place.file(name, "output")
            other = outputs.setdefault(normpath(file), name)
            if other != name:
                yield at(directive.span, f"{other} and {name} would both be written to {file}", "give each output a filename of its own")
    for directive, place in placed:
        if not place.rejects:
            continue
        file, name = normpath(place.rejects), directive.predicates[0]
        if file in read:
            message = f"the rejected rows of {name} would be written over the facts of {read[file]}"
        elif file in outputs:
            message = f"the rejected rows of {name} and the output {outputs[file]} would both be written to {place.rejects}"
        elif file in rejects:
            message = f"the rejected rows of two inputs, {rejects[file]} and {name}, would both be written to {place.rejects}"
        else:
            rejects[file] = name
            continue
        yield at(directive.span, message, OWN_FILES)


def _read_twice(placed: Iterable[tuple[Directive, Place]]) -> Iterator[Diagnostic]:
    """Standard input for the facts of two predicates: the second would find nothing there."""
    first = ""
    for directive, place in placed:
        for name in directive.predicates if directive.kind == "input" and place.io in FROM_STANDARD_INPUT else ():
            if first:
                yield at(directive.span, f"the facts of {first} and {name} would both be all of standard input", OWN_FILES)
            first = first or name
