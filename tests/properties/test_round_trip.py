"""What the printer writes, the parser reads back as the same tree; formatting is idempotent; garbage is refused politely."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from datalog.errors import ProgramError
from datalog.syntax import format_literal, format_program, format_rule, format_term, parse, parse_atom, parse_literals
from datalog.syntax.aggregates import AGGREGATES
from datalog.syntax.operators import INFIX, PREFIX, PREFIX_WORDS
from datalog.syntax.tree import (
    Aggregate,
    AlgebraicDeclaration,
    Application,
    Atom,
    Attribute,
    Branch,
    BranchDeclaration,
    Cast,
    Clause,
    Comment,
    Comparison,
    Component,
    ComponentType,
    Conjunction,
    Constant,
    Declaration,
    DeltaDeclaration,
    Directive,
    Disjunction,
    FunctorDeclaration,
    Include,
    Instantiation,
    LatticeDeclaration,
    Literal,
    Negation,
    Nil,
    Once,
    Operation,
    Override,
    Plan,
    PlanVersion,
    Pragma,
    Program,
    Record,
    RecordDeclaration,
    Rule,
    Span,
    Subsumption,
    Term,
    Total,
    Truth,
    TypeDeclaration,
    UnionDeclaration,
    Variable,
    Wildcard,
)

KEYWORDS = ("true", "false", "_", "nil", "as", "__FILE__", "__LINE__", "__INCL__")
words = st.from_regex(r"[A-Za-z_?][A-Za-z0-9_?]{0,5}", fullmatch=True) | st.sampled_from(
    ["input", "inline", "decl", "not", "?", "__", "u", "e3", "agg", "decimal", *AGGREGATES, *PREFIX_WORDS, "band", "lxor", "bshru"]
)
names = words.filter(lambda word: word not in KEYWORDS)
unsigned_names = names.filter(lambda word: word not in PREFIX_WORDS)  # before parentheses, these two are operators
predicates = names | st.builds(lambda first, rest: ".".join([first, *rest]), names, st.lists(words, min_size=1, max_size=2))
texts = st.text(max_size=8) | st.text('"\\\n\t\r\0\x7f\x85x0a//*', max_size=8)

constants = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda value: Constant(value, "number")),
    st.integers(0, 2**64 - 1).map(lambda value: Constant(value, "unsigned")),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Constant(value, "float")),
    texts.map(lambda value: Constant(value, "symbol")),
    st.sampled_from(
        [
            Constant(255, "number", "0xFF"),
            Constant(-5, "number", "-0b101"),
            Constant(7, "unsigned", "0x7u"),
            Constant(1000.0, "float", "1e3"),
            Constant(167772161, "number", "10.0.0.1"),
            Constant(-1, "number", "255.255.255.255"),
            Constant("é", "symbol", '"\\xe9"'),
            Constant(True, "bool"),
            Constant(False, "bool"),
        ]
    ),
)


def conjunctions(literals: st.SearchStrategy[Literal], least: int = 1) -> st.SearchStrategy[Conjunction]:
    return st.lists(literals, min_size=least, max_size=3).map(lambda found: Conjunction(tuple(found)))


def several(terms: st.SearchStrategy[Term], least: int = 0) -> st.SearchStrategy[tuple[Term, ...]]:
    return st.lists(terms, min_size=least, max_size=3).map(tuple)


def functional_atoms(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Atom]:
    return st.builds(lambda name, found: Atom(name, found, functional=True), predicates, several(terms, 1))


def simple_literals(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Literal]:
    return st.one_of(
        st.builds(Atom, predicates.filter(lambda name: name not in PREFIX_WORDS), several(terms)),
        functional_atoms(terms),
        # An equality whose left side is `F[x]` is a functional atom.
        st.builds(Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), terms, terms).filter(
            lambda found: not (found.operator == "=" and isinstance(found.left, Application))
        ),
        st.booleans().map(Truth),
    )


def aggregates(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Aggregate]:
    simple = st.deferred(lambda: simple_literals(terms))
    bodies = conjunctions(simple | groups(simple))
    languages = st.sampled_from(sorted(AGGREGATES)).flatmap(
        lambda name: st.builds(Aggregate, st.just(name), st.tuples(*[terms] * AGGREGATES[name]), bodies)
    )
    users = st.builds(
        lambda name, arguments, initial, body: Aggregate(f"@@{name}", arguments, body, initial=initial),
        words.filter(lambda word: word not in AGGREGATES),
        several(terms),
        terms,
        bodies,
    )
    return languages | users


def compound_terms(terms: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.one_of(
        st.builds(lambda name, left, right: Operation(name, (left, right)), st.sampled_from(sorted(INFIX)), terms, terms),
        # The minus of a number without one is that number's own; `-1` is a constant.
        st.builds(lambda name, operand: Operation(name, (operand,)), st.sampled_from(PREFIX), terms),
        st.builds(Operation, unsigned_names, several(terms)),
        st.builds(Application, predicates, several(terms)),
        st.builds(Record, several(terms)),
        st.builds(Branch, predicates, several(terms)),
        st.builds(Cast, terms, types),
        st.builds(Operation, words.map("@{}".format), several(terms)),
        aggregates(terms),
    )


def is_disjunction(conjunction: Conjunction) -> bool:
    return len(conjunction.literals) == 1 and isinstance(conjunction.literals[0], Disjunction)


def groups(literals: st.SearchStrategy[Literal]) -> st.SearchStrategy[Literal]:
    # A branch that is a disjunction, whole, would be read as that disjunction's branches.
    branches = conjunctions(literals).filter(lambda branch: not is_disjunction(branch))
    return st.one_of(
        st.lists(branches, min_size=2, max_size=3).map(lambda found: Disjunction(tuple(found))),
        conjunctions(literals).map(Negation),
    )


types = predicates | st.integers(0, 20).map(lambda scale: f"decimal({scale})")
leaves = st.one_of(names.map(Variable), st.just(Wildcard()), st.just(Nil()), st.just(Operation("autoinc", ())), constants)
terms: st.SearchStrategy[Term] = st.recursive(leaves, compound_terms, max_leaves=8)
literals: st.SearchStrategy[Literal] = st.recursive(simple_literals(terms), groups, max_leaves=6)
relations = st.builds(Atom, predicates, several(terms))
atoms = relations | functional_atoms(terms)
heads = st.lists(atoms, min_size=1, max_size=2).map(tuple)
totals = st.builds(Total, names.map(Variable), st.sampled_from(sorted(AGGREGATES)), several(terms))
rules = st.one_of(
    st.builds(
        lambda heads, body, arrow, totals: Rule(heads, body, arrow, totals=tuple(totals)),
        heads,
        conjunctions(literals),
        st.sampled_from([":-", "<-"]),
        st.just([]) | st.lists(totals, max_size=2),
    ),
    st.builds(lambda found: Rule(found, Conjunction(()), ""), heads),
)
qualifiers = st.lists(
    st.sampled_from(["btree", "brie", "eqrel", "inline", "no_inline", "magic", "overridable", "input", "output"]), max_size=2
)
predicate_lists = st.lists(predicates, min_size=1, max_size=2).map(tuple)
attributes = st.builds(lambda name, type_, lattice: Attribute(name, type_, lattice=lattice), words, types, st.booleans())
attribute_lists = st.lists(attributes, max_size=3).map(tuple)
choices = st.lists(st.lists(words, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple)
branches = st.builds(BranchDeclaration, words, attribute_lists)
component_types = st.builds(ComponentType, words, st.lists(types, max_size=2).map(tuple))
parameters = st.tuples(words, texts | words | st.integers(-(2**63), 2**63 - 1))
plan_versions = st.builds(PlanVersion, st.integers(0, 9999), st.lists(st.integers(0, 9999), max_size=3).map(tuple))
simple_clauses: st.SearchStrategy[Clause] = st.one_of(
    rules,
    st.builds(
        lambda names, attributes, qualifiers, choices: Declaration(names, attributes, tuple(qualifiers), choices=choices),
        predicate_lists,
        attribute_lists,
        qualifiers,
        choices,
    ),
    st.builds(DeltaDeclaration, predicates, predicates, qualifiers.map(tuple)),
    st.builds(
        lambda names, attributes, qualifiers: Declaration(names, tuple(attributes), tuple(qualifiers), functional=True),
        predicate_lists,
        st.lists(st.builds(Attribute, words, types), min_size=1, max_size=3),
        qualifiers,
    ),
    st.builds(TypeDeclaration, words, types, st.booleans()),
    st.builds(Plan, st.lists(plan_versions, min_size=1, max_size=2).map(tuple)),
    st.builds(UnionDeclaration, words, st.lists(types, min_size=2, max_size=3).map(tuple)),
    st.builds(RecordDeclaration, words, attribute_lists),
    st.builds(AlgebraicDeclaration, words, st.lists(branches, min_size=1, max_size=3).map(tuple)),
    st.builds(LatticeDeclaration, types, st.lists(st.tuples(words, terms), min_size=1, max_size=2).map(tuple)),
    st.builds(
        FunctorDeclaration,
        words,
        st.lists(attributes | types.map(lambda name: Attribute("", name)), max_size=2).map(tuple),
        types,
        st.booleans(),
    ),
    st.builds(Subsumption, relations, relations, conjunctions(literals)),
    st.builds(Instantiation, words, component_types),
    st.builds(Override, predicates),
    st.builds(Pragma, texts, texts),
    st.builds(Include, texts),
    st.just(Once()),
    st.builds(
        Directive,
        st.sampled_from(["input", "output", "printsize", "limitsize"]),
        predicate_lists,
        st.lists(parameters, max_size=2).map(tuple),
    ),
)


def components(inner: st.SearchStrategy[Clause]) -> st.SearchStrategy[Clause]:
    return st.builds(Component, component_types, st.lists(component_types, max_size=2).map(tuple), st.lists(inner, max_size=2).map(tuple))


clauses = simple_clauses | components(simple_clauses | components(simple_clauses))

line_comments = st.text(max_size=10).map(lambda text: "//" + text.replace("\n", " ")).map(str.rstrip)
block_comments = (
    st.text(max_size=10).filter(lambda text: "*/" not in f"{text}*/"[:-2] and not text.endswith("*")).map(lambda text: f"/*{text}*/")
)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A program as if parsed, with comments between its clauses and at their ends; the spans tell only the order and the lines."""
    found: list[Clause] = []
    comments: list[Comment] = []
    line = 1

    def span() -> Span:
        return Span("<test>", line, line + 1, line, 1, line, 2)

    for clause in draw(st.lists(clauses, max_size=4)):
        for text in draw(st.lists(line_comments | block_comments, max_size=2)):
            comments.append(Comment(text, False, span()))
            line += draw(st.integers(1, 3))
        found.append(replace(clause, span=span()))
        line += 1
        # Behind a comment of several lines, or one up to the line's end, no other one trails the code.
        trailing = draw(st.lists(block_comments.filter(lambda text: "\n" not in text), max_size=2))
        trailing += draw(st.lists(line_comments | block_comments, max_size=1))
        comments.extend(Comment(text, True, span()) for text in trailing)
        line += draw(st.integers(1, 3))
    comments.extend(Comment(text, False, span()) for text in draw(st.lists(line_comments | block_comments, max_size=2)))
    return Program(tuple(found), tuple(comments))


