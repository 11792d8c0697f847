"""Random programs: every core program keeps its promises, and means what the oracle says that the text means."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given, settings

from datalog.analysis import analyse
from datalog.ir.core import CoreProgram, CoreRule, Type
from datalog.rewrite import lower
from datalog.syntax.parser import parse
from tests.oracle.naive import OracleArithmeticError, evaluate
from tests.properties.programs import Drawn, programs
from tests.unit.core_interpreter import evaluate_core, variables_of


def check_core_rule(rule: CoreRule, program: CoreProgram) -> None:
    """Assert all that a core rule promises."""
    assert len(set(rule.variables)) == len(rule.variables) == len(rule.types)
    assert len(set(rule.head_columns)) == len(rule.head_columns)
    for atom in rule.atoms:
        columns = [column for column in atom.columns if column is not None]
        assert columns, "an atom of wildcards only"
        assert len(set(columns)) == len(columns)
        assert [rule.types[column] for column in columns] == [
            type_ for type_, column in zip(_stored(program, atom.predicate), atom.columns, strict=True) if column is not None
        ]
    assert [rule.types[column] for column in rule.head_columns] == list(_stored(program, rule.head))
    bound = {column for atom in rule.atoms if not atom.negated for column in atom.columns if column is not None}
    while new := {
        binding.variable for binding in rule.bindings if variables_of(binding.expression) <= bound and binding.variable not in bound
    }:
        bound |= new
    assert bound == set(range(len(rule.variables))), "a variable that nothing binds"
    uses = [column for atom in rule.atoms for column in atom.columns if column is not None]
    uses += [*rule.head_columns, *_used(rule)]
    assert all(uses.count(variable) > 1 or not _only_in_atoms(rule, variable) for variable in range(len(rule.variables)))


def _stored(program: CoreProgram, predicate: str) -> tuple[Type, ...]:
    return program.predicates[predicate].types or (Type.NUMBER,)


def _used(rule: CoreRule) -> Iterable[int]:
    for binding in rule.bindings:
        yield from {binding.variable, *variables_of(binding.expression)}
    for test in rule.filters:
        yield from variables_of(test.left) | variables_of(test.right)


def _only_in_atoms(rule: CoreRule, variable: int) -> bool:
    """`r@some` alone keeps the one variable that it asks with."""
    return not rule.head.endswith("@some") and variable not in rule.head_columns and variable not in set(_used(rule))


def check_core_program(program: CoreProgram) -> None:
    """Assert all that a core program promises."""
    for rule in program.rules:
        check_core_rule(rule, program)
        assert program.predicates[rule.head].derived
    done = {name for name, predicate in program.predicates.items() if not predicate.derived}
    assert set(program.facts) <= done
    numbers: list[int] = []
    for stratum in program.strata:
        inside = set(stratum.predicates)
        read = {atom.predicate for number in stratum.rules for atom in program.rules[number].atoms}
        negated = {atom.predicate for number in stratum.rules for atom in program.rules[number].atoms if atom.negated}
        assert read <= done | inside and negated <= done
        assert stratum.recursive == bool(read & inside)
        assert {program.rules[number].head for number in stratum.rules} == inside
        done |= inside
        numbers += stratum.rules
    assert sorted(numbers) == list(range(len(program.rules)))
    assert done == set(program.predicates)
    for name, predicate in program.predicates.items():
        if predicate.base:
            assert predicate.derived and not program.predicates[predicate.base].derived
            assert program.predicates[predicate.base].types == predicate.types
        assert predicate.hidden == ("@" in name)


@settings(max_examples=200)
@given(programs())
def test_the_core_rules_of_a_random_program_are_well_formed_and_mean_what_the_oracle_says(drawn: Drawn) -> None:
    core = lower(analyse(parse(drawn.text)))
    check_core_program(core)
    try:
        expected, rows = evaluate(drawn.program, drawn.facts), evaluate_core(core)
    except OracleArithmeticError:
        return  # which assignments are errors depends on what each side can judge of an atom whose term has no value
    for name, wanted in expected.items():
        nullary = not drawn.program.types[name]
        found = {() for _ in rows[name]} if nullary else rows[name]
        assert found == wanted, name
