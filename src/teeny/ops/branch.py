"""Branches between the blocks of a function, as Triton's front end writes early returns; and the value of no place.

They are met in text that is read: `passes.structure` makes nested `scf.if`s of them before anything else sees them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL, DType
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, element_of

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value

__all__: list[str] = []

_STRUCTURED = Absent("control flow is structured before it is run or checked")
_TERMINATOR = Structural("terminator")


def _branch(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(len(attrs["to"]) == 1 and attrs["count"] == len(types), "a branch has one aim")
    return ()


def _conditional(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(types[0] is BOOL, f"the condition must be i1, found {types[0]}")
    expect(len(attrs["to"]) == 2 and attrs["count"] < len(types), "a conditional branch has two aims")
    return ()


def _any(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    return None


br_ = define(
    OpDef(
        "cf.br", Structural("br"), ("args*",), _branch, _STRUCTURED, _STRUCTURED, _TERMINATOR,
        Absent("it has no result"), results=(), attrs=("to", "count"), terminator=True, group="branch",
    )
)  # fmt: skip
"""Go on at the block with the number `to[0]`, with `count` arguments."""
cond_br_ = define(
    OpDef(
        "cf.cond_br", Structural("cond_br"), ("condition", "args*"), _conditional, _STRUCTURED, _STRUCTURED,
        _TERMINATOR, Absent("it has no result"), results=(), attrs=("to", "count"), terminator=True, group="branch",
    )
)  # fmt: skip
"""Go on at the block `to[0]` with the first `count` arguments, or, where the condition is false, at `to[1]` with the
others."""


def _cpu(b: Any, op: Op) -> Any:
    element = element_of(op.results[0].type)
    return b.const(element.mlir if isinstance(element, DType) else "ptr", 0)


poison_ = define(
    OpDef(
        "ub.poison", "attr-dict `:` type($result)", (), _any, Structural("poison"), _cpu, Structural("uniform"),
        Absent("it has no value"), inferred=False, group="poison", cost=0.0,
    )
)  # fmt: skip
"""An undefined value of any type."""


def poison(b: Builder, type_: Type) -> Value:
    """An undefined value."""
    return b.create(poison_, type=type_)
