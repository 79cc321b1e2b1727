"""Sorts and histograms: against NumPy, at every width and level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny.language
from teeny.ir.core import Module
from teeny.ir.dtype import BF16, F16, F32, F64, I8, I16, I32, I64, DType
from teeny.ir.schema import registry
from teeny.ir.types import shape_of, typed
from teeny.ops.vocabulary import numpy_dtype
from teeny.passes.expand import expand
from tests.backends.cpu.lower.harness import ALL, FEW, check
from tests.backends.cpu.lower.test_scan import Shape, places
from tests.drafts import Draft

assert teeny.language
DTYPES = (F16, BF16, F32, F64, I8, I16, I32, I64)
SHAPES: tuple[Shape, ...] = ((1,), (2,), (4,), (16,), (64,), (512,), (4, 32), (2, 4, 8), (8, 1))


def values(dtype: DType, shape: Shape, seed: int = 0) -> Any:
    """Many equal ones, NaNs of both signs, zeros of both signs, infinities."""
    rng = np.random.default_rng([seed, *shape])
    if dtype.kind != "float":
        limits = np.iinfo(numpy_dtype(np, dtype))
        found = rng.integers(limits.min, limits.max, shape, endpoint=True, dtype=limits.dtype)
        return np.where(rng.random(shape) < 0.5, rng.integers(-3, 4, shape), found).astype(limits.dtype)
    found = rng.standard_normal(shape) * 4
    some = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0])
    return np.where(rng.random(shape) < 0.3, rng.choice(some, shape), found).astype(numpy_dtype(np, dtype))


def ordered(x: Any, unsigned: bool) -> Any:
    """The rows sorted upwards: by sign and magnitude, NaNs last."""
    wide = x.astype(np.float64) if x.dtype.kind != "i" else x
    if x.dtype.kind == "i":
        return np.sort(x.view(f"u{x.dtype.itemsize}"), -1).view(x.dtype) if unsigned else np.sort(x, -1)
    order = np.lexsort((~np.signbit(wide), wide), axis=-1)
    return np.take_along_axis(x, order, -1)


def program(dtype: DType, shape: Shape, **attrs: Any) -> Module:
    d = Draft()
    d.pointer("x", dtype)
    d.pointer("y", dtype)
    x, y = d.begin()
    found = d.b.op(registry()["teeny.sort"], (d.load(places(d, x, shape)),), attrs).result
    d.store(places(d, y, tuple(int(str(n)) for n in shape_of(found.type))), found)
    return d.end()


def sorted_by(module: Module, x: Any, shape: Shape, modes: Any) -> Any:
    return check(module, [x, np.zeros(shape, x.dtype)], (1, 1, 1), modes)[1]


def equal(x: Any, y: Any) -> bool:
    """Equal with the signs of zeros; NaNs are all alike."""
    if x.dtype.kind == "i":
        return bool(np.array_equal(x, y))
    a, b = x.astype(np.float64), y.astype(np.float64)
    nan = np.isnan(a)
    return bool(np.all((nan == np.isnan(b)) & (nan | ((a == b) & (np.signbit(a) == np.signbit(b))))))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape(shape: Shape, descending: bool) -> None:
    x = values(F32, shape)
    module = program(F32, shape, count=shape[-1], descending=descending, merge=False, unsigned=False)
    found = sorted_by(module, x, shape, ALL if shape == (64,) else FEW)
    wanted = ordered(x, False)
    assert equal(found, wanted[..., ::-1] if descending else wanted)


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype: DType, unsigned: bool) -> None:
    if unsigned and dtype.kind == "float":
        return
    x = values(dtype, (2, 64), 1)
    module = program(dtype, (2, 64), count=64, descending=False, merge=False, unsigned=unsigned)
    assert equal(sorted_by(module, x, x.shape, FEW), ordered(x, unsigned))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("dtype", [F32, I16], ids=str)
def test_the_first_of_the_order(dtype: DType, count: int, descending: bool) -> None:
    x = values(dtype, (4, 64), 2)
    module = program(dtype, (4, 64), count=count, descending=descending, merge=False, unsigned=False)
    found = sorted_by(module, x, (4, count), FEW)
    wanted = ordered(x, False)
    assert equal(found, (wanted[..., ::-1] if descending else wanted)[..., :count])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [2, 64])
def test_rows_that_rise_and_fall_are_merged(size: int, descending: bool) -> None:
    x = ordered(values(F32, (4, size), 3), False)
    x[..., size // 2 :] = x[..., size // 2 :][..., ::-1].copy()
    module = program(F32, (4, size), count=size, descending=descending, merge=True, unsigned=False)
    wanted = ordered(x, False)
    assert equal(sorted_by(module, x, x.shape, FEW), wanted[..., ::-1] if descending else wanted)


def test_other_rows_go_through_the_last_stage_of_a_network() -> None:
    x = values(I32, (2, 64), 4)
    module = program(I32, (2, 64), count=64, descending=False, merge=True, unsigned=False)
    sorted_by(module, x, x.shape, FEW)


CASES: tuple[tuple[DType, Shape, int, str], ...] = (
    (F32, (64,), 64, ""), (F32, (4, 16), 16, "descending"), (F32, (2,), 1, ""), (F32, (32,), 4, "descending"),
    (F16, (2, 32), 8, ""), (I32, (32,), 1, "descending unsigned"), (I32, (64,), 64, "unsigned"),
    (I8, (2, 2, 16), 2, "descending"), (F32, (16,), 16, "descending merge"), (BF16, (8, 1), 1, ""),
    (F64, (32,), 32, "descending"), (I64, (1, 8), 8, "merge"),
)  # fmt: skip


@pytest.mark.parametrize(("dtype", "shape", "count", "flags"), CASES)
def test_written_out_for_triton_it_means_the_same(dtype: DType, shape: Shape, count: int, flags: str) -> None:
    x = values(dtype, shape, 5)
    module = program(dtype, shape, count=count, **{n: n in flags for n in ("descending", "merge", "unsigned")})
    kept = (*shape[:-1], count)
    assert equal(sorted_by(module, x, kept, FEW[:1]), sorted_by(expand(module), x, kept, FEW[:1]))


def counted(size: int, bins: int, masked: bool) -> Module:
    d = Draft()
    d.pointer("x", I32)
    d.pointer("y", I32)
    d.scalar("n")
    x, y, n = d.begin()
    row = d.load(places(d, x, (size,)))
    operands = (row, d.compare("lt", d.range(size), d.fill(n, (size,)))) if masked else (row,)
    found = d.b.op(registry()["tt.histogram"], operands, types=(typed((bins,), I32),)).result
    d.store(places(d, y, (bins,)), found)
    return d.end()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("size", "bins"), [(1, 1), (2, 64), (512, 16)])
def test_histograms(size: int, bins: int, masked: bool) -> None:
    x = np.random.default_rng(size).integers(-2, bins + 2, size).astype(np.int32)
    n = size * 2 // 3
    _, found = check(counted(size, bins, masked), [x, np.zeros(bins, np.int32), n], (1, 1, 1))
    kept = x[:n] if masked else x
    np.testing.assert_array_equal(found, np.bincount(kept[(kept >= 0) & (kept < bins)], minlength=bins))
