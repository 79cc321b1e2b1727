"""What is written out for GPUs: it means the same on the reference, compiles everywhere, and survives LLVM."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.reference import run
from teeny.backends.triton import compile_module
from teeny.backends.triton.exact import exact
from teeny.backends.triton.goal import goal
from teeny.ir.core import walk_function
from teeny.ir.verify import verify
from teeny.passes.expand import expand

needs_triton = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
F = TypeVar("F", bound=tl.Float)
I = TypeVar("I", bound=tl.Int)
J = TypeVar("J", bound=tl.Int)
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "gfx942")
GPUS = ("sm_90", "gfx942")
"""One of each kind: what is written out goes by that."""
INTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
N = 256


@tn.kernel
def integers(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at).to(y_ptr.dtype))
    tl.store(y_ptr + BLOCK, tl.load(x_ptr).to(y_ptr.dtype))


@tn.kernel
def constants(y_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.full((BLOCK,), float("nan"), tl.f32).to(y_ptr.dtype))
    tl.store(y_ptr + BLOCK + at, tl.full((BLOCK,), 1e30, tl.f32).to(y_ptr.dtype))
    tl.store(y_ptr + 2 * BLOCK + at, tl.full((BLOCK,), float("-inf"), tl.f64).to(y_ptr.dtype))
    tl.store(y_ptr + 3 * BLOCK + at, tl.full((BLOCK,), 7.75, tl.f16).to(y_ptr.dtype))


@tn.kernel
def quotients(x_ptr: tl.Ptr[I], y_ptr: tl.Ptr[I], q_ptr: tl.Ptr[I], r_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(q_ptr + at, x // y)
    tl.store(r_ptr + at, x % y)


@tn.kernel
def shifts(x_ptr: tl.Ptr[I], y_ptr: tl.Ptr[I], l_ptr: tl.Ptr[I], r_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(l_ptr + at, x << y)
    tl.store(r_ptr + at, (x >> y) ^ (x >> 3))


@tn.kernel
def remainders(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], r_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(r_ptr + at, tl.load(x_ptr + at) % tl.load(y_ptr + at))


def kind(name: str) -> np.dtype[Any]:
    if name == "bf16":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"i": "int", "u": "uint", "f": "float"}[name[0]] + name[1:])


def floats(dtype: str, seed: int) -> Any:
    """Of all sizes, the ends of every range of integers, infinities, NaN and zeros among them."""
    rng = np.random.default_rng(seed)
    ends = [s * (2.0**n + d) for n in (7, 8, 15, 16, 31, 32, 63, 64) for s in (-1, 1) for d in (-1, -0.5, 0, 0.5)]
    special = np.array([*ends, 0.0, -0.0, 0.9, -0.9, np.inf, -np.inf, np.nan, -np.nan, 1e300, -1e300])
    with np.errstate(over="ignore"):
        x = np.ldexp(rng.uniform(-1, 1, N), rng.integers(-3, 70, N)).astype(kind(dtype))
        x[rng.permutation(N)[: len(special)]] = special.astype(kind(dtype))
    return x


def numbers(dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    ends = np.iinfo(kind(dtype))
    x = rng.integers(ends.min, ends.max, N, kind(dtype), endpoint=True)
    x[::9], x[4::9] = ends.min, ends.max
    return x


def results(kernel: Any, arrays: list[Any], outputs: int, target: str | None) -> list[Any]:
    """The last arrays, after the kernel's module has run, rewritten for a target or as it is."""
    made = [a.copy() for a in arrays]
    module = kernel.module
    if target is not None:
        module = exact(module, goal(target))
        verify(module, concrete=True)
    with np.errstate(all="ignore"):
        run(module, made, (1, 1, 1))
    return made[-outputs:]


@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("dtype", INTS)
def test_floats_to_integers(dtype: str, source: str, target: str) -> None:
    kernel = integers.specialize(F=source, I=dtype, BLOCK=N)
    for seed in range(3):
        arrays = [floats(source, seed), np.zeros(N + 1, kind(dtype))]
        (wanted,), (found,) = (results(kernel, arrays, 1, t) for t in (None, target))
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("dtype", INTS)
def test_constants(dtype: str, target: str) -> None:
    """Those out of range are not left to LLVM."""
    kernel = constants.specialize(I=dtype, BLOCK=4)
    (found,) = results(kernel, [np.ones(16, kind(dtype))], 1, target)
    ends = np.iinfo(kind(dtype))
    assert found.tolist() == [n for n in (0, ends.max, ends.min, 7) for _ in range(4)]
    left = [
        op for op in walk_function(exact(kernel.module, goal(target)).kernel) if op.schema.name.startswith("arith.fpto")
    ]
    assert len(left) == 1


