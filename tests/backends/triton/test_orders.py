"""Sorts, scans, joins and flips through the whole of Triton's compiler, with what the code is made of."""

from __future__ import annotations

from importlib import metadata
from typing import Any, TypeVar

import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.triton import compile_module
from teeny.passes.expand import expand

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
F = TypeVar("F", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)


def after(a: tl.Tensor[F], x: tl.Tensor[F], b: tl.Tensor[F], y: tl.Tensor[F]) -> tuple[tl.Tensor[F], tl.Tensor[F]]:
    if y > 0.0:
        return a * b, x * b + y
    return a * b, y


@tn.kernel
def scans(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, 4)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + at)
    _, h = tl.associative_scan((x, x), 1, after)
    tl.store(y_ptr + at, h + tl.cumsum(x, 0, reverse=True))


@tn.kernel
def orders(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], i_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes)
    tl.store(y_ptr + lanes, tl.sort(x, descending=True))
    tl.store(y_ptr + tl.arange(0, 4), tl.topk(x, 4))
    value, index = tl.max(x, 0, return_indices=True)
    tl.store(y_ptr, value)
    tl.store(i_ptr, index)
    tl.store(i_ptr + tl.arange(0, 16), tl.histogram(x.to(tl.i32), 16))


@tn.kernel
def moves(x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[F], BLOCK: tl.Const[int]) -> None:
    lanes = tl.arange(0, BLOCK)
    left, right = tl.split(tl.reshape(tl.load(x_ptr + lanes), (BLOCK // 2, 2)))
    tl.store(y_ptr + lanes, tl.interleave(-right, left))
    tl.store(y_ptr + lanes, tl.cat(tl.flip(left), right))
    tl.store(y_ptr + lanes, tl.cat(left, right, can_reorder=True))
    first, second = tl.split(tl.join(tl.load(x_ptr), tl.load(y_ptr)))
    tl.store(y_ptr, first * second)


KERNELS = {
    "scans": scans.specialize(F=tl.f32, BLOCK=64),
    "orders": orders.specialize(N=tl.f16, BLOCK=128),
    "moves": moves.specialize(F=tl.bf16, BLOCK=128),
}


@pytest.mark.parametrize("target", [75, "gfx942"])
@pytest.mark.parametrize("name", KERNELS)
def test_they_compile(name: str, target: Any) -> None:
    made = compile_module(expand(KERNELS[name].module), target)
    assert made.files


def test_text_has_the_operations_of_the_dialect() -> None:
    text = "".join(kernel.mlir for kernel in KERNELS.values())
    for name in (
        '"tt.scan"(',
        "tt.join ",
        "tt.split ",
        "tt.cat ",
        "tt.unsplat ",
        "tt.histogram ",
    ):
        assert name in text
    assert "teeny." not in text


def test_a_network_stands_for_a_sort() -> None:
    """Of 2**n elements n (n + 1) / 2 steps, each with an exchange of neighbours."""
    module = expand(KERNELS["orders"].module)
    names = [op.name for op in module.kernel.entry.ops]
    assert "teeny.sort" not in names
    assert sum(n == "tt.reduce" for n in names) >= 7 * 8 // 2
