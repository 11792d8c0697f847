"""Cut the extract in `facts/` from the whole program's facts: python make_extract.py FACTS_DIR [TARGET_DIR].

The extract keeps all methods of the application's classes and of a few classes of the library, whole: every instruction that
they hold. Of the other methods that they call it keeps the signature without a body, so there the analysis ends. Of classes it keeps
those that are so named, and all above them.
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
    "Return": 3,
}
BY_SIGNATURE = {"Method": 0, "Method-Modifier": 1, "ThisVar": 0, "FormalParam": 1}
CALLS = ("VirtualMethodInvocation", "SpecialMethodInvocation", "StaticMethodInvocation")


def read(source: Path, name: str) -> set[Row]:
    """The rows of one relation; some files hold rows many times."""
    lines = set(gzip.decompress((source / f"{name}.facts.gz").read_bytes()).decode().split("\n")) - {""}
    return {tuple(line.split("\t")) for line in lines}


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

    named = kept | {row[2] for name in CALLS for row in extract[name]}
    extract |= {name: {row for row in read(source, name) if row[column] in named} for name, column in BY_SIGNATURE.items()}

    fields = {
        row[-2] for name in ("LoadInstanceField", "StoreInstanceField", "LoadStaticField", "StoreStaticField") for row in extract[name]
    }
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
    extract["InterfaceType"] = {row for row in read(source, "InterfaceType") if row[0] in classes}
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
