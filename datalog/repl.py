"""`datalog repl`: a conversation with a database.

Rules, declarations and plain facts extend the program and its facts at once. `+fact(…).` and `-fact(…).` wait for
`commit.`, which shows what changed in derived predicates. Whatever goes wrong is shown, and changes nothing.

What is printed is a comment or a change in the format of streams, but for tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NoReturn

from datalog.errors import DatalogError, Diagnostic, InternalError, PlacedError, ProgramError
from datalog.io.literals import closest
from datalog.outputs import derived_names
from datalog.render import SHOWN_ROWS, counted, print_table
from datalog.runner import announce_compilation, evaluate, fact_directory, say
from datalog.statements import Kind, Statement, kind_of, split_statements
from datalog.syntax import tree
from datalog.syntax.operators import LEVELS, PREFIX_WORDS
from datalog.syntax.source import Source

if TYPE_CHECKING:
    from datalog.io.stream import StagedTransaction
    from datalog.ir.core import Row
    from datalog.reading import Reading
    from datalog.transaction import Changes

WORD_OPERATORS = [*(name for level in LEVELS.values() for name in level if name.isidentifier()), *PREFIX_WORDS]
HELP = """\
path(x, y) :- edge(x, y).    add a rule; a fact or a declaration likewise
+edge(1, 2).  -edge(2, 3).   change facts, or with ^price["tea"] = 5. the value of a key; it waits for
commit.       abort.         do it and see what follows from it, or forget it
?- path(1, x), x > 3.        ask
:list                        predicates and how many rows they have
:rules                       the rules of the program
:plan                        how the rules are evaluated and maintained
:stats                       what memory is used, and what for
:explain path(1, 3)          why a fact holds; so does :why
:whynot path(3, 1)           why a fact does not hold
:load FILE                   add the clauses of a file
:quit                        leave, as Ctrl-D does
A statement may take several lines; it ends with its full stop. Ctrl-C drops what is being typed or computed.
"""


def converse(program: Path | None, facts: Path | None, reading: Reading | None = None) -> int:
    """Talk to the user, or read a script from what is no terminal; the exit status."""
    announce_compilation(quiet=False)
    session = Session(program, facts, reading)
    if sys.stdin.isatty():
        from datalog.prompt import talk

        return talk(session)
    well = read_script(session, sys.stdin)
    if session.staged:
        message = (
            f"the script ends, and {counted(session.waiting, 'change')} of it {'was' if session.waiting == 1 else 'were'} not committed"
        )
        print(Diagnostic(message, "<stdin>", session.began, 1, hint="changes wait for `commit.`"), file=sys.stderr)
    return 0 if well and not session.staged else 1


def read_script(session: Session, lines: Iterable[str]) -> bool:
    """Execute statements as their lines are complete; whether all of them went well."""
    well, text, first = True, "", 1
    number = 0
    for number, line in enumerate(lines, 1):
        text += line
        if split_statements(text)[1] == len(text):
            well = session.execute(text, "<stdin>", first) and well
            text, first = "", number + 1
        if session.over:
            return well
    return session.execute(text, "<stdin>", first) and well


class Session:
    """The database that is talked about, and the changes that wait for a commit."""

    def __init__(self, program: Path | None, facts: Path | None, reading: Reading | None = None) -> None:
        self._facts, self._reading = facts, reading
        self.database = evaluate("" if program is None else program, facts, quiet=False, reading=reading)
        self.staged: list[StagedTransaction] = []  # one a statement
        self.began = 0  # the line of the first of them
        self.over = False
        self._commands: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "list": self._list,
            "rules": self._rules,
            "plan": self._plan,
            "stats": self._stats,
            "explain": self._explain,
            "why": self._explain,
            "whynot": self._why_not,
            "load": self._load,
            "quit": self._quit,
        }

    @property
    def facts(self) -> Path:
        """Where the files of `.input` are."""
        return self._facts or fact_directory(self.database.program.pragmas)

    @property
    def commands(self) -> list[str]:
        return sorted(f":{name}" for name in self._commands)

    def execute(self, text: str, file: str = "<input>", first_line: int = 1) -> bool:
        """Do what the text says, statement by statement; an error is shown and ends it. Whether there was none."""
        statements, rest = split_statements(text)
        if rest < len(text):
            statements.append(Statement(kind_of(text[rest:].rstrip()), rest, len(text.rstrip()), complete=False))
        well = True
        for statement in statements:
            if self.over:
                break
            if not self._try(statement, text, file, first_line):
                well = False
                if statement.complete:  # behind a forgotten full stop another statement begins, which may be right
                    break
        return well

    def _try(self, statement: Statement, text: str, file: str, first_line: int) -> bool:
        """Do what one statement of the text says, or show what is wrong with it; whether it went well."""
        waiting = len(self.staged)
        try:
            self._do(statement, text)
        except InternalError:
            raise
        except PlacedError as error:
            self._complain(str(type(error)([placed(found, text, file, first_line) for found in error.diagnostics])))
            return False
        except DatalogError as error:
            self._complain(f"error: {error}")
            return False
        finally:
            sys.stdout.flush()
        if not waiting:
            self.began = first_line + text.count("\n", 0, statement.start)
        return True

    def _complain(self, message: str) -> None:
        sys.stdout.flush()
        print(message, file=sys.stderr, flush=True)

    def _do(self, statement: Statement, text: str) -> None:
        own = alone(text, statement)
        if not statement.complete and statement.kind != "clauses":  # of clauses the parser says it
            self._refuse_unfinished(statement.kind, own)
        match statement.kind:
            case "command":
                name, _, argument = own.strip()[1:].strip().partition(" ")
                if name not in self._commands:
                    hint = INSTEAD.get(name) or closest(f":{name}", self.commands) or f"there are {', '.join(self.commands)}"
                    raise DatalogError(f"there is no command :{name}; {hint}")
                self._commands[name](argument.strip())
            case "query":
                self._ask(own)
            case "change":
                self.staged += self._changes(own)
            case "commit":
                staged, self.staged = self.staged, []
                self._show(self._apply(staged))
            case "abort":
                print(f"// aborted: {counted(self.waiting, 'change')} forgotten" if self.staged else "// aborted: nothing was waiting")
                self.staged = []
            case "clauses":
                self._extend(own)

    def _refuse_unfinished(self, kind: Kind, text: str) -> NoReturn:
        """ProgramError or StreamError for a statement without its full stop: what is wrong within it, or just that."""
        from datalog.syntax import parse_literals

        if kind == "query":
            parse_literals(text, INPUT)
        elif kind == "change":
            list(self._changes(f"{text}."))
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
        raise ProgramError([Diagnostic("the full stop is missing", INPUT, line, column, hint="a statement ends with a full stop: `.`")])

    @property
    def waiting(self) -> int:
        """How many changes wait for a commit."""
        return sum(change.size for change in self.staged)

    # --- queries and changes ----------------------------------------------------------------------------------------------

    def _ask(self, query: str) -> None:
        names, rows = self.database.query_with_names(query)
        if not names:
            print("true" if rows else "false")
            return
        right = [not isinstance(value, (str, bool, date)) for value in rows[0]] if rows else [False] * len(names)
        print_table(counted(len(rows), "row"), names, right, rows, len(rows), sys.stdout)

    def _changes(self, text: str) -> Iterator[StagedTransaction]:
        """The change that a text spells like in a stream. Raises StreamError."""
        from datalog.io.stream import StagedTransaction, read_transactions

        for item in read_transactions([*text.splitlines(keepends=True), "\n", "commit.\n"], "text", self.database.predicates, INPUT):
            if not isinstance(item, StagedTransaction):
                raise item
            yield item

    def _apply(self, staged: Iterable[StagedTransaction]) -> Changes:
        with self.database.transaction() as transaction:
            for change in staged:
                say(transaction, change)
        return transaction.changes

    def _show(self, changes: Changes) -> None:
        """What a transaction changed: derived facts one by one, given ones counted."""
        derived = set(derived_names(self.database.core))
        self._show_derived(changes)
        given = [f"{name} +{len(changes[name].inserted)} -{len(changes[name].deleted)}" for name in changes if name not in derived]
        print("// committed" + (f": {', '.join(given)}" if given else "" if len(changes) else ": nothing changed"))

    def _show_derived(self, changes: Changes) -> None:
        from datalog.io.changes import format_changes

        rows = {name: (changes[name].inserted, changes[name].deleted) for name in derived_names(self.database.core) if name in changes}
        lines = format_changes(changes.version, rows, "text", self.database.predicates).splitlines(keepends=True)[:-1]
        shown = lines[:SHOWN_ROWS] if sys.stdout.isatty() else lines
        sys.stdout.writelines(shown)
        if len(shown) < len(lines):
            print(f"// … {len(lines) - len(shown)} more changes")

    # --- the program ------------------------------------------------------------------------------------------------------

    def _extend(self, text: str) -> None:
        """Add clauses. A fact of a predicate that is known already is inserted, so that it can be deleted like any other."""
        from datalog.syntax import parse

        clauses = parse(text, INPUT).clauses
        known = [self._is_known_fact(clause) for clause in clauses]
        staged = [change for clause, fact in zip(clauses, known, strict=True) if fact for change in self._fact(text, clause.span)]
        new = [clause for clause, fact in zip(clauses, known, strict=True) if not fact]
        if new:
            self._add(text, new)
        if staged:
            self._show_derived(self._apply(staged))

    def _is_known_fact(self, clause: tree.Clause) -> bool:
        match clause:
            case tree.Rule(heads=(tree.Atom(predicate=name, terms=terms),), arrow=""):
                return name in self.database and all(isinstance(term, tree.Constant) for term in terms)
        return False

    def _fact(self, text: str, span: tree.Span) -> Iterator[StagedTransaction]:
        """A fact in a program's notation, as an insertion."""
        own = only(text, [span])
        try:
            yield from self._changes(own[: span.start] + "+" + own[span.start :])
        except PlacedError as error:
            shifted = [replace(one, column=one.column - (one.line == span.line)) for one in error.diagnostics]
            raise type(error)(shifted) from None

    def _add(self, text: str, clauses: list[tree.Clause]) -> None:
        """Add clauses of `text` to the program, and the facts that their `.input` directives name."""
        from datalog.program import given_facts, quoting

        database = self.database
        before, added = database.text.rstrip(), only(text, [clause.span for clause in clauses])
        inputs: list[str] = []
        files = {}
        try:
            if any(isinstance(clause, tree.Directive | tree.Include | tree.Instantiation) for clause in clauses):
                whole = database.extended(added)
                core = database.compiled(whole)
                behind = core.directives[len(database.core.directives) :]
                new = tuple(directive for directive in behind if directive.kind == "input")
                inputs = [name for directive in new for name in directive.predicates]
                with quoting(whole, database.file):
                    files = given_facts(replace(core, facts={}, directives=new), self.facts, database.values)
            database.add_rules(added)
        except PlacedError as error:
            _, line = Source(f"{before}\n", database.file).origin(before.count("\n") + 2)  # where what is added begins
            offset = line - 1
            raise type(error)([moved(found, database.file, offset) for found in error.diagnostics]) from None
        transaction = database.transaction()
        for name, codes in files.items():
            transaction.stage(name, codes)
        transaction.commit()
        heads = [head.predicate for clause in clauses if isinstance(clause, tree.Rule) for head in clause.heads]
        for name in dict.fromkeys([*heads, *inputs]):
            rows = "on demand" if name in database.on_demand else counted(len(database[name]), "row")
            print(f"// {name} ({rows})")

    # --- commands ---------------------------------------------------------------------------------------------------------

    def _help(self, argument: str) -> None:
        from datalog.ir.primitives import AGGREGATES, PRIMITIVES

        sys.stdout.write(HELP)
        functors = [name for name in PRIMITIVES if name.isidentifier() and name != "neg" and name not in WORD_OPERATORS]
        listed = (
            ("operators", ["+", "-", "*", "/", "%", "^", *WORD_OPERATORS]),
            ("functors", functors),
            ("aggregates", list(AGGREGATES)),
        )
        for what, names in listed:
            print(fill(" ".join(names), 100, initial_indent=f"{what:<29}", subsequent_indent=" " * 29))

    def _list(self, argument: str) -> None:
        from datalog.ir.text import format_signature

        database = self.database
        rows: list[Row] = [
            (
                format_signature(database.program.signatures[name]),
                "derived" if database.predicates[name].derived else "given",
                "on demand" if name in database.on_demand else len(database[name]),
            )
            for name in sorted(database)
        ]
        print_table(counted(len(rows), "predicate"), ("predicate", "kind", "rows"), (False, False, True), rows, 0, sys.stdout)

    def _rules(self, argument: str) -> None:
        from datalog.syntax import format_clause, parse

        for clause in parse(self.database.text, self.database.file).clauses:
            if isinstance(clause, tree.Rule) and clause.body.literals:
                print(format_clause(clause))

    def _plan(self, argument: str) -> None:
        from datalog.plan_report import report_plan

        database = self.database
        sys.stdout.write(report_plan(database.program, database.core, database.statistics))

    def _stats(self, argument: str) -> None:
        print(self.database.stats())

    def _explain(self, argument: str) -> None:
        print(self.database.explain(argument))

    def _why_not(self, argument: str) -> None:
        print(self.database.why_not(argument))

    def _load(self, argument: str) -> None:
        from datalog.program import read_program

        text, file = read_program(Path(argument), self._reading)
        try:
            self._extend(text)
        except PlacedError as error:
            raise type(error)([replace(found, file=file) if found.file == INPUT else found for found in error.diagnostics]) from None

    def _quit(self, argument: str) -> None:
        self.over = True


