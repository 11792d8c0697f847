"""What is wrong with `.input` and `.output` directives, as far as the program tells: no file is opened.

Names of files are compared as they are written, although facts and rejected rows, and outputs, may lie in different directories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from os.path import normpath
from pathlib import Path

from datalog.errors import Diagnostic, ProgramError
from datalog.io.layout import Place, at, place_of
from datalog.ir.core import Predicate
from datalog.syntax.tree import Directive

OWN_FILES = "give each a file of its own"


def find_mistakes(directives: Iterable[Directive], predicates: Mapping[str, Predicate] | None = None) -> list[Diagnostic]:
    """Parameters that make no sense and files that would be written over; with `predicates` also defaults that columns do not admit."""
    found: list[Diagnostic] = []
    placed: list[tuple[Directive, Place]] = []
    for directive in directives:
        if directive.kind in ("printsize", "limitsize"):
            continue
        try:
            place = place_of(directive)
        except ProgramError as error:
            found += error.diagnostics
            continue
        placed.append((directive, place))
        if place.defaults and predicates is not None:
            found += _wrong_defaults(directive, place, predicates)
    return [*found, *_overwritten(placed)]


def _wrong_defaults(directive: Directive, place: Place, predicates: Mapping[str, Predicate]) -> Iterator[Diagnostic]:
    from datalog.io.facts import nulls_of

    for name in directive.predicates:
        for default in place.defaults:
            try:
                nulls_of(directive, replace(place, defaults=(default,)), predicates[name], Path())
            except ProgramError as error:
                yield from error.diagnostics


def _overwritten(placed: Iterable[tuple[Directive, Place]]) -> Iterator[Diagnostic]:
    """Files that two directives write, and files of facts that another writes its rejected rows to."""
    placed = list(placed)
    read = {
        normpath(place.filename or f"{name}.facts"): name
        for directive, place in placed
        for name in directive.predicates
        if directive.kind == "input"
    }
    outputs: dict[str, str] = {}
    rejects: dict[str, str] = {}
    for directive, place in placed:
        for name in directive.predicates if directive.kind == "output" and place.io == "file" else ():
            file = place.filename or f"{name}.csv"
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
