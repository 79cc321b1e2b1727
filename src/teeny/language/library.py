"""Composite functions, written in the language itself and inlined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import teeny.language as tl

if TYPE_CHECKING:
    from teeny.language.typing import Const, F, I, Tensor


@overload
def cdiv(x: int, y: int) -> int: ...
@overload
def cdiv(x: Tensor[I], y: Tensor[I] | int) -> Tensor[I]: ...
def cdiv(x: Any, y: Any) -> Any:
    """x / y rounded up, for x >= 0 and y > 0. Of Consts a Const."""
    return (x + (y - 1)) // y


def sigmoid(x: Tensor[F]) -> Tensor[F]:
    """1 / (1 + exp(-x)), of f16 and bf16 in f32 and rounded once."""
    if x.dtype == tl.f16 or x.dtype == tl.bf16:
        return (1.0 / (1.0 + tl.exp(-x.to(tl.f32)))).to(x.dtype)
    return 1.0 / (1.0 + tl.exp(-x))


def softmax(
    x: Tensor[F], dim: Const[int | None] = None, *, keep_dims: Const[bool | None] = None,
    ieee_rounding: Const[bool] = False,
) -> Tensor[F]:  # fmt: skip
    """exp(x) over its sum along `dim`, by default the first axis (S003), without overflow.

    f16 and bf16 compute in f32 and round once. `ieee_rounding` rounds the quotient correctly on GPUs too. `keep_dims`
    has no effect: the result has the shape of x.
    """
    axis = 0 if dim is None else dim
    if x.dtype == tl.f16 or x.dtype == tl.bf16:
        return _softmax(x.to(tl.f32), axis, ieee_rounding).to(x.dtype)
    return _softmax(x, axis, ieee_rounding)


def _softmax(x: Tensor[F], axis: Const[int], ieee_rounding: Const[bool]) -> Tensor[F]:
    part = tl.exp(x - tl.max(x, axis, keep_dims=True))
    total = tl.sum(part, axis, keep_dims=True)
    if ieee_rounding:
        return tl.div_rn(part, total)
    return part / total


def swizzle2d(
    i: Tensor[I], j: Tensor[I], size_i: Tensor[I] | int, size_j: Tensor[I] | int, size_g: Tensor[I] | int
) -> tuple[Tensor[I], Tensor[I]]:
    """Where program (i, j) of a `size_i` x `size_j` grid works, if groups of `size_g` rows are run column by column.

    The last group may have fewer rows.
    """
    ij = i * size_j + j
    first = ij // (size_g * size_j) * size_g
    rows = tl.minimum(size_i - first, size_g)
    ij = ij % (size_g * size_j)
    return first + ij % rows, ij // rows


__all__ = ["cdiv", "sigmoid", "softmax", "swizzle2d"]