INSTEAD = {
    "commit": "`commit.` has no colon and a full stop",
    "abort": "`abort.` has no colon and a full stop",
    "rollback": "`abort.` forgets the changes that wait",
    "exit": "`:quit` leaves",
    "query": "a query begins with `?-`",
}
INPUT = "<typed>"  # the file of an error whose line counts within the text that was typed


def alone(text: str, statement: Statement) -> str:
    """The text with blanks in place of everything but the statement, so that places in it stay right."""
    return blanks(text[: statement.start]) + text[statement.start : statement.end]


def only(text: str, spans: list[tree.Span]) -> str:
    """The text with blanks in place of everything but the spans."""
    parts, position = [], 0
    for span in spans:
        parts += [blanks(text[position : span.start]), text[span.start : span.end]]
        position = span.end
    return "".join(parts)


def blanks(text: str) -> str:
    return "".join(character if character == "\n" else " " for character in text)


def moved(found: Diagnostic, file: str, offset: int) -> Diagnostic:
    """A finding in the program with the typed clauses at its end, as one in what was typed if it stands there."""
    return replace(found, file=INPUT, line=found.line - offset) if found.file == file and found.line > offset else found


def placed(found: Diagnostic, text: str, file: str, first_line: int) -> Diagnostic:
    """A finding in what was typed, with the line as it was typed."""
    if found.file not in (INPUT, "<query>") or not found.line:
        return found
    lines = text.split("\n")
    return replace(found, file=file, line=found.line + first_line - 1, text=lines[min(found.line, len(lines)) - 1].rstrip("\r"))
