"""Every function of Triton's libdevice with its types and symbol, kernels that call them, and arguments."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from tests.triton.library_exact import KIND

_DTYPES = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", "fp32": "f32", "fp64": "f64"}
SIZE = 1024


@dataclass(frozen=True, slots=True)
class Call:
    """A function of libdevice for some dtypes."""

    function: str
    operands: tuple[str, ...]
    symbol: str
    result: str

    @property
    def plain(self) -> str:
        return self.symbol.removeprefix("__nv_")


def every() -> list[Call]:
    """Read off the source of the installed Triton."""
    spec = importlib.util.find_spec("triton.language.extra.cuda.libdevice")
    assert spec is not None
    assert spec.origin is not None
    found: list[Call] = []
    for node in ast.parse(Path(spec.origin).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            for table in (n for n in ast.walk(node) if isinstance(n, ast.Dict)):
                found += [_call(node.name, k, v) for k, v in zip(table.keys, table.values, strict=True) if k]
    return found


def _call(function: str, key: ast.expr, value: ast.expr) -> Call:
    assert isinstance(value, ast.Tuple)
    symbol = cast("ast.Constant", value.elts[0]).value
    return Call(function, tuple(_named(key)), str(symbol), next(_named(value.elts[1])))


def _named(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and part.value in _DTYPES:
            yield _DTYPES[str(part.value)]


def groups(calls: Sequence[Call], size: int) -> list[list[Call]]:
    """Calls with the same operands and result, so many a kernel."""
    by: dict[Any, list[Call]] = defaultdict(list)
    for call in calls:
        by[call.operands, call.result].append(call)
    return [same[at : at + size] for same in by.values() for at in range(0, len(same), size)]


def kernel_of(calls: Sequence[Call], folder: Path) -> Any:
    """A kernel that stores the results of several functions of the same arguments, one row each."""
    names = [f"x{n}" for n in range(len(calls[0].operands))]
    lines = ["import triton", "import triton.language as tl", "from triton.language.extra import libdevice", "", ""]
    lines += ["@triton.jit", f"def kernel({', '.join(f'{n}_ptr' for n in names)}, y_ptr, SIZE: tl.constexpr):"]
    lines += ["    at = tl.arange(0, SIZE)", *(f"    {n} = tl.load({n}_ptr + at)" for n in names)]
    for row, call in enumerate(calls):
        lines.append(f"    tl.store(y_ptr + {row} * SIZE + at, libdevice.{call.function}({', '.join(names)}))")
    name = f"library_kernels_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return cast("Any", module).kernel


_numbers = itertools.count()


def arguments(dtypes: Sequence[str]) -> list[Any]:
    """Special values in all combinations, or as many of them as there is room for, and random ones."""
    rng = np.random.default_rng(7)
    special = [_special(d) for d in dtypes]
    grid = np.array(np.meshgrid(*(np.arange(len(s)) for s in special))).reshape(len(special), -1)
    if grid.shape[1] > SIZE // 2:
        grid = grid[:, rng.permutation(grid.shape[1])[: SIZE // 2]]
    rest = SIZE - grid.shape[1]
    return [np.concatenate([s[at], _random(d, rest, rng)]) for s, at, d in zip(special, grid, dtypes, strict=True)]


def _special(dtype: str) -> Any:
    kind = KIND[dtype]
    if dtype[0] != "f":
        info = np.iinfo(kind)
        some = [
            0,
            1,
            2,
            3,
            31,
            255,
            2**24 - 1,
            2**24 + 1,
            0x7654,
            0x3210,
            info.max,
            info.max - 1,
            info.min,
            info.min + 1,
        ]
        some += [-1, -2, -7, -(2**24) - 1] if dtype[0] == "i" else [info.max // 2, info.max // 2 + 1]
        if info.bits == 64:
            some += [2**53 + 1, 2**54 + 3, 2**62 + 2**38 + 1, info.max - 2**38, info.max - 1023]
        return np.array(some, kind)
    info = np.finfo(kind)
    some = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 100.7, 2.0**31, 2.0**32, 2.0**63, 2.0**64, np.inf]
    some += [info.tiny, info.smallest_subnormal, info.max, info.eps, 1 + info.eps, 1 - info.eps / 2]
    with np.errstate(all="ignore"):
        return np.array([*some, *(-v for v in some), np.nan, np.nextafter(kind(0.5), kind(0))]).astype(kind)


def _random(dtype: str, count: int, rng: Any) -> Any:
    kind = KIND[dtype]
    if dtype[0] != "f":
        info = np.iinfo(kind)
        wide = rng.integers(info.min, info.max, count, kind, endpoint=True)
        return wide >> rng.integers(0, info.bits, count).astype(kind)
    unsigned = np.dtype(f"u{np.dtype(kind).itemsize}")
    part = count // 4
    patterns = rng.integers(0, np.iinfo(unsigned).max, part, unsigned, endpoint=True).view(kind)
    last = count - 3 * part
    wide = np.exp(rng.uniform(-40, 40, last)) * rng.choice((-1.0, 1.0), last)
    parts = [patterns, rng.normal(0, 2, part), rng.uniform(-30, 30, part), wide]
    return rng.permutation(np.concatenate([p.astype(kind) for p in parts]))
