"""8-bit floats: what they lack. Each line with the mark is reported by pyright and the compiler; no other line is."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

Q = TypeVar("Q", bound=tl.Float8)


@tn.kernel
def arithmetic(x_ptr: tl.Ptr[Q], y_ptr: tl.Ptr[tl.f8e5m2], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    x + x  # BAD
    y * 2.0  # BAD
    -y  # BAD
    x < x  # BAD
    y == y  # BAD
    y != 0  # BAD for the compiler alone: Python compares any two objects
    y & y  # BAD
    tl.abs(x)  # BAD
    tl.exp(y)  # BAD
    tl.maximum(x, x)  # BAD
    tl.sum(x)  # BAD
    tl.max(y, axis=0)  # BAD
    tl.where(y, x, x)  # BAD


@tn.kernel
def mixtures(x_ptr: tl.Ptr[Q], y_ptr: tl.Ptr[tl.f8e5m2], z_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    x, y, z = tl.load(x_ptr + at), tl.load(y_ptr + at), tl.load(z_ptr + at)
    tl.store(z_ptr + at, y)  # BAD
    tl.store(y_ptr + at, z)  # BAD
    tl.store(y_ptr + at, x)  # BAD
    z + y  # BAD
    tl.where(at > 0, y, z)  # BAD
    tl.store(y_ptr + at, z.to(tl.f8e4m3))  # BAD
