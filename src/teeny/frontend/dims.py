"""Questions about compile-time ints, and the shape rules' view of the lowering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.frontend.values import Comparison, show_shape
from teeny.ir.facts import decide
from teeny.ir.poly import Dim, Poly
from teeny.ir.predicate import Op, Predicate

if TYPE_CHECKING:
    from teeny.frontend.context import Context


def compare_dims(c: Context, op: Op, a: Dim, b: Dim, text: str) -> bool | Comparison:
    """A comparison of Const ints: decided from the facts, else a condition of its own."""
    verdict = decide(c.facts, op, a, b)
    return Comparison(Predicate(op, a - b, 0), text) if verdict is None else verdict


class CallShapes:
    """`Shapes` of one call: faults and obligations are recorded at its node."""

    __slots__ = ("c", "failed", "name", "node")

    def __init__(self, c: Context, node: Any, name: str) -> None:
        self.c = c
        self.node = node
        self.name = name
        self.failed = False

    def fault(self, code: str, message: str, help: str = "") -> None:
        if self.failed:
            return
        self.failed = True
        self.c.fault(code, message, self.c.location(self.node, self.name), help=help)

    def require(self, op: str, a: Dim, b: Dim | None, code: str, message: str) -> None:
        if self.failed:
            return
        facts, other = self.c.facts, 0 if b is None else b
        if op == "pow2" and isinstance(a, Poly) and a.atom is not None and a.atom.kind == "symbol":
            if Predicate("pow2", a) not in facts.predicates:
                self._oblige(Predicate("pow2", a), code, message)
                self.c.facts = facts.shapes(a.atom.text)
            return
        asked = _OPS[op]
        verdict = decide(facts, asked, a, other)
        if verdict is False:
            self.fault(code, f"{message}: {a} and {b} differ" if op == "eq" else f"{message}, found {a}")
        elif verdict is None:
            self._oblige(Predicate(asked, a, other), code, message)

    def equal(self, a: Dim, b: Dim, code: str, message: str) -> None:
        verdict = None if self.failed else decide(self.c.facts, "eq", a, b)
        if verdict is False:
            self.fault(code, f"{message}: {a} and {b} differ")
        elif verdict is None and not self.failed:
            help = f"if they are always equal, say so: tl.static_assert({a} == {b})"
            self.fault("S008", f"{message}: nothing says that {a} equals {b}", help)

    def _oblige(self, predicate: Predicate, code: str, message: str) -> None:
        c = self.c
        c.obligations.append((predicate, code, message, c.location(self.node, self.name)))
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
            memory = self.name in ("tl.load", "tl.store")
            self.fault("S006" if memory else "S001", f"shapes {shapes} do not broadcast: {a} and {b} differ")
            return
        self.fault(
            "S008",
            f"shapes {shapes} broadcast only if {a} equals {b}, which nothing says",
            f"if they are always equal, say so: tl.static_assert({a} == {b})",
        )


_OPS: dict[str, Op] = {
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "pow2": "pow2", "divides": "divides",
}  # fmt: skip
