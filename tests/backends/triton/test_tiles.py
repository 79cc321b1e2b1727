"""Which tensor descriptors are left to hardware, and the form of a kernel where some are not."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.reference import run
from teeny.ir.core import Module, walk_function
from teeny.ir.verify import verify
from teeny.passes.descriptors import descriptors
from teeny.runtime.compilers import form_for
from teeny.runtime.target import Target
from tests.language.described import aligned

needs_triton = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
D = TypeVar("D", bound=tl.Float)
F = TypeVar("F", bound=tl.Num)
I = TypeVar("I", bound=tl.Int)
TILES = ("sm_90", "sm_100", "sm_120")


@tn.kernel
def matmul(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32], first: tl.Scalar[tl.i32], ROW: tl.Const[int], COLUMN: tl.Const[int],
) -> None:  # fmt: skip
    """The product of docs/tiles.md; b is read from a column that is moved."""
    a = tl.make_tensor_descriptor(a_ptr, (m, k), (k, 1), (64, 64))
    b = tl.make_tensor_descriptor(b_ptr, (k, n), (n, 1), (64, 64))
    c = tl.make_tensor_descriptor(c_ptr, (m, n), (n, 1), (64, 64))
    row, col = tl.program_id(0) * 64, tl.program_id(1) * 64
    total = tl.zeros((64, 64), tl.f32)
    for start in tl.range(0, k, 64):
        total = tl.dot(a.load([row + ROW, start]), b.load([start, col + COLUMN + first]), total)
    c.store([row, col], total)


@tn.kernel
def passed(
    a: tl.TensorDescriptor[D], b: tl.TensorDescriptor[D], c: tl.TensorDescriptor[tl.f32], k: tl.Scalar[tl.i32]
) -> None:
    BM, BK = a.block_shape
    BN = b.block_shape[1]
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.f32)
    for start in tl.range(0, k, BK):
        total = tl.dot(a.load([row, start]), b.load([start, col]), total)
    c.store([row, col], total)


@tn.kernel
def copied(
    x: tl.Ptr[F], y: tl.Ptr[F], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], AT: tl.Const[int], SAME: tl.Const[bool]
) -> None:
    """x is read at a column, and written to y through one of two descriptors, which loops and branches swap."""
    p = tl.make_tensor_descriptor(x, (m, n), (n, 1), (8, 16))
    q = tl.make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    r = tl.make_tensor_descriptor(y + 16 * n, (m - 16, n), (n, 1), (8, 16))
    tile = p.load((0, AT))
    for i in tl.range(0, 16, 8):
        q.store((i, 0), tile)
        if i == 0 and not SAME:
            q = r
    r.store((8, AT if SAME else 0), tile)


@tn.kernel
def grouped(
    x: tl.TensorDescriptor[F], y: tl.Ptr[F], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], by: tl.Scalar[tl.i32],
    HOW: tl.Const[str],
) -> None:  # fmt: skip
    """Tiles stored at offsets that no one can know not to be negative, except some."""
    q = tl.make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    across, program = tl.cdiv(n, 16), tl.program_id(0)
    row, column = program // across * 8, program % across * 16
    if HOW == "moved":
        row += by
    if HOW == "before":
        row -= 8
    if HOW == "assumed":
        tl.assume(by >= 0)
        row += by
    if HOW == "above":
        tl.assume(by > -9)
        row += by + 8
    if HOW == "below":
        tl.assume(by > -9)
        row += by + 7
    if HOW == "more":
        for i in tl.range(0, n, 16):
            q.store((row, i), x.load((i - 64, i)))
    elif HOW == "added":
        q.atomic_add((row, tl.minimum(by, 5) * 16), x.load((0, 0)))
    else:
        q.store((row, column), x.load((by, 16 * by)))


@tn.kernel
def bits(x: tl.Ptr[I], y: tl.Ptr[I], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], EXTREME: tl.Const[bool]) -> None:
    v = tl.make_tensor_descriptor(x, (m, n), (n, 1), (8, 16)).load((0, 0))
    q = tl.make_tensor_descriptor(y, (m, n), (n, 1), (8, 16))
    if EXTREME:
        q.atomic_max((0, 0), v)
    else:
        q.atomic_xor((0, 0), v)


def made(module: Module) -> int:
    """How many tensor descriptors a module makes."""
    verify(module, concrete=True)
    return sum(op.name == "tt.make_tensor_descriptor" for op in walk_function(module.kernel))


def left(kernel: Any, target: str = "sm_90", hints: tuple[int, ...] = ()) -> int:
    return made(form_for(kernel, Target(target), hints))


@pytest.mark.parametrize("target", TILES)
@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_columns_that_are_multiples_of_16_bytes(dtype: str, target: str) -> None:
    for row, column in ((0, 0), (5, -8), (-1, 24)):
        kernel = matmul.specialize(D=dtype, ROW=row, COLUMN=column)
        assert left(kernel, target) == 2
        assert left(kernel, target, (0, 0, 0, 0, 0, 0, 16)) == 3
    assert left(matmul.specialize(D=dtype, ROW=0, COLUMN=9), target, (0,) * 6 + (16,)) == 2
    assert left(matmul.specialize(D=dtype, ROW=0, COLUMN=4), target, (0,) * 6 + (16,)) == (3 if dtype == "f32" else 2)


def test_older_architectures_have_none() -> None:
    kernel = matmul.specialize(D="f16", ROW=0, COLUMN=0)
    assert form_for(kernel, Target("sm_80")) is kernel.module
    assert left(kernel, "sm_80") == 0


def test_all_or_none() -> None:
    all_of_them = copied.specialize(F="f32", AT=24, SAME=False)
    assert form_for(all_of_them, Target("sm_90")) is all_of_them.described
    assert left(copied.specialize(F="f32", AT=9, SAME=False)) == 2
    none = copied.specialize(F="f32", AT=9, SAME=True)
    assert form_for(none, Target("sm_90")) is none.module


@pytest.mark.parametrize(("how", "stored"), [
    ("plain", True), ("moved", False), ("before", False), ("assumed", True), ("above", True), ("below", False),
    ("more", True), ("added", False),
])  # fmt: skip
def test_tiles_are_stored_where_no_offset_is_negative(how: str, stored: bool) -> None:
    kernel = grouped.specialize(F="f32", HOW=how, x=(8, 16))
    assert left(kernel) == 1 + stored


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("at", [0, 9])
def test_the_form_means_the_same(at: int, same: bool) -> None:
    kernel = copied.specialize(F="i32", AT=at, SAME=same)
    found: list[Any] = []
    for module in (kernel.module, descriptors(form_for(kernel, Target("sm_90")))):
        x, y = aligned((40, 32), np.int32), aligned((40, 32), np.int32)
        x[...] = np.arange(40 * 32).reshape(40, 32)
        run(module, [x, y, 40, 32], (1, 1, 1))
        found.append(y)
    np.testing.assert_array_equal(*found)
    assert found[0].any()


@pytest.mark.parametrize(("dtype", "extreme", "count"), [
    ("i64", False, 1), ("u64", False, 1), ("u32", False, 2), ("i32", False, 2), ("i64", True, 2), ("u64", True, 2),
])  # fmt: skip
def test_bits_of_64_are_changed_through_pointers(dtype: str, extreme: bool, count: int) -> None:
    assert left(bits.specialize(I=dtype, EXTREME=extreme)) == count


def moves(ptx: str) -> tuple[bool, bool]:
    """Whether tiles are loaded and stored by hardware."""
    return "cp.async.bulk.tensor.2d.shared" in ptx, "cp.async.bulk.tensor.2d.global" in ptx


@needs_triton
@pytest.mark.parametrize("target", TILES)
def test_code(target: str) -> None:
    kernel = matmul.specialize(D="f16", ROW=1, COLUMN=0)
    assert moves(tn.compile(kernel, target, hints={"first": 16}).ptx) == (True, True)
    shifted = copied.specialize(F="f32", AT=9, SAME=False)
    assert moves(tn.compile(shifted, target).ptx) == (False, True)
    assert moves(tn.compile(copied.specialize(F="f32", AT=9, SAME=True), target).ptx) == (False, False)
    assert moves(tn.compile(copied.specialize(F="f32", AT=8, SAME=True), target).ptx) == (True, True)
    ptx = tn.compile(bits.specialize(I="u64", EXTREME=False), target).ptx
    assert moves(ptx) == (True, False)
    assert re.search(r"\b(?:atom|red)\.\S*xor", ptx)
    kernel = passed.specialize(D=tl.f16, a=(64, 64), b=(64, 64), c=(64, 64))
    assert moves(tn.compile(kernel, target).ptx) == (True, True)
