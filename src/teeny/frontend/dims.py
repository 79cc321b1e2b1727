"""Questions about compile-time ints, and the shape rules' view of the lowering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.frontend.values import Condition, show_shape
from teeny.ir.facts import decide
from teeny.ir.poly import Dim, Poly, names
from teeny.ir.predicate import Op, Predicate

if TYPE_CHECKING:
    from teeny.frontend.context import Context


def compare_dims(c: Context, op: Op, a: Dim, b: Dim, text: str) -> bool | Condition:
    """A comparison of Const ints: decided from the facts, else a condition of its own."""
    verdict = decide(c.facts, op, a, b)
    if verdict is not None:
        return verdict
    predicate = Predicate(op, a - b, 0)
    guard = c.table.atom(predicate, text)
    if guard is None:
        return True
    c.predicates[guard] = predicate
    return Condition(guard)


class CallShapes:
    """`Shapes` of one call: faults and obligations are recorded at its node."""

    __slots__ = ("c", "failed", "name", "node")

    def __init__(self, c: Context, node: Any, name: str) -> None:
        self.c = c
        self.node = node
        self.name = name
        self.failed = False

    def fault(self, code: str, message: str, help: str = "") -> None:
        self.failed = True
        self.c.fault(code, f"{message}", self.c.location(self.node, self.name), help=help)

    def require(self, op: str, a: Dim, b: Dim | None, code: str, message: str) -> None:
        c = self.c
        if op == "pow2" and isinstance(a, Poly):
            if len(names(a)) == 1 and a == next(iter(map(_symbol, names(a)))):
                self._oblige(Predicate("pow2", a), code, message)
                c.facts = c.facts.shapes(next(iter(names(a))))
                return
        verdict = decide(c.facts, _op(op), a, b)
        if verdict is True:
            return
        if verdict is False:
            self.fault(code, f"{message}, found {a}" if b is None or op == "le" else f"{message}: {a} and {b} differ")
            return
        self._oblige(Predicate(_op(op), a, 0 if b is None else b), code, message)

    def _oblige(self, predicate: Predicate, code: str, message: str) -> None:
        c = self.c
        c.obligations.append((predicate, code, message, c.location(self.node, self.name)))
        if c.active == c.table.true:
            c.facts = c.facts.assume(predicate)

    def broadcast(self, *shapes: tuple[Dim, ...]) -> tuple[Dim, ...]:
        result = shapes[0]
        for shape in shapes[1:]:
            if shape != result:
                result = self._pair(result, shape)
        return result

    def _pair(self, x: tuple[Dim, ...], y: tuple[Dim, ...]) -> tuple[Dim, ...]:
        rank = max(len(x), len(y))
        left, right = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
        found: list[Dim] = []
        for a, b in zip(left, right, strict=True):
            if a == b or b == 1:
                found.append(a)
            elif a == 1:
                found.append(b)
            else:
                self._equal(a, b, x, y)
                found.append(a)
        return tuple(found)

    def _equal(self, a: Dim, b: Dim, x: tuple[Dim, ...], y: tuple[Dim, ...]) -> None:
        verdict = decide(self.c.facts, "eq", a, b)
        if verdict is True or self.failed:
            return
        shapes = f"{show_shape(x)} and {show_shape(y)}"
        if verdict is False:
            self.fault("S001", f"shapes {shapes} do not broadcast: {a} and {b} differ")
            return
        self.fault(
            "S008", f"shapes {shapes} broadcast only if {a} equals {b}, which nothing says",
            f"if they are always equal, say so: tl.static_assert({a} == {b})",
        )  # fmt: skip


def _symbol(name: str) -> Dim:
    from teeny.ir.poly import symbol

    return symbol(name)


def _op(op: str) -> Op:
    found: dict[str, Op] = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "pow2": "pow2", "divides": "divides"}
    return found[op]