@given(terms)
def test_a_printed_term_reads_back_as_itself(term: Term) -> None:
    literals = parse_literals(f"0 = {format_term(term)}").literals
    assert literals == (Comparison("=", Constant(0, "number"), term),)


@given(literals)
def test_a_printed_literal_reads_back_as_itself(literal: Literal) -> None:
    assert parse_literals(format_literal(literal)).literals == (literal,)


@given(rules)
def test_a_rule_on_one_line_reads_back_as_itself(rule: Rule) -> None:
    assert parse(format_rule(rule)).clauses == (rule,)


@given(programs())
def test_a_formatted_program_reads_back_as_itself(program: Program) -> None:
    assert parse(format_program(program)) == program


@given(st.lists(clauses, max_size=4))
def test_a_tree_without_places_can_be_formatted(found: list[Clause]) -> None:
    assert parse(format_program(Program(tuple(found)))).clauses == tuple(found)


# Pieces of programs, with comments and blank lines in any place where a blank may be.
gaps = st.sampled_from([" ", " ", "\n", "\n\n\n", " // c\n", "\n  // own\n", " /* b */ ", "\n/* two\nlines */\n", " // 1\n // 2\n"])
SPACED = (
    'p ( x , 1 ) :- q ( x ) , ( r ( x , "//" ) , s ( ) ; x < - 2 ) .',
    "p ( 1 , - 2 ) .",
    ".decl p ( x : number ) inline",
    ".output p ( IO = file )",
    ".plan 0 : ( 2 , 1 ) , 1 : ( 1 , 2 )",
    "a ( x ) , b ( x ) <- ! ( c ( x ) ; d ( x + 1 ) ) .",
    ".type T <: symbol",
    ".type T = decimal ( 2 )",
    ".decl F ( x : number ) = y : decimal ( 2 ) inline",
    'F [ "a" , 1 ] = - 2 .',
    ".comp C < T > : B < T > , A { .decl p ( x : T ) p ( x ) :- q ( x ) . .init i = B < T > .override q }",
    ".type T = A { x : number , y : T } | B { }",
    ".type R = [ x : number , y : R ]",
    ".functor f ( x : T , symbol ) : number stateful",
    ".lattice T < > { Bottom -> $A ( ) , Lub -> @f ( _ , _ ) }",
    "p ( x ) <= p ( y ) :- x < y .",
    "p ( [ x , nil ] , $A ( [ y ] ) , @f ( as ( x , T ) ) , $ ) :- x = @@g y : [ 0 ] , { q ( y ) } .",
    ".decl p ( x : number ) brie choice-domain x , ( x , y )",
    "F [ x ] = G [ x ] band bnot y <- a.G [ x ] = y .",
    "F [ x ] = s , F [ ] = c <- agg << s = sum ( x ) , c = count ( ) >> p ( x ) .",
    "p ( s ) :- s = sum max ( x , y ) * 2 : { q ( x ) , ! ( r ( x ) ; s ( y ) ) } , count : q ( _ ) > max .",
)


