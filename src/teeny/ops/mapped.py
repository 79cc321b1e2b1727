"""A function of elements applied to tiles, as Triton's text has it; a pass writes it as operations on whole tiles."""

from __future__ import annotations

from typing import Any

from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, shape_of

__all__: list[str] = []

_LIFTED = Absent("a pass writes the function on whole tiles")


def _map(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    expect(bool(types) and bool(results), "a function of elements takes some and gives some")
    shape = shape_of(types[0])
    expect(all(shape_of(t) == shape for t in (*types, *results)), "operands and results have one shape")


def _nothing(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return ()


map_ = define(
    OpDef(
        "tt.map_elementwise", Structural("generic"), ("x*",), _map, _LIFTED, _LIFTED, _LIFTED,
        Absent("read off the function"), results=("results*",), attrs=("pack",), regions=1, inferred=False, group="map",
        cost=2.0,
    )
)  # fmt: skip
"""The region takes `pack` neighbouring elements of each operand and gives as many of each result."""
map_return = define(
    OpDef(
        "tt.map_elementwise.return", "$x attr-dict `:` type($x)", ("x*",), _nothing, Structural("terminator"),
        Structural("terminator"), Structural("terminator"), Absent("it has no result"), results=(), terminator=True,
        group="terminator",
    )
)  # fmt: skip
