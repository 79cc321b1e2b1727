"""One kernel for each family of operations, over the dtypes that the family takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import teeny as tn
import teeny.language as tl

A = TypeVar("A", bound=tl.Dtype)
N = TypeVar("N", bound=tl.Num)
I = TypeVar("I", bound=tl.Int)
F = TypeVar("F", bound=tl.Float)

FLOATS = ("f16", "bf16", "f32", "f64")
INTS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
NUMS = (*INTS, *FLOATS)


@tn.kernel
def arithmetic(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    z = tl.maximum(x * y + x - y, -x) + tl.minimum(tl.abs(x), y)
    tl.store(y_ptr + at, tl.clamp(z, x, y))


@tn.kernel
def division(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(y_ptr + at, x / y + tl.div_rn(y, x) * tl.fma(x, y, x))


@tn.kernel
def remainders(x_ptr: tl.Ptr[I], y_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(y_ptr + at, x // y + x % y)


@tn.kernel
def bits(x_ptr: tl.Ptr[I], y_ptr: tl.Ptr[I], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(y_ptr + at, (x & y) | (~x ^ (y << 2)) | (x >> 1))


@tn.kernel
def elementary(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.exp(x) + tl.exp2(x) + tl.log(x) + tl.log2(x) + tl.sqrt(x) + tl.rsqrt(x) + tl.floor(x) + tl.ceil(x)
    z = tl.sin(x) * tl.cos(x) * tl.tanh(x) * tl.erf(x) * tl.expm1(x) * tl.log1p(x) * tl.pow(x, y) * tl.sqrt_rn(x)
    tl.store(y_ptr + at, y + z)


@tn.kernel
def choice(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    either = ((x < y) | (x >= y)) & ((x == y) ^ (x != y)) & ((x <= y) | ~(x > y))
    tl.store(y_ptr + at, tl.where(either, x, y))


@tn.kernel
def casts(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    a = x.to(tl.f16).to(tl.f32) + x.to(tl.bf16).to(tl.f32) + x.to(tl.f64).to(tl.f32)
    b = x.to(tl.i8).to(tl.i64) + x.to(tl.u16).to(tl.i64) + x.to(tl.i32).to(tl.i64) + x.to(tl.u64).to(tl.i64)
    tl.store(y_ptr + at, a.to(y_ptr.dtype) + b.to(y_ptr.dtype))


@tn.kernel
def memory(
    x_ptr: tl.Ptr[A], y_ptr: tl.Ptr[A], n: tl.Scalar[tl.i32], step: tl.Scalar[tl.i64], BLOCK: tl.Const[int]
) -> None:
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(y_ptr + at, tl.load(x_ptr + at * step, mask=inside), mask=inside)


@tn.kernel
def reductions(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], ROWS: tl.Const[int], COLS: tl.Const[int]) -> None:
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + at)
    y = tl.sum(x, axis=1, dtype=x_ptr.dtype) + tl.max(x, axis=1)
    tl.store(y_ptr + tl.arange(0, ROWS), y)
    tl.store(y_ptr + ROWS, tl.min(x, axis=None))


@tn.kernel
def shapes(x_ptr: tl.Ptr[A], y_ptr: tl.Ptr[A], ROWS: tl.Const[int], COLS: tl.Const[int]) -> None:
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    x = tl.load(x_ptr + (rows[:, None] * COLS + cols[None, :]))
    tl.store(y_ptr + tl.arange(0, ROWS * COLS), tl.reshape(tl.trans(x), (ROWS * COLS,)))


@tn.kernel
def loops(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    lanes = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), x_ptr.dtype)
    for start in tl.range(0, n, BLOCK):
        if start < 64:
            acc = acc + tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=0)
    left = n
    while left > 0:
        acc = tl.maximum(acc, tl.load(x_ptr + left))
        left = left // 2
    tl.store(y_ptr + lanes, acc)


@tn.kernel
def products(
    a_ptr: tl.Ptr[F], b_ptr: tl.Ptr[F], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], SIDE: tl.Const[int]
) -> None:
    span = tl.arange(0, SIDE)
    acc = tl.zeros((SIDE, SIDE), tl.f32)
    for start in tl.range(0, k, SIDE):
        a = tl.load(a_ptr + (span[:, None] * k + start + span[None, :]))
        b = tl.load(b_ptr + ((start + span)[:, None] * SIDE + span[None, :]))
        acc = tl.dot(a, tl.trans(b), acc)
    tl.store(c_ptr + (span[:, None] * SIDE + span[None, :]), acc)


@tn.kernel
def whole_products(a_ptr: tl.Ptr[I], c_ptr: tl.Ptr[tl.i32], SIDE: tl.Const[int]) -> None:
    at = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    a = tl.load(a_ptr + at).to(tl.i8)
    tl.store(c_ptr + at, tl.dot(a, tl.trans(a)))


@tn.kernel
def block_pointers(
    x_ptr: tl.Ptr[A], y_ptr: tl.Ptr[A], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i64], ROWS: tl.Const[int],
    COLS: tl.Const[int],
) -> None:  # fmt: skip
    row = tl.program_id(0) * ROWS
    src = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (row, 0), (ROWS, COLS), (1, 0))
    dst = tl.make_block_ptr(y_ptr, (n, m), (1, n), (0, row), (COLS, ROWS), (0, 1))
    for _ in tl.range(0, n.to(tl.i32), COLS):
        tile = tl.load(src, boundary_check=(0, 1), padding_option="zero")
        tl.store(dst, tl.trans(tile), boundary_check=(0, 1))
        src, dst = tl.advance(src, (0, COLS)), dst.advance((COLS, 0))


@tn.kernel
def atomics(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    x = x + tl.atomic_add(y_ptr + at % 8, x, sem="relaxed")
    tl.atomic_add(y_ptr + at, x, mask=at < n)
    if not (y_ptr.dtype == tl.f16 or y_ptr.dtype == tl.bf16):
        x = x + tl.atomic_max(y_ptr + at, x) + tl.atomic_min(y_ptr + at, x, scope="cta")
        x = x + tl.atomic_xchg(y_ptr + at, x, sem="acquire", scope="sys")
    tl.atomic_add(x_ptr + at, tl.atomic_cas(y_ptr + at, x, 1, sem="release"))


@tn.kernel
def descriptors(
    x_ptr: tl.Ptr[A], y_ptr: tl.Ptr[A], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], ROWS: tl.Const[int],
    COLS: tl.Const[int],
) -> None:  # fmt: skip
    row = tl.program_id(0) * ROWS
    src = tl.make_tensor_descriptor(x_ptr, (m, n), (n, 1), (ROWS, COLS))
    dst = tl.make_tensor_descriptor(y_ptr, (n, m), (m, 1), (COLS, ROWS))
    for column in tl.range(0, n, COLS):
        dst.store((column, row), tl.trans(src.load((row, column))))


@tn.kernel
def descriptor_changes(
    x_ptr: tl.Ptr[I], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], ROWS: tl.Const[int], COLS: tl.Const[int]
) -> None:
    x = tl.make_tensor_descriptor(x_ptr, (m, n), (n, 1), (ROWS, COLS))
    tile = x.load((0, 0))
    x.atomic_max((1, 0), tile)
    x.atomic_min((2, 0), tile)
    x.atomic_and((3, 0), tile)
    x.atomic_or((4, 0), tile)
    x.atomic_xor((5, 0), tile)


@tn.kernel
def descriptor_rows(
    x_ptr: tl.Ptr[F], at_ptr: tl.Ptr[tl.i32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], ROWS: tl.Const[int],
    COLS: tl.Const[int],
) -> None:  # fmt: skip
    x = tl.make_tensor_descriptor(x_ptr, (m, n), (n, 1), (1, COLS), padding_option="nan")
    rows = tl.load(at_ptr + tl.arange(0, ROWS))
    x.scatter(x.gather(rows, 0), rows, 8)


def later_of_equal(a: tl.Tensor[N], i: tl.Tensor[tl.i32], b: tl.Tensor[N], j: tl.Tensor[tl.i32]) -> Any:
    first = (a > b) | ((a == b) & (i > j))
    return tl.where(first, a, b), tl.where(first, i, j)


def capped_sum(a: tl.Scalar[N], b: tl.Scalar[N]) -> tl.Scalar[N]:
    if a > b:
        return a + b
    c = b * 2
    for _ in tl.range(3):
        c = c - a
    return c


def folded(x: tl.Scalar[N], n: tl.Scalar[tl.i32]) -> tl.Scalar[N]:
    if x > 3:
        return x - 3
    while n > 1:
        x = x + 1
        n = n // 2
    return x


@tn.kernel
def combiners(
    x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], i_ptr: tl.Ptr[tl.i32], ROWS: tl.Const[int], COLS: tl.Const[int]
) -> None:
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    offs = rows[:, None] * COLS + cols[None, :]
    x = tl.load(x_ptr + offs)
    at = tl.broadcast_to(cols[None, :], ROWS, COLS)
    best, where = tl.reduce((x, at), 1, later_of_equal)
    tl.store(y_ptr + rows, best)
    tl.store(i_ptr + rows, where)
    tl.store(y_ptr + cols, tl.reduce(x, 0, capped_sum))
    so_far, places = tl.associative_scan((x, at), 1, later_of_equal, reverse=True)
    tl.store(y_ptr + offs, so_far)
    tl.store(i_ptr + offs, places)
    tl.store(y_ptr + offs, tl.associative_scan(x, 0, capped_sum))
    tl.store(y_ptr + offs, tl.map_elementwise(folded, x, at))


@dataclass(frozen=True, slots=True)
class Family:
    """A kernel, the names of dtypes that it is for, and the Consts it is compiled with."""

    kernel: Any
    variable: str
    dtypes: tuple[str, ...]
    consts: Mapping[str, int] = field(default_factory=lambda: {"BLOCK": 256})

    def specialize(self, dtype: str) -> Any:
        return self.kernel.specialize(**{self.variable: dtype}, **self.consts)


_TILE = {"ROWS": 16, "COLS": 64}
FAMILIES: dict[str, Family] = {
    "arithmetic": Family(arithmetic, "N", NUMS),
    "division": Family(division, "F", FLOATS),
    "remainders": Family(remainders, "I", INTS),
    "bits": Family(bits, "I", INTS),
    "elementary": Family(elementary, "F", FLOATS),
    "choice": Family(choice, "N", NUMS),
    "casts": Family(casts, "N", NUMS),
    "memory": Family(memory, "A", ("bool", *NUMS)),
    "reductions": Family(reductions, "N", NUMS, _TILE),
    "combiners": Family(combiners, "N", NUMS, _TILE),
    "shapes": Family(shapes, "A", ("bool", *NUMS), _TILE),
    "block pointers": Family(block_pointers, "A", ("bool", *NUMS), _TILE),
    "descriptors": Family(descriptors, "A", ("bool", *NUMS), _TILE),
    "descriptor changes": Family(descriptor_changes, "I", ("i32", "u32", "i64", "u64"), _TILE),
    "descriptor rows": Family(descriptor_rows, "F", ("f16", "bf16", "f32"), _TILE),
    "loops": Family(loops, "N", NUMS),
    "products": Family(products, "F", ("f16", "bf16", "f32"), {"SIDE": 32}),
    "atomics": Family(atomics, "N", ("i32", "u32", "i64", "u64", *FLOATS)),
    "whole products": Family(whole_products, "I", ("i8", "i32"), {"SIDE": 32}),
}
