"""Scans along an axis: each element becomes the reduction of all elements up to it.

The order is canonical, so that every executor but a GPU gives the same bits: the first element stays as it is, and
element i becomes `combine(result i - 1, element i)`, in rising order; with `reverse` in falling order from the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.core import Block, Region
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, element_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value

__all__: list[str] = []


def _scan(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(bool(types), "a scan has an operand")
    shape, axis = shape_of(types[0]), attrs["axis"]
    expect(0 <= axis < len(shape), f"{types[0]} has no axis {axis}")
    expect(all(shape_of(t) == shape for t in types), "the operands of a scan differ in shape")
    return types


def _nothing(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return ()


scan_ = define(
    OpDef(
        "tt.scan", Structural("generic"), ("x*",), _scan, Structural("scan"), Structural("scan"), Structural("scan"),
        Absent("read off the combiner by the analysis"), attrs=("axis", "reverse"), regions=1, group="scan", cost=2.0,
    )
)  # fmt: skip
"""The region takes the result so far and then the next element, one argument an operand each."""
scan_return = define(
    OpDef(
        "tt.scan.return", "$x attr-dict `:` type($x)", ("x*",), _nothing, Structural("terminator"),
        Structural("terminator"),
        Structural("terminator"), Absent("it has no result"), results=(), terminator=True, group="terminator",
    )
)  # fmt: skip


def scan_value(b: Builder, values: tuple[Value, ...], axis: int, reverse: bool, combine: Combine) -> Op:
    """Append a scan of `values` whose region `combine` fills: it gets a builder and the block's arguments."""
    elements = tuple(element_of(v.type) for v in values)
    body = Block((*elements, *elements))
    inner = b.__class__(body, b.loc)
    inner.guard = b.guard
    inner.op(scan_return, combine(inner, body.args))
    return b.op(scan_, values, {"axis": axis, "reverse": reverse}, (Region([body]),))


if TYPE_CHECKING:
    Combine = Callable[[Builder, tuple[Value, ...]], tuple[Value, ...]]
