"""The order of the packages: what each may import, and what must not be imported before it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import datalog

ROOT = Path(datalog.__file__).parent
LAYERS = ("syntax", "ir", "analysis", "rewrite", "plan", "kernels", "store", "evaluate", "maintain", "io", "explain")

# What a package may import besides itself and `errors`; a name stands for the module and all below it.
ALLOWED: dict[str, tuple[str, ...]] = {
    "syntax": ("cache_folder",),
    "ir": ("syntax.tree",),
    "analysis": ("syntax", "ir"),
    "rewrite": ("syntax", "ir", "analysis"),
    "plan": ("syntax.tree", "ir.core", "ir.primitives", "kernels.encoding", "kernels.layout"),
    "kernels": ("cache_folder",),
    "store": ("ir.branch", "ir.core", "ir.spelling", "ir.structures", "kernels"),
    "evaluate": ("ir.core", "ir.primitives", "ir.spelling", "ir.structures", "plan", "kernels", "store"),
    "maintain": ("syntax.tree", "ir.core", "ir.spelling", "plan", "kernels", "store", "evaluate"),
    "io": ("syntax.tree", "syntax.constants", "ir.branch", "ir.core", "ir.spelling", "ir.structures", "store"),
    "explain": (
        "syntax",
        "ir",
        "analysis.findings",
        "rewrite.forget_singletons",
        "plan",
        "store",
        "evaluate.classes",
        "evaluate.join",
        "evaluate.sources",
        "maintain.engine",
        "io.literals",
        "io.rows",
    ),
}

# Where the outside is let in.
OWNERS: dict[str, tuple[str, ...]] = {
    "numba": ("kernels",),
    "lark": ("syntax",),
    "pyarrow": ("io", "store"),
    "click": ("cli", "demand_options", "reading_options", "souffle_options"),
    "rich": ("render", "progress"),
    "prompt_toolkit": ("prompt",),
    "pygments": ("highlight",),
}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, also within functions and for type checking; of `from datalog.a import b` the module datalog.a.b
    if there is one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    within = ROOT.parent.joinpath(*module.split("."), alias.name)
                    yield f"{module}.{alias.name}" if within.with_suffix(".py").is_file() or within.is_dir() else module
            case ast.ImportFrom(level=level):
                raise AssertionError(f"{path} has a relative import of level {level}")
            case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
                yield name


def own_modules(path: Path) -> Iterator[str]:
    for name in imports(path):
        if name.partition(".")[0] == "datalog":
            yield name.partition(".")[2]


def is_in(module: str, places: tuple[str, ...]) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in places)


def test_every_package_has_its_line_in_the_table() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == set(LAYERS) == set(ALLOWED)


@pytest.mark.parametrize("package", LAYERS)
def test_a_package_imports_only_what_the_table_allows(package: str) -> None:
    allowed = ("errors", package, *ALLOWED[package])
    for path in (ROOT / package).rglob("*.py"):
        wrong = [module for module in own_modules(path) if not is_in(module, allowed)]
        assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(wrong)}"


def test_the_table_has_no_line_that_nobody_needs() -> None:
    for package, allowed in ALLOWED.items():
        used = {module for path in (ROOT / package).rglob("*.py") for module in own_modules(path)}
        for place in allowed:
            assert any(is_in(module, (place,)) for module in used), f"{package} does not import {place}"


def test_the_store_knows_no_plans() -> None:
    assert not any(is_in(module, ("plan",)) for path in (ROOT / "store").rglob("*.py") for module in own_modules(path))


def test_errors_import_nothing_of_ours() -> None:
    assert not list(own_modules(ROOT / "errors.py"))


@pytest.mark.parametrize("library", sorted(OWNERS))
def test_a_library_is_imported_only_where_it_belongs(library: str) -> None:
    found = False
    for path in ROOT.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if any(name.partition(".")[0] == library for name in imports(path)):
            found = True
            assert is_in(module, OWNERS[library]), f"{module} imports {library}"
    assert found


def loaded_by(statement: str) -> set[str]:
    """The names of all top-level modules that a fresh process has loaded after a statement."""
    report = "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    script = f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\n{report}"
    return set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import datalog",
        *(f"from datalog.cli import main; main({arguments!r})" for arguments in (["--help"], ["run", "--help"], ["--version"])),
    ],
)
def test_import_and_help_load_no_heavy_library(statement: str) -> None:
    assert loaded_by(statement).isdisjoint({"numba", "pyarrow", "lark", "numpy", "rich", "prompt_toolkit", "pygments"})


def test_check_and_plan_do_not_load_the_kernels(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text("p(x) :- e(x, _).\ne(1, 2).\n")
    for command in ("check", "plan"):
        loaded = loaded_by(f"from datalog.cli import main; main({[command, str(program)]!r})")
        assert loaded.isdisjoint({"numba", "pyarrow", "rich", "prompt_toolkit"})


def test_every_public_name_is_there() -> None:
    for name in datalog.__all__:
        assert getattr(datalog, name).__name__ == name
    assert set(datalog.__all__) <= set(dir(datalog))
    with pytest.raises(AttributeError, match="no attribute 'Databse'"):
        datalog.Databse  # noqa: B018
