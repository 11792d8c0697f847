"""Cut the extract in `facts/` from the whole program's facts: python make_extract.py FACTS_DIR [TARGET_DIR].

The extract keeps the bodies of the application's methods and of the few library classes below, whole methods only: every
instruction, variable and parameter of a kept method, and everything known about the kept classes and their superclasses. Methods
of other classes keep no body, so a call of one of them leads nowhere.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable
from pathlib import Path

Row = tuple[str, ...]

# Nested classes come along.
LIBRARY = {
    "java.lang.Object",
    "java.lang.Throwable",
    "java.lang.Exception",
    "java.lang.Error",
    "java.util.AbstractCollection",
    "java.util.AbstractList",
    "java.util.AbstractMap",
    "java.util.AbstractSet",
    "java.util.ArrayList",
    "java.util.HashMap",
    "java.util.Vector",
}
WHOLE = (
    "MainClass",
    "MainMethodArgArray",
    "MainMethodArgArrayContent",
    "HeapAllocation_Type_Prefill",
)
BY_METHOD = {  # the column that names the method whose body the row belongs to
    "AssignHeapAllocation": 4,
    "AssignLocal": 4,
    "AssignCast": 5,
    "LoadInstanceField": 5,
    "StoreInstanceField": 5,
    "LoadStaticField": 4,
    "StoreStaticField": 4,
    "LoadArrayIndex": 4,
    "StoreArrayIndex": 4,
    "VirtualMethodInvocation": 4,
    "SpecialMethodInvocation": 4,
    "StaticMethodInvocation": 3,
    "FormalParam": 1,
    "Return": 3,
    "ThisVar": 0,
}
CALLS = ("VirtualMethodInvocation", "SpecialMethodInvocation", "StaticMethodInvocation")


def read(source: Path, name: str) -> set[Row]:
    with gzip.open(source / f"{name}.facts.gz", "rt", encoding="utf-8", newline="\n") as lines:
        return {tuple(line.rstrip("\n").split("\t")) for line in lines}


def cut(source: Path) -> dict[str, set[Row]]:
    """The rows that the extract keeps, per relation."""
    application = {name for (name,) in read(source, "ApplicationClass")}
    methods = read(source, "Method")
    kept = {row[0] for row in methods if row[3] in application or row[3].partition("$")[0] in LIBRARY}
    extract = {name: read(source, name) for name in WHOLE}
    extract |= {name: {row for row in read(source, name) if row[column] in kept} for name, column in BY_METHOD.items()}

    calls = {row[0] for name in CALLS for row in extract[name]}
    extract["ActualParam"] = {row for row in read(source, "ActualParam") if row[1] in calls}
    extract["AssignReturnValue"] = {row for row in read(source, "AssignReturnValue") if row[0] in calls}

    # A method without a body is kept where a call names it: the call's name and descriptor are looked up there.
    named = kept | {row[2] for name in CALLS for row in extract[name]}
    extract["Method"] = {row for row in methods if row[0] in named}
    extract["Method-Modifier"] = {row for row in read(source, "Method-Modifier") if row[1] in named}

    fields = {row[-2] for name in ("LoadInstanceField", "StoreInstanceField", "LoadStaticField", "StoreStaticField") for row in extract[name]}
    extract["Field"] = {row for row in read(source, "Field") if row[0] in fields}
    objects = {row[2] for row in extract["AssignHeapAllocation"]}
    extract["NormalHeap"] = {row for row in read(source, "NormalHeap") if row[0] in objects}
    extract["StringConstant"] = {row for row in read(source, "StringConstant") if row[0] in objects}

    classes = {row[3] for row in extract["Method"]} | {row[1] for row in extract["NormalHeap"]} | {row[4] for row in extract["AssignCast"]}
    extract["ComponentType"] = {row for row in read(source, "ComponentType") if row[0] in classes}
    classes |= {row[1] for row in extract["ComponentType"]}
    above = {name: read(source, name) for name in ("DirectSuperclass", "DirectSuperinterface")}
    classes = closure(classes, above["DirectSuperclass"] | above["DirectSuperinterface"])
    extract |= {name: {row for row in rows if row[0] in classes} for name, rows in above.items()}
    return extract


def closure(classes: set[str], above: Iterable[Row]) -> set[str]:
    """The classes and everything above them."""
    parents: dict[str, list[str]] = {}
    for name, parent in above:
        parents.setdefault(name, []).append(parent)
    found, pending = set(classes), list(classes)
    while pending:
        new = [parent for parent in parents.get(pending.pop(), ()) if parent not in found]
        found.update(new)
        pending += new
    return found


def write(extract: dict[str, set[Row]], target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, rows in extract.items():
        text = "".join("\t".join(row) + "\n" for row in sorted(rows))
        (target / f"{name}.facts.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(cut(Path(sys.argv[1])), Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).parent / "facts")
