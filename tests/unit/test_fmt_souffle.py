"""How declarations with lists, and components, are laid out."""

from __future__ import annotations

from pathlib import Path

import pytest

from datalog.errors import ProgramError
from datalog.fmt import canonical, format_file
from datalog.syntax import format_program, parse


def formatted(text: str) -> str:
    """The canonical layout, which is that of itself."""
    found = canonical(text, "<test>")
    assert canonical(found, "<test>") == found
    return found


def test_what_stands_in_a_component_is_indented_with_its_comments() -> None:
    text = ".comp A<T>:B<T>{ // first\n// own\n.decl p(x:T) // columns\n\np(x):-q(x), // why\nr(x).\n.comp C{}\n} // end\n"
    assert formatted(text) == (
        ".comp A<T> : B<T> { // first\n"
        "    // own\n"
        "    .decl p(x: T) // columns\n\n"
        "    p(x) :-\n"
        "        q(x), // why\n"
        "        r(x).\n"
        "    .comp C {\n"
        "    }\n"
        "} // end\n"
    )


def test_the_body_of_a_long_aggregate_keeps_its_indentation_in_a_component() -> None:
    long = "a" * 50
    text = f".comp C {{\np(n) :- q(n), n = count : {{ {long}(x), {long}(y) }}.\n}}\n"
    assert formatted(text).splitlines()[2:7] == [
        "        q(n),",
        "        n = count : {",
        f"            {long}(x),",
        f"            {long}(y)",
        "        }.",
    ]


def test_comments_among_columns_give_each_column_a_line() -> None:
    text = ".decl p(x: number, // first\n  // second\n  y: symbol) inline\n"
    assert formatted(text) == ".decl p(\n    x: number, // first\n    // second\n    y: symbol\n) inline\n"


def test_a_long_type_has_a_branch_a_line() -> None:
    fields = "left: Tree, right: Tree, value: number"
    text = f".type Tree = Leaf {{}} | Node {{{fields}}} | Other {{{fields}}}\n"
    assert formatted(text) == f".type Tree =\n    Leaf {{}}\n    | Node {{ {fields} }}\n    | Other {{ {fields} }}\n"


def test_a_comment_that_has_to_move_is_no_reason_to_refuse_a_program(tmp_path: Path) -> None:
    path = tmp_path / "p.dl"
    path.write_text(".output p( // where\n  IO=file)\n")
    assert format_file(path, write=True, diff=False)
    assert path.read_text() == "// where\n.output p(IO=file)\n"


def test_an_include_stays_as_it_is_written() -> None:
    text = '.include "not/there.dl"\n.once\n'
    assert format_program(parse(text)) == text


def test_a_text_that_a_preprocessor_has_made_is_not_formatted() -> None:
    with pytest.raises(ProgramError, match="a preprocessor has made this text"):
        canonical('# 1 "p.dl"\np(1).\n', "p.i")


def test_lines_for_a_preprocessor_are_refused_with_a_hint() -> None:
    with pytest.raises(ProgramError, match="fmt lays out no program with lines for a C preprocessor") as caught:
        canonical("#define N 3\n#define M 4\np(N, M).\n", "p.dl")
    assert (len(caught.value.diagnostics), "by .include" in caught.value.hint) == (1, True)
    assert canonical("// #define is for a preprocessor\np(1).\n", "p.dl") == "// #define is for a preprocessor\np(1).\n"
