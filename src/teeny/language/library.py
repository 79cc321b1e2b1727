"""Composite functions, written in the language itself and inlined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import teeny.language as tl

if TYPE_CHECKING:
    from teeny.language.typing import F, I, Tensor


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


__all__ = ["cdiv", "sigmoid"]
