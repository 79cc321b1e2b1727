"""A lower and an upper bound of a value's lanes, by the interval rules of the schemas; computed when asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import DType, integer_range, largest
from teeny.ir.rules import EVERYTHING, Absent, Interval
from teeny.ir.types import element_of
from teeny.ops.float8 import FORMATS

if TYPE_CHECKING:
    from teeny.ir.core import Value

_MOVES = frozenset(("splat", "broadcast", "expand_dims", "trans", "reshape"))
_DEPTH = 40


def interval_of(value: Value, known: dict[Value, Interval] | None = None, depth: int = _DEPTH) -> Interval:
    """Bounds of every lane; (-inf, inf) where nothing is known. Integers are taken not to overflow."""
    known = {} if known is None else known
    found = known.get(value)
    if found is None:
        found = known[value] = _interval(value, known, depth)
    return found


def _interval(value: Value, known: dict[Value, Interval], depth: int) -> Interval:
    op = value.op
    if op is None or depth == 0:
        return _dtype(value)
    if op.schema.group == "constant":
        number: Any = op.attrs["value"]
        return (float(number), float(number)) if isinstance(number, int | float) else _dtype(value)
    if op.schema.group == "range":
        start, end = op.attrs["start"], op.attrs["end"]
        return (start, end - 1) if isinstance(start, int) and isinstance(end, int) else _dtype(value)
    if op.schema.group in _MOVES or (op.schema.group == "cast" and _is_float8(op.operands[0])):
        return interval_of(op.operands[0], known, depth - 1)
    rule = op.schema.interval
    if isinstance(rule, Absent):
        return _dtype(value)
    try:
        low, high = rule(*(interval_of(v, known, depth - 1) for v in op.operands))
    except (ArithmeticError, ValueError):
        return _dtype(value)
    if math.isnan(low) or math.isnan(high):
        return EVERYTHING
    if _is_float8(value):  # it was rounded, and saturates
        least, most = _dtype(value)
        return max(low, least), min(high, most)
    square = op.schema.group == "mul" and op.operands[0] is op.operands[1]
    return (max(low, 0.0) if square else low), high


def _is_float8(value: Value) -> bool:
    element = element_of(value.type)
    return isinstance(element, DType) and element.kind == "float8"


def _dtype(value: Value) -> Interval:
    element = element_of(value.type)
    if not isinstance(element, DType):
        return EVERYTHING
    if element.kind == "float8" and FORMATS[element.name].infinity is None:
        return -largest(element), largest(element)
    return integer_range(element) if element.kind == "signed" else EVERYTHING
