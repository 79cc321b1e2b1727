"""Composite functions, written in the language itself and inlined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from teeny.language.typing import I, Tensor


@overload
def cdiv(x: int, y: int) -> int: ...
@overload
def cdiv(x: Tensor[I], y: Tensor[I] | int) -> Tensor[I]: ...
def cdiv(x: Any, y: Any) -> Any:
    """x / y rounded up, for x >= 0 and y > 0. Of Consts a Const."""
    return (x + (y - 1)) // y


__all__ = ["cdiv"]
