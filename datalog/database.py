"""`Database`: a program and its facts in a Python process, kept true under transactions.

The module is as long as the class has signatures and docstrings; what methods do stands elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from datalog.errors import DataError, DatalogError, FunctionError, NotEvaluated, UnknownOption, UnknownPredicate
from datalog.ir.core import BASE, QUERY, Predicate
from datalog.ir.demand import Demand, names_of
from datalog.ir.functors import called_in
from datalog.last_words import DELETE_KEY, UPSERT, last_words
from datalog.program import compile_program, given_facts, quoting, read_program, with_included
from datalog.relation import Relation
from datalog.snapshot import Snapshot
from datalog.transaction import Changes, Transaction

if TYPE_CHECKING:
    from datalog.explain import Proof, WhyNot
    from datalog.functions import Function
    from datalog.ir.core import CoreProgram, Row
    from datalog.ir.formulas import Program
    from datalog.ir.primitives import Primitive
    from datalog.maintain.engine import Coalesce, Engine, Maintain, Progress
    from datalog.plan.forced import Orders
    from datalog.plan.order import Statistics
    from datalog.reading import Reading
    from datalog.rewrite import Source
    from datalog.stats import Stats
    from datalog.store.storage import Storage
    from datalog.store.values import Values

P = ParamSpec("P")
R = TypeVar("R")
Words = NDArray[np.int64]

QUERY_FILE = "<query>"  # the file of errors in queries


class Database:
    """A program with its relations.

    `program` is the text of a program, or a path to one (a `Path`, or a string that ends in `.dl`). With `facts`, a directory or a
    function of the program's pragmas that gives one, every `.input` predicate is loaded from it; without, no `.input` directive is
    followed, and given predicates start with the facts of the text. `maintain` forces a way of maintenance, "derived", "recorded" or
    "recompute"; "auto" takes the cheaper one, by what they cost. `coalesce` says how the sensitivity records of one context are joined
    ("hull", "run", "exact"). Results never depend on either.

    `orders` gives variable orders to rules, by their numbers as `datalog plan` shows them, or by the head of an only rule:
    `orders={"path": ["y", "x", "z"]}`. `max_rounds`, `max_rows` and `max_seconds` limit each recursion, each time it is
    evaluated or maintained; rounds are limited only where recursive rules compute values, and everything else ends anyway.

    `memory_limit`, in bytes or as a text such as "500MB", limits what `stats` counts. Where it would be passed, "auto" first gives up
    what it has recorded; then MemoryLimit is raised, and everything stays as it was.

    Large joins are split over `threads`, one for each core unless said otherwise; results and their order are the same for any number.

    `functions` are Python functions that rules call (`datalog.function`; plain ones with annotations will do), or that the program
    declares with `.functor`, which then tells their types; a mapping gives them by the names of functors. `libraries` are shared
    libraries with Soufflé's C functions, by their paths or as N of libN.so in the current folder.

    Where a computation has no value, `failing="skip"` takes the literal as one that does not hold; with "error" that is an
    EvaluationError. `overflow="wrap"` lets numbers wrap around that leave 64 bits, as Soufflé does, and floats be divided by zero;
    otherwise that is a computation without a value, unless `.pragma "overflow" "wrap"` says the same. Unsigned numbers always wrap
    around. `dialect="souffle"` wraps, too, and refuses what Soufflé refuses though it has a meaning here: predicates that nobody
    declares, a `.plan` for a rule that does not recurse. With `missing="empty"` a fact file that is not there has no rows.

    Predicates that are `on_demand`, given by name or with "*" all but outputs and those `whole`, are evaluated only as far as something
    asks for them that is not on demand itself: an output, or a `query`, which takes the time of what it needs. Programs say the same by
    `.pragma "magic-transform"`. With `outputs_only`, what no `.output` and no `.printsize` needs is not even read.

    `reading` (`datalog.reading.Reading`) says where included files are, and what a C preprocessor is told.

    Raises ProgramError for a wrong program (all its errors at once), DataError for bad facts, EvaluationError where a
    computation of a rule has no value or a limit is passed, SettingError for an option that has no such value and for an order that
    does not fit its rule, FunctionError for a function that cannot be one of the language.
    """

    def __init__(
        self,
        program: str | Path,
        *,
        facts: str | Path | Callable[[Mapping[str, str]], Path] | None = None,
        maintain: Maintain = "auto",
        coalesce: Coalesce = "hull",
        rows_per_page: int | None = None,
        threads: int | None = None,
        orders: Orders | None = None,
        max_rounds: int | None = None,
        max_rows: int | None = None,
        max_seconds: float | None = None,
        memory_limit: int | str | None = None,
        functions: Iterable[Function[..., Any] | Callable[..., Any]] | Mapping[str, Callable[..., Any]] = (),
        libraries: str | Path | Iterable[str | Path] = (),
        failing: Literal["error", "skip"] = "error",
        overflow: Literal["error", "wrap"] | None = None,
        dialect: Literal["any", "souffle"] | None = None,
        missing: Literal["error", "empty"] = "error",
        on_demand: str | Iterable[str] = (),
        whole: str | Iterable[str] = (),
        outputs_only: bool = False,
        progress: Progress | None = None,
        reading: Reading | None = None,
    ) -> None:
        from datalog.analysis.likely_typos import warn_of_unknown_on_demand
        from datalog.analysis.pragmas import threads_of
        from datalog.evaluate.fixpoint import Limits
        from datalog.evaluate.memo import Memo
        from datalog.evaluate.primitives import ColumnFunctions
        from datalog.functors import Functors, with_libraries
        from datalog.maintain.engine import Options
        from datalog.reading import Reading
        from datalog.settings import bytes_of, check_setting, of_program
        from datalog.store.values import Values

        optional = {
            "rows_per_page": rows_per_page,
            "threads": threads,
            "max_rounds": max_rounds,
            "max_rows": max_rows,
            "max_seconds": max_seconds,
            "overflow": overflow,
            "dialect": dialect,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        for name, value in {"maintain": maintain, "coalesce": coalesce, "failing": failing, "missing": missing, **given}.items():
            check_setting(name, value)
        usual = Limits()
        limits = Limits(
            usual.rounds if max_rounds is None else max_rounds,
            usual.rows if max_rows is None else max_rows,
            usual.seconds if max_seconds is None else max_seconds,
        )
        self.text, self.file = read_program(program, reading)
        self._orders = dict(orders or {})
        self._demand = Demand(names_of(on_demand), names_of(whole), outputs_only)
        self._settings, self._missing, self._reading = of_program(given), missing, reading
        self._values = Values()
        self._functors = Functors(functions, with_libraries((reading or Reading()).functors, libraries))
        self._functions = ColumnFunctions(self._values, self._functors.known)
        most_bytes = None if memory_limit is None else bytes_of(memory_limit)
        self._options = Options(maintain, coalesce, rows_per_page, limits, failing, Memo(self._functions), most_bytes, threads)
        self._entrance = RLock()
        self._subscribers: list[tuple[str, Callable[[Changes], object]]] = []
        self._version = 0
        self._asked: tuple[Program, Source] | None = None  # what queries are told of predicates on demand, and of which program
        self._compile(self.text)
        warn_of_unknown_on_demand(self._program, self._demand)
        if threads is None and "jobs" in self._program.pragmas:
            self._options = replace(self._options, threads=threads_of(self._program.pragmas["jobs"]))
        directory = facts(self._program.pragmas) if callable(facts) else None if facts is None else Path(facts)
        self._engine = self._evaluate(self._first_facts(directory), progress)

    # --- reading ----------------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Relation:
        """The relation of a predicate; it follows later transactions. KeyError for a name that the program does not know.

        Raises NotEvaluated for a predicate on demand: of all its rows there are only those that were asked for.
        """
        return Relation(self._readable(name), self._storage, self._values)

    def __iter__(self) -> Iterator[str]:
        """The names of all predicates."""
        return (name for name, predicate in self.predicates.items() if not predicate.hidden)

    def __contains__(self, name: object) -> bool:
        return name in self.predicates and not self.predicates[str(name)].hidden

    def __repr__(self) -> str:
        return f"<database {self.file.strip('<>')}: {', '.join(self) or 'no predicates'}; version {self.version}>"

    @property
    def predicates(self) -> Mapping[str, Predicate]:
        """Signatures, those of the engine's own predicates (`hidden`) included."""
        return self._core.predicates

    @property
    def on_demand(self) -> Collection[str]:
        """The predicates of which only what something asks for is evaluated. They have no relation; queries evaluate what they need."""
        return self._core.demanded.keys()

    @property
    def version(self) -> int:
        """How many transactions have been committed."""
        return self._version

    @property
    def statistics(self) -> Statistics:
        """What the planner knows of the predicates now."""
        return self._engine.joins.statistics

    @property
    def skipped(self) -> int:
        """How many computations without a value have been taken as literals that do not hold (`failing="skip"`)."""
        return self._engine.failures

    @property
    def steps(self) -> int:
        """Iterator operations that all joins have made so far: the measure of work that does not depend on the machine."""
        return self._engine.steps

    def stats(self) -> Stats:
        """What memory the database takes, and what for: each arrangement (a relation sorted by some order of its columns), the records
        of each rule, the states of aggregates, free pages and those of older versions, symbols, and what joins and functions keep.

        Prints as a table; `bytes` is the sum, and iteration gives the parts, the greatest first. O(pages).
        """
        from datalog.maintain.memory import parts_of
        from datalog.stats import Stats

        with self._lock:
            return Stats(parts_of(self._engine), self._options.memory_limit)

    def query(self, body: str) -> list[Row]:
        """The distinct bindings of the named variables of `body`, in order of their first appearance, sorted.

        What it asks of predicates on demand is evaluated for it, and not kept: to keep an answer true, give the program an output that
        asks, as in `out(y) :- asked(x), path(x, y).`, and change what `asked` holds.

        >>> Database("p(1, 2). p(2, 3).").query("p(x, y), p(y, _)")
        [(1, 2)]
        """
        return self.query_with_names(body)[1]

    def query_with_names(self, body: str) -> tuple[tuple[str, ...], list[Row]]:
        """The names of the query's variables and its rows, as `query` gives them."""
        from datalog.evaluate.query import run_query
        from datalog.io.rows import rows_of
        from datalog.rewrite import lower_query
        from datalog.syntax import parse_literals

        with self._lock:
            lowered = lower_query(parse_literals(body, QUERY_FILE), self._program, body, self._primitives, self._source())
            self._bind(called_in(lowered.rules, lowered.strata))
            head = lowered.predicates[QUERY]
            with quoting(body, QUERY_FILE):
                joins = self._engine.joins
                codes = run_query(self._engine.storage, lowered, joins.join, self._values, joins.memo, self._options.limits)
            return head.attributes, rows_of(self._values.sort_by_value(codes, head.types), head, self._values)

    def explain(self, fact: str, *, depth: int | None = None) -> Proof:
        """Why a fact, such as "path(1, 3)", holds: a proof tree, which prints as one; `depth` limits how many levels it has.

        Raises DatalogError if the fact does not hold (`why_not` says why) or is none of the program.
        """
        from datalog.explain import explain
        from datalog.explained_engines import engine_that_holds

        with self._lock:
            return explain(engine_that_holds(self._program, self._engine, fact), self._program.text, fact, depth)

    def why_not(self, fact: str) -> WhyNot:
        """Why a fact does not hold: for each rule that could derive it, how far it gets and the first literal that fails.

        Raises DatalogError if the fact holds or is none of the program.
        """
        from datalog.explain import why_not
        from datalog.explained_engines import engine_that_is_whole

        with self._lock:
            return why_not(engine_that_is_whole(self._program, self._engine, fact), self._program.text, fact)

    def snapshot(self) -> Snapshot:
        """The present version, to read while others write. Close it, or use it in a `with`, to give its pages back."""
        with self._lock:
            return Snapshot(self._engine, self._version)

    # --- writing ----------------------------------------------------------------------------------------------------------

    def transaction(self) -> Transaction:
        """A new transaction: stage changes on it, then commit; or use it in a `with`."""
        return Transaction(self)

    def load(
        self,
        predicate: str,
        path: str | Path,
        *,
        delimiter: str | None = None,
        headers: bool = False,
        rfc4180: bool | None = None,
        null: str | Iterable[str] | None = None,
        defaults: Mapping[str, object] | None = None,
        rejects: str | Path | None = None,
        **unknown: object,
    ) -> Changes:
        """Insert the rows of a file in one transaction: .csv, with commas and quotes, .tsv, .facts and .txt, with tabs, each also as .gz.

        `delimiter` and `rfc4180`, whether fields may be quoted, overrule the extension. With `headers` the first line names the columns:
        in any order if the names are the predicate's, and if none of them is, columns go by position.

        `null` names cells that hold no value ("NA|NULL", or a collection; "" is the empty cell), and `defaults` what their columns then
        hold: {"age": -1}. Rows with bad cells, or with a null and no default, go to the CSV file `rejects`, and a warning counts them.

        Raises DataError with file, row and column of bad rows where there is no `rejects`, UnknownOption for another keyword.
        """
        from datalog.io.facts import read_table, unknown_option

        if unknown:
            raise UnknownOption(unknown_option(next(iter(unknown))))
        given = self.predicates[self._given(predicate)]
        codes = read_table(
            Path(path),
            given,
            self._values,
            delimiter=delimiter,
            headers=headers,
            rfc4180=rfc4180,
            null=null,
            defaults=defaults,
            rejects=rejects,
        )
        transaction = self.transaction()
        transaction.stage(predicate, codes)
        try:
            return transaction.commit()
        except DataError as error:
            own = f"<rows of {predicate}>"
            raise DataError([replace(one, file=str(path)) if one.file == own else one for one in error.diagnostics]) from None

    def subscribe(self, predicate: str, callback: Callable[[Changes], object]) -> Callable[[], None]:
        """Call `callback(changes)` after each commit that changed `predicate`; returns a function that ends this, once and for all."""
        self._readable(predicate)
        entry = (predicate, callback)
        self._subscribers.append(entry)

        def end() -> None:
            self._subscribers = [one for one in self._subscribers if one is not entry]

        return end

    def add_rules(self, text: str) -> None:
        """Add clauses to the program, with the files that they include. The given facts stay, and everything derived is evaluated anew."""
        with self._lock:
            self._replace_program(self.extended(text))

    @overload
    def function(self, call: Callable[P, R], /) -> Function[P, R]: ...
    @overload
    def function(
        self, *arguments: str, returns: str | None = None, columns: bool = False, name: str | None = None
    ) -> Callable[[Callable[P, R]], Function[P, R]]: ...
    def function(self, *arguments: Any, returns: str | None = None, columns: bool = False, name: str | None = None) -> Any:
        """A decorator as `datalog.function`, which also lets the rules call the function that come by `add_rules` or in queries.

        Raises FunctionError also if there is a function of that name already.
        """
        from datalog.functions import function

        if len(arguments) == 1 and callable(arguments[0]):
            return self._know(arguments[0], lambda call: function(call, returns=returns, columns=columns, name=name), name, columns)
        made = function(*arguments, returns=returns, columns=columns, name=name)
        return lambda call: self._know(call, made, name, columns)

    def _know(self, call: Any, made: Callable[[Any], Any], name: str | None, columns: bool) -> Any:
        """Let rules call a function; one that the program declares as a functor need not tell its types."""
        with self._lock:
            functor = self._program.functors.get(name or str(getattr(call, "__name__", "")))
            if functor is not None:
                return self._functors.add_functor(functor, call, columns)
            function = made(call)
            self._functors.add(function)
            self._functions.known.update(self._functors.known)
        return function

    # --- checking ---------------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Evaluate everything from scratch with no shared state, and compare; check every tree.

        Raises InternalError that names the first predicate whose maintained rows or support counts differ.
        """
        from datalog.maintain.check import check_engine

        with self._lock:
            check_engine(self._engine)

    # --- what transactions and faces use ------------------------------------------------------------------------------------

    @property
    def program(self) -> Program:
        """The quantified rules."""
        return self._program

    @property
    def core(self) -> CoreProgram:
        """The core rules that are evaluated."""
        return self._core

    @property
    def values(self) -> Values:
        """What gives codes their values."""
        return self._values

    def extended(self, text: str) -> str:
        """The program's text with more of it, and with what that includes."""
        whole = f"{self.text.rstrip()}\n{text}\n"
        return with_included(whole, self.file, self._reading) if "#" in text or ".include" in text else whole

    def compiled(self, text: str) -> CoreProgram:
        """Another program text, with the functions of this database."""
        return compile_program(text, self.file, self._primitives, self._settings)[1]

    def encode(self, name: str, rows: Any, word: int) -> Words:
        """The codes of rows that `word` is said of (`datalog.last_words`). For transactions."""
        from datalog.io.keyed import keyed_rows, keys_from

        self._given(name, word)
        with self._lock:
            if word == DELETE_KEY:
                keys = keys_from(rows, self._predicate(name), self._values)
                return np.column_stack((keys, np.zeros(len(keys), np.int64)))
            return keyed_rows(rows, self._predicate(name), self._values)

    def _given(self, name: str, *words: int) -> str:
        """The given predicate that stores the facts of `name`. DatalogError if there is none, or none that `words` suit."""
        predicate = self._predicate(name)
        if not predicate.functional and (UPSERT in words or DELETE_KEY in words):
            raise DatalogError(f"{name} is no functional predicate, so its rows have no keys; insert and delete rows")
        if not predicate.derived:
            return name
        if predicate.base:
            return predicate.base
        raise DatalogError(
            f"{name} is derived by rules and has no facts of its own; change what it is derived from, or declare `.input {name}`"
        )

    def commit(self, transaction: Transaction, staged: Mapping[str, Sequence[tuple[Words, int]]]) -> None:
        """Apply the rows staged for each predicate, and tell the transaction and the subscribers.

        A subscriber that raises does not keep the others from being told; its exception is raised then. The commit stands.
        """
        with self._lock:
            changes = {}
            for name, blocks in staged.items():
                # Rules that were added since the rows were staged may derive their predicates.
                stored = self._given(name, *[word for _, word in blocks])
                changes[stored] = last_words(blocks, partial(self._engine.functions.stored, stored))
            with quoting(self._program.text, self.file):
                deltas = self._engine.apply(changes)
            self._version += 1
            done = Changes(self._version, deltas, self.predicates, self._values, self.on_demand)
            transaction.committed(done)
            with ExitStack() as told:  # calls back in reverse, each whatever the others raise
                told.callback(self._engine.settle)
                for predicate, callback in reversed(self._subscribers):
                    if predicate in done:
                        told.callback(callback, done)

    @property
    def _lock(self) -> RLock:
        """What every use of the database is made under."""
        self._refuse_functions()
        return self._entrance

    def _refuse_functions(self) -> None:
        """Raise FunctionError within a function that rules call: it has to be pure."""
        if self._functions.calling:
            raise FunctionError("a function that rules call can neither read nor change their database; pass it what it needs as arguments")

    @property
    def _primitives(self) -> dict[str, tuple[Primitive, ...]]:
        from datalog.functions import signatures

        return signatures(self._functions.known)

    def _storage(self) -> Storage:
        self._refuse_functions()
        return self._engine.storage

    def _predicate(self, name: str) -> Predicate:
        predicate = self.predicates.get(name)
        if predicate is None or predicate.hidden:
            import difflib

            if name in self._program.inline:
                raise UnknownPredicate(f"{name} is inline, so none of its rows are kept: query it, or declare it without `inline`")
            close = difflib.get_close_matches(name, list(self), 1)
            raise UnknownPredicate(f"there is no predicate {name}" + (f"; did you mean {close[0]}?" if close else ""))
        return predicate

    def _readable(self, name: str) -> Predicate:
        """A predicate all of whose rows are there."""
        predicate = self._predicate(name)
        if name in self.on_demand:
            raise NotEvaluated(name, predicate.attributes)
        return predicate

    def _source(self) -> Source | None:
        """What a query is told of predicates on demand."""
        from datalog.rewrite import Source, simplify

        if not self._core.demanded:
            return None
        if self._asked is None or self._asked[0] is not self._program:
            self._asked = self._program, Source(simplify(self._program), self._core.predicates.keys() - self._core.demanded.keys())
        return self._asked[1]

    def _compile(self, text: str) -> None:
        from datalog.plan.forced import force_orders

        self._program, core = compile_program(text, self.file, self._primitives, self._settings, self._demand)
        self._core = force_orders(core, self._orders)
        self._functors.declared(self._program.functors)
        self._bind(called_in(core.rules, core.strata))

    def _bind(self, called: set[str]) -> None:
        """Find the functions of functors that are called."""
        if called:
            with quoting(self._program.text, self.file):
                self._functions.functors.update(self._functors.bind(self._program.functors, called, self._values))

    def _first_facts(self, directory: Path | None) -> dict[str, Words]:
        from datalog.conflicts import Start, refuse_conflicts
        from datalog.store.rows import sort_distinct

        with quoting(self.text, self.file):
            facts = {name: sort_distinct(rows) for name, rows in given_facts(self._core, directory, self._values, self._missing).items()}
            refuse_conflicts(Start(self._program, self._core, directory), facts, self._values)
        return facts

    def _evaluate(self, facts: Mapping[str, Words], progress: Progress | None = None) -> Engine:
        from datalog.maintain.engine import Engine

        with quoting(self._program.text, self.file):
            return Engine(self._core, self._values, facts, self._options, progress)

    def _replace_program(self, text: str) -> None:
        """Change to another program text, keeping the given facts; on an error everything stays as it was."""
        from datalog.conflicts import Start, refuse_conflicts

        before = self.text, self._program, self._core
        try:
            self._compile(text)
            # A fact of the old text is among the given rows, or has been deleted since.
            old = {(name.removesuffix(BASE), row) for name, rows in before[2].facts.items() for row in rows}
            new = {name: [row for row in rows if (name.removesuffix(BASE), row) not in old] for name, rows in self._core.facts.items()}
            facts = {name: self._values.encode_rows(rows, self.predicates[name].types) for name, rows in new.items() if rows}
            facts = self._carried_over(before[2].predicates, facts)
            with quoting(text, self.file):
                refuse_conflicts(Start(self._program, self._core, None), facts, self._values)
            self._engine = self._evaluate(facts)
            self.text = text
        except BaseException:
            _, self._program, self._core = before
            raise

    def _carried_over(self, before: Mapping[str, Predicate], facts: dict[str, Words]) -> dict[str, Words]:
        """The present given rows under the names that the new program stores them by, with the new text's facts."""
        from datalog.store.rows import sort_distinct

        for name, predicate in before.items():
            public = name.removesuffix(BASE)
            kept = self.predicates.get(public)
            if predicate.derived or kept is None:
                continue
            if kept.types != predicate.types:
                raise DatalogError(f"{public} has facts of other types than it now is declared with")
            rows = self._engine.storage.rows(name, self._engine.storage.committed)
            stored = kept.base if kept.derived else public
            if len(rows) and not stored:
                raise DatalogError(f"{public} has facts, and the new rules derive it; declare `.input {public}` to have both")
            if stored:
                facts[stored] = sort_distinct(np.concatenate((facts[stored], rows))) if stored in facts else rows
        return {name: sort_distinct(rows) for name, rows in facts.items()}
