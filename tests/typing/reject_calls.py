"""Wrong arguments, and run-time values where compile-time ones belong. Each marked line is reported; no other is."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language import Tensor

F = TypeVar("F", bound=tl.Float)


def relu(x: Tensor[F]) -> Tensor[F]:
    return tl.maximum(x, 0.0)


def add(x: Tensor[F], y: Tensor[F], SCALE: tl.Const[float]) -> Tensor[F]:
    return (x + y) * SCALE


@tn.kernel
def arguments(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.load(x_ptr + offs, masks=offs < n)  # BAD
    tl.exp(x, x)  # BAD
    tl.exp()  # BAD
    tl.store(x_ptr + offs)  # BAD
    tl.sum(x, axes=0)  # BAD
    tl.max(x, 0, axis=0)  # BAD
    tl.expp(x)  # BAD
    x.exponent()  # BAD
    x.to("f32")  # BAD
    x.to(32)  # BAD
    tl.zeros((BLOCK,), float)  # BAD
    tl.trans(x, "ab")  # BAD
    tl.sum(x, axis=0.5)  # BAD
    tl.store(x_ptr + offs, x)


@tn.kernel
def helpers(x_ptr: tl.Ptr[tl.f32], h_ptr: tl.Ptr[tl.f16], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    relu(offs)  # BAD
    relu(x, x)  # BAD
    relu(1.0)  # BAD
    add(x, tl.load(h_ptr + offs), 1.0)  # BAD
    add(x, x)  # BAD
    add(x, x, "1")  # BAD
    tl.store(x_ptr + offs, add(relu(x), x, 2.0))


@tn.kernel
def compile_time(x_ptr: tl.Ptr[tl.f32], f: tl.Scalar[tl.f32], BLOCK: tl.Const[int], S: tl.Const[str]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.arange(0, 1.5)  # BAD
    tl.arange(0, S)  # BAD
    tl.zeros((S,), tl.f32)  # BAD
    tl.static_assert(offs > 1)  # BAD
    tl.require(offs)  # BAD
    tl.program_id(0.0)  # BAD
    for _ in range(f):  # BAD
        pass
    for _ in tl.range(f):  # BAD
        pass
    for _ in tl.static_range(f):  # BAD
        pass
    for _ in offs:  # BAD
        pass
    tl.store(x_ptr + offs, 1.0)


@tn.kernel
def declared(x_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    """A local's annotation is held to."""
    offs: Tensor[tl.i64] = tl.arange(0, BLOCK)  # BAD
    x: Tensor[tl.f32] = tl.load(x_ptr)  # BAD
    y: Tensor[F] = tl.load(x_ptr)
    tl.store(x_ptr, y)


def wrong_result(x: Tensor[F]) -> Tensor[tl.f32]:
    return x  # BAD


@tn.kernel
def uses_it(x_ptr: tl.Ptr[F]) -> None:
    tl.store(x_ptr, wrong_result(tl.load(x_ptr)).to(x_ptr.dtype))
