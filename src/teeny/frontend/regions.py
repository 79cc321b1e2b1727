"""What branches and loops share: bodies lowered into blocks of their own, and the values that flow in and out of them.

A name may hold a tuple: its elements flow one by one.
"""

from __future__ import annotations

from typing import Any

from teeny.diag.diagnostic import Label
from teeny.diag.span import Location
from teeny.frontend.context import Context, Env, Maybe
from teeny.frontend.operators import as_scalar
from teeny.frontend.values import UNKNOWN, Comparison, Condition, Unset, is_faulty, is_tuple, show, show_dtype
from teeny.ir.core import Block, Value
from teeny.ir.poly import Poly
from teeny.ops.function import Operand


def visible(c: Context, name: str) -> tuple[int, Any] | None:
    """A name's value under the current guard, joined, and the guard under which it has one; None where it has none."""
    alternatives = c.frame.env.get(name)
    if not alternatives:
        return None
    active = c.active
    seen = [a for a in alternatives if not c.table.is_false(a.guard & active)]
    if not seen or any(isinstance(a.value, Maybe) for a in seen):
        return None
    covered = 0
    for one in seen:
        covered |= one.guard
    if len(seen) == 1:
        return covered, seen[0].value
    return covered, c.join(tuple((a.guard & active, a.value) for a in seen))


class Region:
    """A block under construction: operations go there until the `with` ends; names set inside are taken back."""

    __slots__ = ("_block", "_env", "_facts", "_guard", "block", "c", "env")

    def __init__(self, c: Context, block: Block) -> None:
        self.c = c
        self.block = block
        self.env: Env = {}

    def __enter__(self) -> Region:
        c = self.c
        self._block, self._env, self._facts, self._guard = c.b.block, dict(c.frame.env), c.facts, c.guard
        c.b.block = self.block
        c.region += 1
        return self

    def __exit__(self, *_: object) -> None:
        c = self.c
        self.env = c.frame.env
        c.b.block, c.frame.env, c.facts = self._block, self._env, self._facts
        c.enter(self._guard)
        c.region -= 1


def fixed(value: Any) -> bool:
    """Whether a compile-time value has no run-time form, so that it cannot change in a run-time region."""
    scalar = isinstance(value, Operand | int | float | Poly | Condition | Comparison | tuple)
    return not (scalar or is_faulty(value) or (isinstance(value, Unset) and value.kind in (bool, float)))


def runtime(c: Context, node: Any, value: Any) -> Any:
    """A value that can flow out of a region: numbers become scalars (bool, i32, f32).

    Tensors, and compile-time values that have no run-time form, stay as they are.
    """
    if is_tuple(value):
        return tuple(runtime(c, node, one) for one in value)
    if isinstance(value, Operand) or is_faulty(value) or fixed(value):
        return value
    return as_scalar(c, node, value)


def flat(value: Any) -> list[Operand]:
    """The run-time values in a value, in order."""
    if is_tuple(value):
        return [one for part in value for one in flat(part)]
    return [value] if isinstance(value, Operand) else []


def rebuilt(value: Any, new: list[Value]) -> Any:
    """`value` with its run-time values replaced by the first ones of `new`, which are taken off."""
    if is_tuple(value):
        return tuple(rebuilt(part, new) for part in value)
    return Operand(new.pop(0), value.dtype) if isinstance(value, Operand) else value


def same(a: Any, b: Any) -> bool:
    """Whether two run-time values have one type."""
    if is_tuple(a) and is_tuple(b):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Operand) and isinstance(b, Operand):
        return a.dtype is b.dtype and a.value.type is b.value.type
    return is_faulty(a) or is_faulty(b) or equal_consts(a, b)


def equal_consts(a: Any, b: Any) -> bool:
    """Whether two values are the same compile-time value."""
    if a is b:
        return True
    return not isinstance(a, Operand) and not isinstance(b, Operand) and type(a) is type(b) and bool(a == b)


def shown(value: Any, other: Any) -> str:
    """A value's type in a message that contrasts it with another's: the shape only where it matters."""
    if not isinstance(value, Operand) or not isinstance(other, Operand) or value.shape != other.shape:
        return show(value)
    return show(value) if not value.shape or value.is_pointer else f"Tensor[{show_dtype(value.dtype)}]"


def where_set(name: str, env: Env, text: str) -> tuple[Label, ...]:
    """A secondary label at the last assignment of a name."""
    alternatives = env.get(name)
    return (Label(alternatives[-1].where, text, primary=False),) if alternatives else ()


def outputs(values: list[Any]) -> tuple[Value, ...]:
    """The IR values of what flows out."""
    return tuple(one.value for value in values for one in flat(value))


def name_values(values: list[Operand], name: str) -> None:
    """Give results the name that they are bound to."""
    for one in values:
        one.value.name = name


def changes_fixed(c: Context, name: str, before: Any, after: Any, node: Location, where: str) -> Any:
    """A compile-time value that has no run-time form is changed where only a run decides."""
    if is_faulty(after):
        return UNKNOWN
    return c.fault(
        "E009",
        f"`{name}` may be {show(before)} or {show(after)} after {where} that only a run decides",
        node,
        label="changed here",
        help="let a Const condition decide, or use another name",
    )
