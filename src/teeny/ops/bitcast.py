"""The same bits read as another type of the same size; a pointer read as one to elements of another dtype."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import DType
from teeny.ir.rules import Absent, Lanewise
from teeny.ir.schema import OpDef, define, expect, same_shape
from teeny.ir.types import PointerType, Type, element_of, with_element
from teeny.ops.vocabulary import numpy_dtype

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.ir.types import Element


def _check(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    same_shape(types[0], results[0])
    x, y = element_of(types[0]), element_of(results[0])
    expect(
        isinstance(x, PointerType) == isinstance(y, PointerType), f"a pointer is no number: {types[0]}, {results[0]}"
    )
    if isinstance(x, DType) and isinstance(y, DType):
        expect(x.is_variable or y.is_variable or x.bits == y.bits, f"{x} and {y} differ in size")


def _plain(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    _check(types, attrs, results)
    expect(isinstance(element_of(types[0]), DType), f"{types[0]} is a pointer")


def _numpy(np: Any, op: Op, x: Any) -> Any:
    to = element_of(op.results[0].type)
    return np.ascontiguousarray(x).view(numpy_dtype(np, to)).reshape(x.shape) if isinstance(to, DType) else x


def _zero(x: float) -> float | None:
    """Where all bits are 0, every dtype has the number 0."""
    return 0 if x == 0 and math.copysign(1, x) > 0 else None


def _cpu(b: Any, op: Op, x: Any) -> Any:
    to = element_of(op.results[0].type)
    return b.bitcast(x, "i8" if to.kind == "float8" else to.mlir) if isinstance(to, DType) else x


_BITS = Absent("bits read as another type have any value")
bitcast_ = define(
    OpDef(
        "tt.bitcast", "$x attr-dict `:` type($x) `->` type($result)", ("x",), _check, _numpy, _cpu, Lanewise(), _BITS,
        inferred=False, fold=_zero, group="bitcast", cost=0.0,
    )
)  # fmt: skip
plain_bitcast = define(
    OpDef(
        "arith.bitcast", "$x attr-dict `:` type($x) `to` type($result)", ("x",), _plain, _numpy, _cpu, Lanewise(),
        _BITS, inferred=False, fold=_zero, group="bitcast", cost=0.0,
    )
)  # fmt: skip
"""As Triton 3.9 writes the change of an integer's sign; read, and not made."""


def reinterpret(b: Builder, value: Value, element: Element) -> Value:
    """A value as another type of the same size; itself where the IR's type is the same."""
    to = with_element(value.type, element)
    return value if to is value.type else b.create(bitcast_, value, type=to)
