"""Kernels in files with the expected diagnostics marked at their lines: `# error[T003]`."""

from __future__ import annotations

import importlib.util
import itertools
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from teeny.diag.diagnostic import Diagnostic
from teeny.diag.span import user_location
from teeny.frontend.lower import Definition
from teeny.ir.dtype import DType, members
from teeny.runtime.definition import collecting
from teeny.runtime.kernel import Kernel

KERNELS = Path(__file__).resolve().parent / "kernels"
MARK = re.compile(r"error\[([A-Z]\d{3})\]")
DEFAULTS: dict[str, list[Any]] = {"int": [16, 64], "bool": [False, True], "float": [0.5], "none": [None]}
MOST = 24
"""Specialisations of a kernel at most."""


def files(faulty: bool) -> list[Path]:
    """The files of faulty kernels, or of accepted ones, that this Python can read."""
    found = [path for path in sorted(KERNELS.glob("*.py")) if path.stem.startswith("faulty") == faulty]
    return [path for path in found if "312" not in path.stem or sys.version_info >= (3, 12)]


def load(path: Path) -> tuple[ModuleType, list[Diagnostic]]:
    """A file of kernels as a module, and everything that their definitions report."""
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with collecting() as found:
        spec.loader.exec_module(module)
    return module, found


def run_text(text: str, name: str) -> list[Diagnostic]:
    """Everything that the definitions in a text report; the text is registered in `linecache` under the name."""
    with collecting() as found:
        exec(compile(text, name, "exec", dont_inherit=True), {"__name__": name})
    return found


def kernels(module: ModuleType) -> list[Kernel[...]]:
    return [k for k in vars(module).values() if isinstance(k, Kernel)]


def marks(text: str) -> Counter[tuple[int, str]]:
    """The expected faults: line and code."""
    return Counter((n, code) for n, line in enumerate(text.splitlines(), 1) for code in MARK.findall(line))


def language_faults(found: list[Diagnostic], name: str) -> Counter[tuple[int, str]]:
    """The faults of the front end (families E, T, S) that lie in a file: line and code."""
    kept: Counter[tuple[int, str]] = Counter()
    for one in found:
        if one.code[0] in "ETS":
            assert one.primary is not None, one.message
            span = user_location(one.primary.location).span
            assert span.source.name == name, f"{one.message}: reported in {span.source.name}"
            kept[span.line, one.code] += 1
    return kept


def choices(
    definition: Definition, values: dict[str, Any], excluded: dict[str, frozenset[str]]
) -> Iterator[tuple[dict[DType, DType], dict[str, Any]]]:
    """Specialisations: every dtype, flag and absent pointer, the values named for Consts; at most `MOST` of them."""
    axes: list[list[tuple[Any, Any]]] = []
    for variable in definition.variables:
        leaves = [m for m in members(variable) if m.name not in excluded.get(variable.name, ())]
        axes.append([(variable, leaf) for leaf in leaves])
    name = definition.name
    for parameter in definition.parameters:
        key = f"{name}.{parameter.name}"
        if parameter.optional:
            axes.append([(parameter.name, ...), (parameter.name, None)])
        elif parameter.kind == "const":
            given = values.get(key) or [v for term in parameter.const for v in DEFAULTS.get(term.kind, ())]
            assert given, f"no values for {key}"
            axes.append([(parameter.name, value) for value in given])
    most = values.get(f"{name}.*", MOST)
    if math.prod(map(len, axes)) <= most:
        combined = itertools.product(*axes)
    else:
        rng = random.Random(0)
        combined = (tuple(map(rng.choice, axes)) for _ in range(most))
    for one in combined:
        dtypes = {k: v for k, v in one if isinstance(k, DType)}
        yield dtypes, {k: v for k, v in one if isinstance(k, str) and v is not ...}
