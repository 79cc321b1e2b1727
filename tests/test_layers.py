"""The layers of `src/teeny` hold: each imports only from its left; files stay small; `import teeny` stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "teeny"

# From left to right; the names of one row stand side by side and do not see each other.
ROWS = (
    ("diag",),
    ("ir",),
    ("ops",),
    ("language",),
    ("frontend",),
    ("passes",),
    ("checks",),
    ("backends",),
    ("runtime",),
    ("tune", "port", "torch", "triton", "bundle", "nn"),
    ("cli",),
)
RANK = {name: rank for rank, row in enumerate(ROWS) for name in row}
SURFACE = {"__init__", "__main__"}  # the public names of the package, above every layer
SURFACE_NAMES = {"__version__"}  # what a layer may take from there

LONGEST, USUAL, USUAL_SHARE = 600, 450, 0.9
HEAVY = ("numpy", "ml_dtypes", "llvmlite", "triton", "torch", "cuda")


def is_type_checking(test: ast.expr) -> bool:
    """Whether an `if` guards what only a type checker reads."""
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def imported(tree: ast.AST, package: tuple[str, ...]) -> list[tuple[int, str]]:
    """Line and dotted name of each import in a module of `package`, in functions too; `a.b` for `from a import b`."""
    found: list[tuple[int, str]] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and is_type_checking(node.test):
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.Import):
            found.extend((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            prefix = ".".join((*base, *(node.module or "").split("."))).rstrip(".")
            found.extend((node.lineno, f"{prefix}.{name.name}") for name in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in {
            "import_module",
            "__import__",
        }:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and not first.value.startswith("."):
                found.append((node.lineno, first.value))
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return found


def violations(source: Path) -> list[str]:
    """Each import under `source` that goes to the right or sideways, as `file:line: why`."""
    faults: list[str] = []
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        layer = parts[0]
        if len(parts) == 1 and layer in SURFACE:
            continue
        if layer not in RANK or len(parts) == 1:
            faults.append(f"{'/'.join(parts)}.py: belongs to no layer")
            continue
        for line, name in imported(ast.parse(path.read_text(), str(path)), ("teeny", *parts[:-1])):
            top, _, rest = name.partition(".")
            target = rest.partition(".")[0]
            if top != "teeny" or target == layer or target in SURFACE_NAMES:
                continue
            where = f"{'/'.join(parts)}.py:{line}"
            if target not in RANK:
                faults.append(f"{where}: imports {name} from the surface of the package")
            elif RANK[target] >= RANK[layer]:
                faults.append(f"{where}: {layer} imports {name}, and {target} is not on its left")
    return faults


def test_each_layer_imports_only_from_its_left() -> None:
    assert not violations(SOURCE), "\n" + "\n".join(violations(SOURCE))


def test_every_layer_exists() -> None:
    assert [name for name in RANK if not (SOURCE / name / "__init__.py").exists()] == []


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        (
            "ir/core.py",
            "from teeny.ops import scan\n",
            "ir/core.py:1: ir imports teeny.ops.scan, and ops is not on its left",
        ),
        (
            "ir/core.py",
            "def f():\n    import teeny.cli.main\n",
            "ir/core.py:2: ir imports teeny.cli.main, and cli is not",
        ),
        ("ir/core.py", "from ..passes import fold\n", "ir/core.py:1: ir imports teeny.passes.fold, and passes is not"),
        ("ir/core.py", "from .. import passes\n", "ir/core.py:1: ir imports teeny.passes, and passes is not"),
        ("ir/deep/core.py", "from ...nn import a\n", "ir/deep/core.py:1: ir imports teeny.nn.a, and nn is not"),
        ("nn/norm.py", "import teeny.tune.search\n", "nn/norm.py:1: nn imports teeny.tune.search, and tune is not"),
        ("ir/core.py", "import teeny as tn\n", "ir/core.py:1: imports teeny from the surface of the package"),
        (
            "ir/core.py",
            "from teeny import kernel\n",
            "ir/core.py:1: imports teeny.kernel from the surface of the package",
        ),
        (
            "ir/core.py",
            "import importlib\nimportlib.import_module('teeny.ops.x')\n",
            "ir/core.py:2: ir imports teeny.ops.x",
        ),
        ("loose.py", "", "loose.py: belongs to no layer"),
        ("extra/a.py", "", "extra/a.py: belongs to no layer"),
    ],
)
def test_a_breach_is_found(tmp_path: Path, file: str, text: str, fault: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert [line[: len(fault)] for line in violations(tmp_path)] == [fault]


@pytest.mark.parametrize(
    "text",
    [
        "from teeny.diag.span import Span\n",
        "from . import types\nfrom .types import T\nimport teeny.ir.types\n",
        "from teeny import __version__\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from teeny.ops import scan\n",
        "import opsteeny, numpy\nfrom teenygrad import ops\n",
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, text: str) -> None:
    (tmp_path / "ir").mkdir()
    (tmp_path / "ir" / "core.py").write_text(text)
    assert violations(tmp_path) == []


def test_the_other_branch_of_a_type_checking_guard_counts(tmp_path: Path) -> None:
    (tmp_path / "ir").mkdir()
    guarded = "import typing\nif typing.TYPE_CHECKING:\n    import teeny.ops\nelse:\n    import teeny.cli\n"
    (tmp_path / "ir" / "core.py").write_text(guarded)
    assert violations(tmp_path) == ["ir/core.py:5: ir imports teeny.cli, and cli is not on its left"]


def test_files_are_small() -> None:
    lengths = {path.relative_to(SOURCE): len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}
    usual = sum(length < USUAL for length in lengths.values())
    long = {str(path): length for path, length in lengths.items() if length >= USUAL}
    assert usual >= USUAL_SHARE * len(lengths), long


def test_no_checker_is_silenced(tracked: list[Path]) -> None:
    silenced = re.compile(r"#.*?(?:(?:type|pyright)\s*:\s*(?:ignore|basic)|no[q]a)", re.IGNORECASE)
    faults = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in tracked
        if path.suffix in {".py", ".pyi"}
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if silenced.search(line)
    ]
    assert faults == []


def test_import_is_light() -> None:
    code = f"import sys, teeny; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
