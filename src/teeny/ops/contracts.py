"""Contracts: what a kernel asks of its arguments.

Evaluated at each launch in unbounded integers; erased by code generation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, DType, integer_range, storage
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect, pointee_of
from teeny.ir.types import Type
from teeny.ops.constant import constant
from teeny.ops.function import Shapes, language

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim
    from teeny.language.typing import Const, D, I, N, Ptr, Tensor, bool_

__all__ = ["extent", "highest", "lowest", "require"]

_ERASED = Structural("contract")


def _require(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(types[0] is BOOL, f"the condition must be i1, found {types[0]}")
    return ()


def _extent(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    pointee_of(types[0])
    rank, strided = attrs["rank"], attrs["strided"]
    expect(len(types) == 1 + rank * (2 if strided else 1), "an extent has as many strides as sizes")
    return ()


def _aligned(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    pointee_of(types[0])
    expect(attrs["bytes"] > 0, "an alignment is positive")
    return ()


def _contract(name: str, operands: tuple[str, ...], types: Any, attrs: tuple[str, ...]) -> OpDef:
    return define(
        OpDef(
            name, Structural("contract"), operands, types, _ERASED, _ERASED, _ERASED, Absent("it has no result"),
            results=(), attrs=attrs, group="contract", pure=False, cost=0.0,
        )
    )  # fmt: skip


require_ = _contract("teeny.require", ("condition",), _require, ("message",))
"""The condition, an i1, must hold at launch."""
extent_ = _contract("teeny.extent", ("ptr", "numbers*"), _extent, ("rank", "strided"))
"""`numbers`: `rank` sizes, then as many strides (in elements) where `strided`."""
aligned_ = _contract("teeny.aligned", ("ptr",), _aligned, ("bytes", "message"))
"""The address that is passed must be a multiple of so many bytes."""


@language(
    construct="require",
    triton=None,
)
def require(condition: Tensor[bool_] | bool, message: Const[str] = "") -> None:
    """A condition on Scalar parameters, Consts and `num_programs` that must hold; else the launch is refused (L006).

    On Consts alone it is decided at specialisation, like `static_assert`.
    """
    ...


@language(
    construct="extent",
    triton=None,
)
def extent(
    ptr: Ptr[D],
    size: Tensor[I] | int | tuple[Tensor[I] | int, ...],
    strides: Tensor[I] | int | tuple[Tensor[I] | int, ...] | None = None,
) -> None:
    """The elements [0, size) from `ptr` on lie in the tensor passed (else L007), which is dense (else L012).

    With `strides` (in elements, one a size): the elements at sum(i_k * stride_k) for 0 <= i_k < size_k lie in its
    storage.
    """
    ...


def _limit(dtype: DType, lowest: bool) -> float:
    if dtype.kind in ("float", "variable"):
        return -math.inf if lowest else math.inf
    return integer_range(dtype)[0 if lowest else 1]


def _scalar(s: Shapes, dtype: Any) -> tuple[Dim, ...]:
    return ()


def _emit_limit(lowest: bool) -> Any:
    def emit(b: Builder, shape: Any, result: DType, dtype: Any) -> Value:
        return constant(b, storage(result), _limit(result, lowest))

    return emit


@language(
    _emit_limit(True),
    shape=_scalar,
    triton=None,
)
def lowest(dtype: type[N]) -> Tensor[N]:
    """The identity of max for `dtype`: -inf, or the smallest integer. A scalar; works for type variables."""
    ...


@language(
    _emit_limit(False),
    shape=_scalar,
    triton=None,
)
def highest(dtype: type[N]) -> Tensor[N]:
    """The identity of min for `dtype`: inf, or the largest integer. A scalar; works for type variables."""
    ...
