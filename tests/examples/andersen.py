"""A points-to analysis by a worklist, in plain Python, that shares no code and no rules with the example.

The program becomes a graph: nodes are variables, static fields, (object, field) pairs and array contents; an edge says that
what its start points to, its end points to as well, if it fits the edge's class. Objects travel along edges one at a
time; an object that arrives at a variable may give rise to new edges (fields, elements, calls), which then carry what has
arrived before. Facts are rows of text.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from functools import cache
from pathlib import Path

Rows = set[tuple[str, ...]]
Node = str | tuple[str, ...]

STRINGS = "<string constants>"
MAIN = "([Ljava/lang/String;)V"
UNUSED = {"ApplicationClass", "ArrayType", "ClassType", "Var-DeclaringMethod", "Var-Type"}
ABOVE_ARRAYS = {"java.lang.Object", "java.lang.Cloneable", "java.io.Serializable"}


def read(directory: Path) -> dict[str, Rows]:
    """The rows of all `*.facts.gz` that the analysis reads."""
    facts: dict[str, Rows] = {}
    for path in directory.glob("*.facts.gz"):
        name = path.name.removesuffix(".facts.gz")
        if name not in UNUSED:
            lines = set(gzip.decompress(path.read_bytes()).decode().split("\n")) - {""}
            facts[name] = {tuple(line.split("\t")) for line in lines}
    return facts


class Andersen:
    """The analysis of one program. After `solve`, `points` and `calls` and `reachable` hold the answer."""

    def __init__(self, facts: dict[str, Rows]) -> None:
        self.facts = facts
        self.points: dict[Node, set[str]] = defaultdict(set)
        self.edges: dict[Node, set[tuple[Node, str]]] = defaultdict(set)
        self.calls: set[tuple[str, str]] = set()
        self.reachable: set[str] = set()
        self._initialised: set[str] = set()
        self._pending: list[tuple[Node, str]] = []
        self._classes()
        self._bodies()

    # --- what the text says, indexed ---

    def _classes(self) -> None:
        facts = self.facts
        self.class_of = _pairs(facts["NormalHeap"] | facts["HeapAllocation_Type_Prefill"])
        self.superclass = _pairs(facts["DirectSuperclass"])
        self.component = _pairs(facts["ComponentType"])
        self.parents = _column(facts["DirectSuperclass"] | facts["DirectSuperinterface"], 0, 1)
        for (interface,) in facts["InterfaceType"]:
            self.parents[interface].append("java.lang.Object")
        abstract = {method for modifier, method in facts["Method-Modifier"] if modifier == "abstract"}
        self.method = {row[0]: row for row in facts["Method"]}
        self.concrete = {(row[3], row[1], row[5]): row[0] for row in facts["Method"] if row[0] not in abstract}
        self.initialiser = {row[3]: row[0] for row in facts["Method"] if row[1] == "<clinit>"}
        self.class_of_field = {row[0]: row[1] for row in facts["Field"]}
        self.above = cache(self._above)
        self.dispatch = cache(self._dispatch)

    def _bodies(self) -> None:
        facts = self.facts
        strings = {text for (text,) in facts["StringConstant"]}
        self.allocations: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for _, _, what, to, method, _ in facts["AssignHeapAllocation"]:
            self.allocations[method].append((to, STRINGS if what in strings else what))
        self.class_of[STRINGS] = "java.lang.String"
        self.loads = _group(facts["LoadInstanceField"], 3, 2, 4)
        self.stores = _group(facts["StoreInstanceField"], 3, 2, 4)
        self.element_loads = _column(facts["LoadArrayIndex"], 3, 2)
        self.element_stores = _column(facts["StoreArrayIndex"], 3, 2)
        self.static_loads = _group(facts["LoadStaticField"], 4, 2, 3)
        self.static_stores = _column(facts["StoreStaticField"], 4, 3)
        self.virtual = _group(facts["VirtualMethodInvocation"], 3, 0, 2)
        self.special = _group(facts["SpecialMethodInvocation"], 3, 0, 2)
        self.static = _group(facts["StaticMethodInvocation"], 3, 0, 2)
        self.this = _pairs(facts["ThisVar"])
        self.formals = {(method, place): variable for place, method, variable in facts["FormalParam"]}
        self.actuals = _group(facts["ActualParam"], 1, 0, 2)
        self.results = _column(facts["Return"], 3, 2)
        self.receivers = _column(facts["AssignReturnValue"], 0, 1)

    # --- classes ---

    def _above(self, name: str) -> frozenset[str]:
        """The class and everything above it, arrays aside."""
        found, pending = {name}, [name]
        while pending:
            new = set(self.parents[pending.pop()]) - found
            found |= new
            pending += new
        return frozenset(found)

    def fits(self, name: str, wanted: str) -> bool:
        """Whether an object of class `name` may stand where `wanted` is."""
        while name in self.component and wanted in self.component:
            name, wanted = self.component[name], self.component[wanted]
        return wanted in self.above(name) or (name in self.component and wanted in ABOVE_ARRAYS)

    def _dispatch(self, name: str, method: str) -> str | None:
        """What an object of class `name` answers a call of `method` with."""
        _, simple, _, _, _, descriptor, _ = self.method[method]
        current: str | None = "java.lang.Object" if name in self.component else name
        while current is not None:
            if found := self.concrete.get((current, simple, descriptor)):
                return found
            current = self.superclass.get(current)
        return None

    # --- the worklist ---

    def solve(self) -> Andersen:
        for _, _, source, target, _ in self.facts["AssignLocal"]:
            self._edge(source, target)
        for _, _, source, target, name, _ in self.facts["AssignCast"]:
            self._edge(source, target, name)
        for _, _, source, field, _ in self.facts["StoreStaticField"]:
            self._edge(source, ("static", field))
        for (name,) in self.facts["MainClass"]:
            main = self.concrete[name, "main", MAIN]
            for (arguments,) in self.facts["MainMethodArgArray"]:
                self._add(self.formals[main, "0"], arguments)
                for (content,) in self.facts["MainMethodArgArrayContent"]:
                    self._add(("elements", arguments), content)
            self._initialise(name)
            self._reach(main)
        while self._pending:
            node, thing = self._pending.pop()
            for end, wanted in tuple(self.edges[node]):
                self._pass(thing, end, wanted)
            if isinstance(node, str):
                self._arrive(node, thing)
        return self

    def _add(self, node: Node, thing: str) -> None:
        if thing not in self.points[node]:
            self.points[node].add(thing)
            self._pending.append((node, thing))

    def _pass(self, thing: str, target: Node, name: str) -> None:
        if not name or self.fits(self._class(thing), name):
            self._add(target, thing)

    def _edge(self, source: Node, target: Node, name: str = "") -> None:
        if (target, name) not in self.edges[source]:
            self.edges[source].add((target, name))
            for thing in tuple(self.points[source]):
                self._pass(thing, target, name)

    def _class(self, thing: str) -> str:
        return self.class_of.get(thing, "java.lang.Class")

    def _arrive(self, variable: str, thing: str) -> None:
        """`variable` has come to point to `thing`: its fields and elements are read and written, its methods called."""
        for target, field in self.loads[variable]:
            self._edge((thing, field), target)
        for source, field in self.stores[variable]:
            self._edge(source, (thing, field))
        for target in self.element_loads[variable]:
            self._edge(("elements", thing), target)
        if component := self.component.get(self._class(thing)):
            for source in self.element_stores[variable]:
                self._edge(source, ("elements", thing), component)
        for call, method in self.special[variable]:
            self._call(call, method)
            self._add(self.this[method], thing)
        for call, method in self.virtual[variable]:
            if answering := self.dispatch(self._class(thing), method):
                self._call(call, answering)
                self._add(self.this[answering], thing)

    def _call(self, call: str, method: str) -> None:
        if (call, method) in self.calls:
            return
        self.calls.add((call, method))
        for place, actual in self.actuals[call]:
            if formal := self.formals.get((method, place)):
                self._edge(actual, formal)
        for target in self.receivers[call]:
            for result in self.results[method]:
                self._edge(result, target)
        self._reach(method)

    def _reach(self, method: str) -> None:
        if method in self.reachable:
            return
        self.reachable.add(method)
        for target, thing in self.allocations[method]:
            self._add(target, thing)
            self._initialise(self._class(thing))
        for target, field in self.static_loads[method]:
            self._edge(("static", field), target)
            self._initialise(self.class_of_field[field])
        for field in self.static_stores[method]:
            self._initialise(self.class_of_field[field])
        for call, called in self.static[method]:
            self._initialise(self.method[called][3])
            self._call(call, called)

    def _initialise(self, name: str) -> None:
        current: str | None = "java.lang.Object" if name in self.component else name
        while current is not None and current not in self._initialised:
            self._initialised.add(current)
            if initialiser := self.initialiser.get(current):
                self._reach(initialiser)
            current = self.superclass.get(current)

    # --- the answer ---

    def relations(self) -> dict[str, Rows]:
        """The answer under the names, and in the columns, of the example's relations."""
        answer: dict[str, Rows] = {"CallGraphEdge": set(self.calls), "Reachable": {(method,) for method in self.reachable}}
        names = ("VarPointsTo", "InstanceFieldPointsTo", "StaticFieldPointsTo", "ArrayPointsTo")
        answer |= {name: set() for name in names}
        for node, things in self.points.items():
            if isinstance(node, str):
                answer["VarPointsTo"] |= {(node, thing) for thing in things}
            elif node[0] == "static":
                answer["StaticFieldPointsTo"] |= {(node[1], thing) for thing in things}
            elif node[0] == "elements":
                answer["ArrayPointsTo"] |= {(node[1], thing) for thing in things}
            else:
                answer["InstanceFieldPointsTo"] |= {(*node, thing) for thing in things}
        return answer


def _pairs(rows: Rows) -> dict[str, str]:
    return {row[0]: row[1] for row in rows}


def _column(rows: Rows, key: int, column: int) -> dict[str, list[str]]:
    """The values of one column by another one."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row[column])
    return found


def _group(rows: Rows, key: int, *columns: int) -> dict[str, list[tuple[str, ...]]]:
    """Rows by one column, cut to others."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(tuple(row[column] for column in columns))
    return found
