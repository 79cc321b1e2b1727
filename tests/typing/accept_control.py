"""Loops, branches, compile-time values and contracts."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language import Const, Ptr, Scalar, Tensor, f32, i32

F = TypeVar("F", bound=tl.Float)


@tn.kernel
def loops(x_ptr: Ptr[F], n: Scalar[i32], STEPS: Const[int], BLOCK: Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    for _ in range(n):
        x = x * 0.5
    for _ in range(2, 8):
        x = x + 1.5
    for _ in range(1, n, 2):
        x = x - 1
    for i in tl.static_range(STEPS):
        x = x + i
    for i in tl.static_range(1, 5, 2):
        x = x * i
    for i in tl.range(n):
        x = tl.load(x_ptr + i * BLOCK + offs) + x
    count = n
    while count > 0:
        x = x + x
        count = count - 1
    while (count < n) & (count < 10):
        count += 1
    tl.store(x_ptr + offs + count, x)


@tn.kernel
def branches(x_ptr: Ptr[F], n: Scalar[i32], BLOCK: Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if n > 3:
        x = x * 2.0
    elif n < 0:
        x = -x
    else:
        y = x + 1
        x = y
    first = offs if n > 1 else offs + 1
    if (n > 4) & (n < 8):
        tl.store(x_ptr + first, x)
    if tl.program_id(0) == 0:
        tl.store(x_ptr, tl.sum(x, axis=0))


@tn.kernel
def compile_time(
    x_ptr: Ptr[F],
    mask_ptr: Ptr[tl.i8] | None,
    n: Scalar[i32],
    MODE: Const[str],
    SCALE: Const[bool],
    FACTOR: Const[float],
    SIZES: Const[tuple[int, int]],
    BLOCK: Const[int],
    LIMIT: Const[int | None] = None,
) -> None:
    offs = tl.arange(0, BLOCK)
    mask = offs < n if MODE == "below" else offs > n
    x = tl.load(x_ptr + offs, mask, other=0.0)
    if SCALE:
        y = x * FACTOR
        x = y + 1.0
    if LIMIT is not None:
        x = tl.where(offs < LIMIT, x, 0.0)
    if mask_ptr is not None and BLOCK >= 16:
        x = tl.where(tl.load(mask_ptr + offs, mask, other=0) != 0, x, 0.0)
    if BLOCK % 2 == 0 and not SCALE:
        x = x + SIZES[0]
    tl.store(x_ptr + offs, x, mask)


@tn.kernel
def contracts(x_ptr: Ptr[F], m: Scalar[i32], n: Scalar[i32], s: Scalar[i32], BLOCK: Const[int]) -> None:
    tl.static_assert(BLOCK >= 16, "small blocks are slow")
    tl.require(n <= BLOCK)
    tl.require((n > 0) & (n % 4 == 0), "rows come in fours")
    tl.extent(x_ptr, m * n)
    tl.extent(x_ptr, (m, n), strides=(s, 1))
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 0.0, offs < n)


def power(x: Tensor[F], EXPONENT: Const[int]) -> Tensor[F]:
    """A helper with a compile-time argument and a return on two paths."""
    if EXPONENT == 2:
        return x * x
    y = x
    for _ in tl.static_range(EXPONENT - 1):
        y = y * x
    return y


@tn.kernel
def helpers(x_ptr: Ptr[F], BLOCK: Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x: Tensor[F] = tl.load(x_ptr + offs)
    y: Tensor[f32] = power(x, 3).to(f32)
    z = power(y, EXPONENT=2)
    tl.store(x_ptr + offs, z.to(x.dtype))


class Kernels:
    """Kernels may lie in a class."""

    @staticmethod
    @tn.kernel
    def double(x_ptr: Ptr[F], BLOCK: Const[int]) -> None:
        offs = tl.arange(0, BLOCK)
        tl.store(x_ptr + offs, tl.load(x_ptr + offs) * 2)


@tn.kernel
def jumps(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], STAGES: tl.Const[int], BLOCK: tl.Const[int]) -> None:
    lanes = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.f32)
    for i in tl.range(0, n, 1, num_stages=STAGES, loop_unroll_factor=2, flatten=True, warp_specialize=False):
        if i % 3 == 1:
            continue
        acc += tl.load(x_ptr + i * BLOCK + lanes)
        if tl.max(acc, axis=0) > 100.0:
            break
    else:
        acc += 1.0
    steps = 0
    while True:
        steps += 1
        if steps > n:
            break
    while tl.condition(steps > 0, disable_licm=True):
        steps = steps - 1
    tl.store(x_ptr + lanes, acc)
