"""Kernels from outside: launches, and what a program does with kernels."""

from __future__ import annotations

from typing import Any, TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)


@tn.kernel
def scale(x_ptr: tl.Ptr[F], factor: tl.Scalar[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int] = 256) -> None:
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask, other=0.0).to(tl.f32)
    tl.store(x_ptr + offs, (x * factor).to(x_ptr.dtype), mask)


def run(x: Any, n: int) -> None:
    """Grids of each form; arguments by position and by name."""
    scale[4](x, 2.0, n, BLOCK=128)
    scale[(4, 1)](x, factor=2.0, n=n)
    scale[tn.cdiv(n, 128),](x, 2.0, n, 128, num_warps=8)
    name: str = scale.name
    print(name, tn.next_power_of_2(n))


def kernels() -> list[tn.Kernel[...]]:
    return [scale]
