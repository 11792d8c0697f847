"""The search for a proof, level by level: all facts of one predicate that wait on a level are looked up by one join a rule.

In a recursive stratum a fact's premises of the stratum have smaller stamps than it, so no fact ever rests on itself. Elsewhere any
binding does; the first is taken, so that a proof is the same each time. Facts of helpers of disjunctions and of existence
vanish: what they rest on stands in their place. So do the rows of an aggregate's source, each of whose derivations counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DatalogError, InternalError
from datalog.explain.contributions import contributions
from datalog.explain.facts import Codes, Fact, completed, read_fact, show_key_of, show_row
from datalog.explain.guards import LEFT, count_rounds, whole
from datalog.explain.literals import (
    Part,
    empty_result,
    is_aggregate,
    is_constant,
    is_copy,
    is_part_of_pattern,
    is_repetition,
    kind_of,
    show_atom,
    show_check,
    spelled,
    variable_name,
)
from datalog.explain.paths import path_of
from datalog.explain.proof import Proof
from datalog.explain.searches import Search, Searches
from datalog.explain.wording import Wording
from datalog.explain.workbench import Workbench
from datalog.io.literals import spell
from datalog.ir.core import ROUND, CoreAtom, CoreRule
from datalog.maintain.engine import Engine

Words = NDArray[np.int64]
Key = tuple[str, Codes]  # a fact; a result of an aggregate, or a derivation of a row of its source (`contributions.py`)
ROWS = 5  # rows of an aggregate that are shown
CLOSED = "eqrel, which is reflexive, symmetric and transitive"
HINT = "hint: why_not tells what is missing (`datalog explain --why-not`; in the REPL `:whynot`)"


@dataclass(frozen=True, slots=True)
class _Result:
    """A fact of an aggregate, as the rule says it that uses it."""

    key: Key
    text: str


Premise = Key | _Result | Proof


@dataclass(frozen=True, slots=True)
class _Step:
    """How a fact is had: by a rule (None: it is given) from facts and from literals that are proofs of their own.

    For an aggregate, `note` tells what it is over; for a derivation of a row of its source, what the row is."""

    rule: CoreRule | None
    premises: tuple[Premise, ...]
    note: str = ""


def explain(engine: Engine, text: str, fact: str, depth: int | None = None, rows: int = ROWS) -> Proof:
    """Why a fact holds; `text` is the program's. With `depth`, only that many levels of rules are looked into.

    Of what an aggregate is over, `rows` are shown. A key of a functional predicate stands for the fact that has it.
    Raises ProgramError or DataError for what is no fact of the program, DatalogError if the fact does not hold.
    """
    if depth is not None and depth < 1:
        raise DatalogError(f"a proof is shown to a depth of 1 or more, not of {depth}")
    bench = Workbench(engine)
    read = read_fact(fact, engine.program, engine.values)
    asked = completed(read, bench.storage)
    if asked is None:
        raise DatalogError(f"{show_key_of(read.predicate, read.codes, engine.values)} has no value\n    {HINT}")
    held = whole(bench, _held(bench, asked))
    if not held:
        shown = show_row(asked.predicate, asked.codes, engine.values)
        raise DatalogError(f"{shown} does not hold\n    {HINT}")
    goal = held, asked.codes
    with bench.open():
        search = _Proving(bench, text, rows)
        search.look(goal, depth)
    return replace(search.proof(goal), limit=depth)


def _held(bench: Workbench, asked: Fact) -> str:
    """The predicate that holds the row of a fact, which for one on demand is a version of it; "" if none does."""
    name = asked.predicate.name
    versions = bench.program.demanded.get(name)
    names = (name,) if versions is None else [version.name for version in versions]
    return next((one for one in names if bench.storage.has(one, asked.rows)[0]), "")


class _Proving:
    """Finds how facts are had, and puts the finds together."""

    def __init__(self, bench: Workbench, text: str, rows: int) -> None:
        self._bench, self._rows = bench, rows
        self._wording = Wording(text, bench.program)
        self._searches = Searches(bench)
        self._steps: dict[Key, _Step] = {}
        self._results: dict[_Result, Proof] = {}

    def look(self, goal: Key, depth: int | None) -> None:
        """Find how the goal and what it rests on are had, as far as `depth`."""
        level, waiting = 0, {goal: None}
        while waiting and (depth is None or level < depth):
            level += 1
            beyond: dict[Key, None] = {}
            while waiting:
                passing: dict[Key, None] = {}
                for key, step in self._find(waiting):
                    self._steps[key] = step
                    for premise in _keys(step):
                        if premise not in self._steps:
                            (passing if _is_passing(premise[0]) else beyond)[premise] = None
                waiting = passing
            waiting = {key: None for key in beyond if key not in self._steps}
        for key in waiting:
            if not self._bench.program.predicates[key[0]].derived:
                self._steps[key] = _Step(None, ())

    def _find(self, keys: Iterable[Key]) -> Iterator[tuple[Key, _Step]]:
        rows: dict[str, list[Codes]] = {}
        for predicate, codes in keys:
            rows.setdefault(predicate, []).append(codes)
        for predicate, wanted in rows.items():
            if not self._bench.program.predicates[predicate].derived:
                yield from (((predicate, codes), _Step(None, ())) for codes in wanted)
            elif predicate in self._wording.aggregates:
                yield from self._aggregate(predicate, wanted)
            elif predicate in self._bench.numberings:
                source = self._bench.numberings[predicate].source
                for codes in wanted:
                    binding = codes[: self._bench.program.predicates[source].width] if len(codes) > 1 else (0,)
                    yield (predicate, codes), _Step(None, ((source, binding),), "numbered")
            elif predicate in self._bench.closures:
                closure = self._bench.closures[predicate]
                for codes in wanted:
                    premises = tuple((closure.pairs, pair) for pair in path_of(self._bench, closure, codes))
                    yield (predicate, codes), _Step(None, premises, CLOSED)
            elif predicate in self._bench.guards and predicate in self._bench.guards[predicate].deltas:
                yield from self._found_in_round(predicate, wanted)
            elif kind_of(predicate) == "body":
                yield from (((predicate, codes), self._counted(predicate, codes)) for codes in wanted)
            else:
                yield from self._derive(predicate, wanted)

    def _derive(self, predicate: str, wanted: list[Codes]) -> Iterator[tuple[Key, _Step]]:
        """The first rule that derives each row, with its first binding."""
        storage = self._bench.storage
        block = np.array(wanted, np.int64)
        stamps = storage.stamps(predicate, block) if predicate in self._bench.recursion else np.zeros(len(block), np.int64)
        for number, rule in enumerate(self._bench.rules[predicate]):
            search = self._searches.of(predicate, number)
            found = {}
            for binding in self._bindings(search, block, stamps):
                found[tuple(binding[column] for column in rule.head_columns)] = binding
            for codes, binding in found.items():
                yield (predicate, codes), self._step(search, binding)
            left = np.array([codes not in found for codes in map(tuple, block.tolist())], bool)
            block, stamps = block[left], stamps[left]
            if not len(block):
                return
        if predicate not in self._bench.guards:
            shown = show_row(self._bench.program.predicates[predicate], tuple(block[0].tolist()), self._bench.values)
            raise InternalError(f"{shown} is there, and no rule derives it from rows with smaller stamps")
        for codes, stamp in zip(map(tuple, block.tolist()), stamps.tolist(), strict=True):
            yield (predicate, codes), _Step(None, (), f"found in round {stamp - 1} {LEFT}")

    def _bindings(self, search: Search, rows: Words, stamps: Words) -> Iterator[list[int]]:
        """The first binding for each row that has one. The number of a round is that in which the row was found."""
        if not any(atom.predicate == ROUND for atom in search.rule.atoms):
            yield from self._bench.complete(search.join, rows, stamps).tolist()
            return
        for stamp in np.unique(stamps):
            count_rounds(self._bench, np.array([stamp - 1]))
            same = stamps == stamp
            yield from self._bench.complete(search.join, rows[same], stamps[same]).tolist()

    def _found_in_round(self, predicate: str, wanted: list[Codes]) -> Iterator[tuple[Key, _Step]]:
        """A row of `debug_delta` rests on the row that it is about, as long as that stands."""
        whose = self._bench.guards[predicate].deltas[predicate]
        stand = self._bench.storage.has(whose, np.array(wanted, np.int64)[:, :-1])
        for codes, stands in zip(wanted, stand, strict=True):
            yield (predicate, codes), _Step(None, ((whose, codes[:-1]),) if stands else (), f"debug_delta({whose})" if stands else LEFT)

    def _step(self, search: Search, binding: list[int]) -> _Step:
        rule = search.rule
        if is_copy(rule):
            return _Step(None, ())
        shown = spelled(rule, binding, self._bench.values)
        premises: list[Premise] = []
        for part in search.parts:
            premises += self._part(rule, part, binding, shown)
        return _Step(rule, tuple(premises))

    def _part(self, rule: CoreRule, part: Part, binding: list[int], shown: list[str]) -> Iterator[Premise]:
        source = self._wording.source(part.span)
        empty = empty_result(part)
        if empty is not None:
            text = self._worded(rule, part.atoms[0], shown, shown[empty.variable])
            yield Proof(text, "absent", note="over no rows")
            return
        groups = [atom for atom in part.atoms if kind_of(atom.predicate) == "not" or (atom.negated and is_aggregate(atom))]
        if groups or (len(part.atoms) > 1 and all(atom.negated for atom in part.atoms)):
            where = ", ".join(self._values_in(rule, part, shown))
            yield Proof(source, "absent", note=f"nothing satisfies it where {where}" if where else "nothing satisfies it")
            if all(atom.negated for atom in part.atoms):
                return
        for atom in part.atoms:
            if atom in groups:
                continue
            if is_aggregate(atom):
                yield self._result(rule, atom, binding, shown)
                if len(part.atoms) == 1:
                    return
            if atom.predicate == ROUND:
                yield Proof(show_atom(atom, shown, self._bench.program.predicates[ROUND]), "computed", note="the number of the round")
            elif not atom.negated:
                yield whole(self._bench, atom.predicate), tuple(binding[column] for column in atom.columns if column is not None)
            elif kind_of(atom.predicate) == "some":
                yield Proof(source, "absent", note="there is no row at all")
            else:
                yield Proof(show_atom(atom, shown, self._bench.program.predicates[atom.predicate]), "absent", note="no such row")
        for check in part.checks:
            if not (is_constant(rule, check) or is_repetition(check) or is_part_of_pattern(rule, check)):
                source = self._wording.source(check.span)
                yield Proof(show_check(check, shown, source), "computed", note=source)

    def _values_in(self, rule: CoreRule, part: Part, shown: list[str]) -> Iterator[str]:
        """`x = 3` for each named variable of the part."""
        used = dict.fromkeys(column for atom in part.atoms for column in atom.columns if column is not None)
        names = {variable: rule.variables[variable] for variable in used}
        yield from (f"{name} = {shown[variable]}" for variable, name in names.items() if name[0] not in "=@" and name[-1] != "'")

    # --- aggregates -------------------------------------------------------------------------------------------------------

    def _result(self, rule: CoreRule, atom: CoreAtom, binding: list[int], shown: list[str]) -> _Result:
        """The fact that an atom over an aggregate rests on."""
        head, number, type = self._wording.of_atom(atom).head, self._wording.result(atom), self._wording.function(atom).result
        variable = self._wording.variable(atom)
        if variable is not None:
            codes = (number, *(binding[column] for column in (*self._wording.keys(atom), variable) if column is not None))
        else:  # it asks whether there is a result; without groups there is one
            codes = (number, int(self._bench.storage.rows(head)[0, number]))
        return _Result((head, codes), self._worded(rule, atom, shown, spell(self._bench.values.decode(codes[-1], type), type)))

    def _worded(self, rule: CoreRule, atom: CoreAtom, shown: Sequence[str], result: str) -> str:
        return self._wording.aggregate(rule, atom, shown, [True] * len(shown), result)

    def _aggregate(self, predicate: str, wanted: list[Codes]) -> Iterator[tuple[Key, _Step]]:
        """What facts of an aggregate are over."""
        aggregate = self._wording.aggregates[predicate]
        for codes, over in contributions(self._bench, self._searches, aggregate, wanted, self._rows).items():
            premises: list[Premise] = [(aggregate.source, derivation) for derivation in over.derivations]
            left = over.deciding - len(premises)
            if left:
                premises.append(Proof(f"… and {left:,} more", "more"))
            note = f"over {over.total:,} row{'' if over.total == 1 else 's'}"
            if over.deciding < over.total:
                note += f", {'this one decides' if over.deciding == 1 else f'these {over.deciding:,} decide'}"
            yield (predicate, codes), _Step(None, tuple(premises), note)

    def _counted(self, source: str, codes: Codes) -> _Step:
        """How a derivation of a row of an aggregate's source is had."""
        number, *binding = codes
        search = self._searches.of(source, number)
        step = self._step(search, binding)
        shown = spelled(search.rule, binding, self._bench.values)
        groups = search.rule.head_columns[: min(one.groups for one in self._wording.aggregates.values() if one.source == source)]
        named = [
            f"{variable_name(name)} = {value}"
            for variable, (name, value) in enumerate(zip(search.rule.variables, shown, strict=True))
            if name[0] not in "=_@" and variable not in groups
        ]
        return replace(step, note=", ".join(named) or "a row")

    # --- putting together -------------------------------------------------------------------------------------------------

    def proof(self, goal: Key) -> Proof:
        """The proof of a fact from the steps that were found; facts without a step are cut off."""
        made: dict[Key, tuple[Proof, ...]] = {}
        begun: set[Key] = set()
        stack = [goal]
        while stack:
            key = stack[-1]
            if key in made:
                stack.pop()
                continue
            step = self._steps.get(key)
            missing = [premise for premise in _keys(step) if premise not in made] if step else []
            if missing:
                if key in begun:
                    raise InternalError(f"the proof of {self._show(key)} rests on itself")
                begun.add(key)
                stack += reversed(missing)
            else:
                made[key] = self._made(key, step, made)
        (proof,) = made[goal]
        return proof

    def _made(self, key: Key, step: _Step | None, made: dict[Key, tuple[Proof, ...]]) -> tuple[Proof, ...]:
        """What stands for a fact among premises: its proof; for one that vanishes, what it rests on."""
        if step is None:
            return (Proof(self._show(key), "cut", note="…"),)
        if step.rule is None and not step.note:
            return (Proof(self._show(key), "given", note="given"),)
        premises = tuple(proof for premise in step.premises for proof in self._proofs(premise, made))
        if kind_of(key[0]) == "body" and len(premises) != 1:
            return (Proof(step.note, "row", premises=premises),)
        if key[0] in self._bench.closures:
            if [proof.fact for proof in premises] == [self._show(key)]:
                return premises
            span = self._bench.closures[key[0]].span
            return (Proof(self._show(key), "derived", step.note, f"{span.file}:{span.line}", premises),)
        if step.rule is None and kind_of(key[0]) == "plain":  # of a guarded predicate
            return (Proof(self._show(key), "derived", premises=premises, note=step.note),)
        if step.rule is None or _is_passing(key[0]):
            return premises
        place = f"{step.rule.span.file}:{step.rule.span.line}"
        return (Proof(self._show(key), "derived", step.rule.text, place, premises),)

    def _proofs(self, premise: Premise, made: dict[Key, tuple[Proof, ...]]) -> tuple[Proof, ...]:
        """What a premise stands for."""
        if isinstance(premise, Proof):
            return (premise,)
        if not isinstance(premise, _Result):
            return made[premise]
        if premise not in self._results:
            note = self._steps[premise.key].note
            self._results[premise] = Proof(premise.text, "aggregate", note=note, premises=made[premise.key])
        return (self._results[premise],)

    def _show(self, key: Key) -> str:
        predicate, codes = key
        return show_row(self._bench.program.predicates[predicate], codes, self._bench.values)


def _keys(step: _Step) -> Iterator[Key]:
    """The facts that a step rests on."""
    for premise in step.premises:
        if isinstance(premise, _Result):
            yield premise.key
        elif not isinstance(premise, Proof):
            yield premise


def _is_passing(predicate: str) -> bool:
    """Is it a predicate of the engine's own, which readers do not see?"""
    return kind_of(predicate) in ("some", "or", "agg", "body", "numbers", "bindings")