@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("dtype", INTS)
def test_quotients(dtype: str, target: str) -> None:
    kernel = quotients.specialize(I=dtype, BLOCK=N)
    for seed in range(3):
        x, y = numbers(dtype, seed), numbers(dtype, seed + 10)
        x[:2], y[:2] = np.iinfo(kind(dtype)).min, np.array([255, 1]).astype(kind(dtype))
        y[::5] = 0
        arrays = [x, y, np.zeros_like(x), np.zeros_like(x)]
        wanted, found = (results(kernel, arrays, 2, t) for t in (None, target))
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(one[y != 0], other[y != 0])


@pytest.mark.parametrize("dtype", INTS)
def test_shifts(dtype: str) -> None:
    kernel = shifts.specialize(I=dtype, BLOCK=N)
    for seed in range(3):
        x, y = numbers(dtype, seed), numbers(dtype, seed + 10)
        y[::2] = (y[::2] & 127) % np.array(2 * 8 * y.itemsize).astype(y.dtype)
        arrays = [x, y, np.zeros_like(x), np.zeros_like(x)]
        wanted, found = (results(kernel, arrays, 2, t) for t in (None, "sm_90"))
        np.testing.assert_array_equal(wanted, found)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_remainders(dtype: str) -> None:
    kernel = remainders.specialize(F=dtype, BLOCK=N)
    arrays = [floats(dtype, 1), floats(dtype, 2), np.zeros(N, kind(dtype))]
    wanted, found = (results(kernel, arrays, 1, t) for t in (None, "sm_90"))
    np.testing.assert_array_equal(wanted, found)


def compiled(kernel: Any, target: str) -> str:
    made = compile_module(expand(kernel.module), target)
    return made.ptx if target.startswith("sm") else made.files["asm"].decode()


@needs_triton
@pytest.mark.parametrize("target", TARGETS)
def test_it_compiles(target: str) -> None:
    for source, dtype in (
        ("f16", "i8"),
        ("bf16", "u16"),
        ("f32", "u8"),
        ("f64", "i16"),
        ("f32", "u64"),
        ("bf16", "i64"),
    ):
        compiled(integers.specialize(F=source, I=dtype, BLOCK=N), target)
    for dtype in ("i8", "u8", "i16"):
        compiled(quotients.specialize(I=dtype, BLOCK=N), target)
        compiled(shifts.specialize(I=dtype, BLOCK=N), target)
    compiled(constants.specialize(I="i8", BLOCK=N), target)
    compiled(remainders.specialize(F="f32", BLOCK=N), target)


@needs_triton
@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_divisors_stay_guarded(dtype: str) -> None:
    """LLVM narrows the division again; each divisor is the larger of two, or chosen."""
    ptx = compiled(quotients.specialize(I=dtype, BLOCK=N), "sm_90")
    divisors = re.findall(r"^\s*(?:div|rem)\.[su]\d+\s+%\w+, %\w+, (%\w+);", ptx, re.MULTILINE)
    assert divisors
    assert all(guarded(ptx, one) for one in divisors)


def guarded(ptx: str, register: str) -> bool:
    """Whether a register comes from a selection or a maximum, conversions and moves between."""
    made = re.search(rf"^\s*([\w.]+)\s+(?:{register}|{{[^}}]*{register}\b[^}}]*}}), (%\w+)", ptx, re.MULTILINE)
    assert made is not None, register
    name, source = made.groups()
    return name.startswith(("selp", "max")) or (name.startswith(("cvt", "mov")) and guarded(ptx, source))


@needs_triton
@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16"])
def test_conversions_stay_held(dtype: str) -> None:
    """LLVM may hold the float in the place of the integer; it then chooses 0 for a NaN."""
    ptx = compiled(integers.specialize(F="f32", I=dtype, BLOCK=N), "sm_90")
    count = len(re.findall(r"cvt\.rzi\.s(?:32|16)\.f32", ptx))
    assert count > 0
    assert count == len(re.findall(r"\bmin\.[sf]\d+", ptx)) == len(re.findall(r"\bmax\.[sf]\d+", ptx))
    assert len(re.findall(r"setp\.nan\.f32", ptx)) == len(re.findall(r"cvt\.rzi\.s16\.f32", ptx))


@needs_triton
def test_a_nan_of_64_bits_is_chosen() -> None:
    ptx = compiled(integers.specialize(F="f32", I="u64", BLOCK=N), "sm_90")
    assert len(re.findall(r"setp\.(?:nan|num)\.f32", ptx)) == len(re.findall(r"cvt\.rzi\.u64\.f32", ptx)) > 0
