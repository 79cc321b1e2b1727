"""Constants: one value, every lane the same. `value` is a Python number or bool, in generic IR also a symbolic dim."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import DType
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of
from teeny.ir.types import Type, shape_of
from teeny.ops.float8 import bits_of
from teeny.ops.vocabulary import numpy_dtype

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value


def _check(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    dtype_of(results[0])


def _value(op: Op) -> Any:
    return op.attrs["value"]


def _numpy(np: Any, op: Op) -> Any:
    type_ = op.results[0].type
    dtype, value = dtype_of(type_), _value(op)
    if dtype.kind == "float8":
        return np.full(shape_of(type_), bits_of(value, dtype.name), np.uint8).view(numpy_dtype(np, dtype))
    return np.full(shape_of(type_), value, numpy_dtype(np, dtype))


def _cpu(b: Any, op: Op) -> Any:
    dtype, value = dtype_of(op.results[0].type), _value(op)
    if dtype.kind == "float8":
        return b.const("i8", bits_of(value, dtype.name))
    return b.const(dtype.mlir, value)


constant_ = define(
    OpDef(
        "arith.constant", Structural("constant"), (), _check, _numpy, _cpu, Structural("constant"),
        Absent("the analysis reads the value itself"), attrs=("value",), inferred=False, group="constant", cost=0.0,
    )
)  # fmt: skip


def constant(b: Builder, type_: Type, value: object) -> Value:
    """A constant of `type_`: floats for float dtypes (an int is converted), ints wrapped to the width, bools for i1."""
    return b.create(constant_, type=type_, value=normalise(dtype_of(type_), value))


def normalise(dtype: DType, value: Any) -> object:
    """The one form in which a constant of `dtype` is stored: bool, int in the signed range, or float."""
    if not isinstance(value, int | float):
        return value
    if dtype.kind == "bool":
        return bool(value)
    if dtype.kind in ("float", "float8"):
        return float(value)
    if dtype.is_variable or (isinstance(value, float) and not math.isfinite(value)):
        return value
    half = 1 << (dtype.bits - 1)
    return (int(value) + half) % (2 * half) - half
