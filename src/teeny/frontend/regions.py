"""What branches and loops share: the names a body assigns, and a body lowered into a region of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from teeny.diag.diagnostic import Label
from teeny.frontend.context import Alternative, Context, Maybe
from teeny.frontend.operators import as_scalar
from teeny.frontend.values import is_faulty, show, show_dtype
from teeny.ir.core import Block, Value
from teeny.ops.function import Operand

Env = dict[str, "tuple[Alternative, ...]"]


def assigned(body: Iterable[ast.stmt]) -> list[str]:
    """The names that statements assign, in order of first appearance."""
    found: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
    return list(found)


def visible(c: Context, name: str) -> tuple[int, Any] | None:
    """A name's value under the current guard, joined, and the guard under which it has one; None where it has none."""
    alternatives = c.frame.env.get(name)
    if not alternatives:
        return None
    seen = [a for a in alternatives if not c.table.is_false(a.guard & c.active)]
    if not seen or any(isinstance(a.value, Maybe) for a in seen):
        return None
    covered = 0
    for one in seen:
        covered |= one.guard
    if len(seen) == 1:
        return covered, seen[0].value
    return covered, c.join(tuple((a.guard, a.value) for a in seen))


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


def runtime(c: Context, node: Any, value: Any) -> Any:
    """A value that can flow out of a region: tensors as they are, ints and bools as scalars; else a fault and UNKNOWN."""
    if isinstance(value, Operand) or is_faulty(value):
        return value
    return as_scalar(c, node, value)


def same(a: Operand, b: Operand) -> bool:
    return a.dtype is b.dtype and a.value.type is b.value.type


def shown(value: Operand, other: Operand) -> str:
    """A value's type in a message that contrasts it with another's: the shape only where it matters."""
    if value.shape != other.shape:
        return show(value)
    return show(value) if not value.shape else f"Tensor[{show_dtype(value.dtype)}]" if not value.is_pointer else show(value)


def where_set(c: Context, name: str, env: Env, text: str) -> tuple[Label, ...]:
    alternatives = env.get(name)
    return (Label(alternatives[-1].where, text, primary=False),) if alternatives else ()


def outputs(values: list[Any]) -> tuple[Value, ...]:
    return tuple(v.value for v in values)