@st.composite
def commented_texts(draw: st.DrawFn) -> str:
    parts = [draw(gaps)]
    for clause in draw(st.lists(st.sampled_from(SPACED), min_size=1, max_size=3)):
        for token in clause.split():
            parts += [token, draw(gaps) if draw(st.integers(0, 3)) == 0 else " "]
        parts.append(draw(gaps))
    return "".join(parts)


@given(commented_texts())
def test_formatting_loses_no_comment_and_is_idempotent(text: str) -> None:
    program = parse(text)
    formatted = format_program(program)
    again = parse(formatted)
    assert again.clauses == program.clauses
    assert sorted(comment.text for comment in again.comments) == sorted(comment.text for comment in program.comments)
    assert format_program(again) == formatted


MORE_SIGNS = "| $ @ @[ @@ # <= <: -> nil as"
SIGNS = ':- . , ; : ( ) [ ] { } " // /* */ ! _ ? 1.5 0x 99999999999999999999 - ^ < = p true 1u sum count bnot band agg << >>'
PIECES = [
    *SIGNS.split(),
    *MORE_SIGNS.split(),
    "\n",
    " ",
    "\\",
    "\0",
    "é",
    "?-",
    ".decl ",
    ".input ",
    ".type ",
    ".plan 0:(1)",
    ".comp C {",
    ".init c = C",
    '# 3 "f"\n',
    "p(x)",
    "F[x]",
]


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@example("(" * 5000)
@example("-" * 5000 + "1")
@example("p(" + "1+" * 5000 + "1).")
@example("p(" + "9" * 5000 + ").")
@example("sum(" * 5000)
@example("sum " * 5000)
@example("?-x=" + "F[" * 5000)
@example("?-x=" + "count:{x=" * 5000)
@example("?-x=" + "sum+" * 5000)
@example('p("')
@example("?-")
def test_garbage_raises_nothing_but_a_program_error(text: str) -> None:
    for read in (parse, parse_literals, parse_atom):
        try:
            read(text)
        except ProgramError as error:
            lines = text.split("\n")
            for found in error.diagnostics:
                assert found.column >= 1
                if "#" not in text:  # which may say that a line comes from elsewhere
                    assert 1 <= found.line <= len(lines)
                    assert found.column <= len(lines[found.line - 1]) + 1
