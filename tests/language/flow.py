"""An author who is fond of control flow: loops that jump, returns in branches, tuples, Consts that decide."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.language.author import Author
from tests.language.description import Expr, For, Helper, If, Jump, Kind, Leave, Let, Spin, Tuple, Unpack
from tests.language.expressions import FLAG, I32, Expressions

CONSTS = ("FLAG", "not FLAG", "K > 2", "K == 1", "FLAG and K < 4", "FLAG or K == 0", "1 < K <= 4", "K % 2 == 0")
MOST_JUMPS, MOST_RETURNS = 4, 3
"""Jumps in one loop at most, and returns of a kernel: what follows each is written twice."""


class Flow(Author):
    """`loop_` is "run" or "static" inside a loop of that kind; `jumps` are those in the loop so far."""

    most = 8

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.loop_ = ""
        self.jumps = 0
        self.left = 0
        self.tuples: dict[str, tuple[Kind, ...]] = {}

    # Kinds of statements

    def statements(self) -> list[Any]:
        rules: list[Any] = [self.assign] * 3 + [self.reassign] * 5 + [self.save, self.swap, self.bundle, self.unpack]
        if self.tuples:
            rules += [self.rebundle] * 2 + [self.unbundle] * 2
        if self.depth < 4:
            rules += [self.loop, self.loop, self.branch, self.branch, self.spin, self.spin, self.chosen, self.chosen]
        if self.loop_ and self.jumps < MOST_JUMPS:
            rules += [self.jump] * 4
        if not self.loop_ and self.left < MOST_RETURNS:
            rules.append(self.leave)
        if self.depth == 0:
            rules += [self.row, self.bumped]
        return self.c.pick(rules)()

    @contextmanager
    def inside(self) -> Generator[None]:
        tuples = dict(self.tuples)
        with super().inside():
            yield
        self.tuples = tuples

    @contextmanager
    def looping(self, kind: str) -> Generator[None]:
        """Inside, jumps are those of this loop."""
        kept = self.loop_, self.jumps
        self.loop_, self.jumps = kind, 0
        yield
        self.loop_, self.jumps = kept

    def after_loop(self) -> tuple[Any, ...]:
        """What stands in the `else` of a loop."""
        if not self.c.chance(20):
            return ()
        with self.inside():
            return self.body(self.c.number(1, 2))

    def loop(self) -> list[Any]:
        with self.looping("run"):
            found = super().loop()
        return [s if not isinstance(s, For) else self._with_jumps(s) for s in found]

    def bumped(self) -> list[Any]:
        with self.looping("run"):
            return super().bumped()

    def _with_jumps(self, s: For) -> For:
        kind = "static" if s.loop == "tl.static_range" else "run"
        body = s.body if kind == "run" else _without_breaks(s.body)
        return For(s.name, s.loop, s.bounds, body, self.after_loop())

    def spin(self) -> list[Any]:
        name = self.fresh("c")
        start = Expr("cast", I32, (self.small(),))
        self.names[name] = I32
        self.locked.add(name)
        with self.inside(), self.looping("run"):
            condition = self.make(FLAG, 1) if self.c.chance(40) else None
            body = self.body(self.c.number(1, 4))
        forever = self.c.chance(40)
        return [Let(name, start), Spin(name, self.c.number(0, 4), condition, forever, body, self.after_loop())]

    def jump(self) -> list[Any]:
        """A branch that jumps on one side, or on both."""
        self.jumps += 1
        word = self.c.pick(("break", "continue"))
        condition: Any = self.c.pick(CONSTS) if self.c.chance(25) else self.make(FLAG, 1)
        with self.inside():
            then = (*self.body(self.c.number(0, 1)), Jump(word))
        with self.inside():
            other = self.body(self.c.number(0, 1))
            if other and self.c.chance(20):
                other = (*other, Jump(self.c.pick(("break", "continue"))))
        return [If(condition, then, other) if self.c.chance(80) or not other else If(condition, other, then)]

    def chosen(self) -> list[Any]:
        """A Const, or the index of an unrolled loop, decides."""
        static = [n for n in self.consts if n != "K"]
        text = self.c.pick(CONSTS)
        if static and self.c.chance(50):
            text = f"{self.c.pick(static)} {self.c.pick(('==', '<', '>='))} {self.c.pick(('K', '1', '2'))}"
        with self.inside():
            then = self.body(self.c.number(1, 2))
        with self.inside():
            other = self.body(self.c.number(0, 2))
        return [If(text, then, other)]

    def leave(self) -> list[Any]:
        self.left += 1
        if self.c.chance(40):
            return [Leave(self.make(FLAG, 1))]
        condition: Any = self.c.pick(CONSTS) if self.c.chance(40) else self.make(FLAG, 1)
        with self.inside():
            then = (*self.body(self.c.number(0, 2)), Jump("return"))
        with self.inside():
            other = self.body(self.c.number(0, 2))
        return [If(condition, then, other)]

    # Tuples

    def bundle(self) -> list[Any]:
        kinds = tuple(self.kind() for _ in range(self.c.number(1, 3)))
        name = self.fresh("q")
        found = Tuple(name, tuple(self.make(k, 1) for k in kinds))
        self.tuples[name] = kinds
        return [found]

    def item(self, name: str, at: int) -> Expr:
        kinds = self.tuples[name]
        return Expr("item", kinds[at], (), (name, at - len(kinds) if self.c.chance(20) else at))

    def rebundle(self) -> list[Any]:
        """New values, made of the old ones."""
        name = self.c.pick(list(self.tuples))
        values: list[Expr] = []
        for kind in self.tuples[name]:
            same = [at for at, k in enumerate(self.tuples[name]) if k == kind]
            values.append(self.item(name, self.c.pick(same)) if self.c.chance(60) else self.make(kind, 2))
        return [Tuple(name, tuple(values))]

    def unbundle(self) -> list[Any]:
        name = self.c.pick(list(self.tuples))
        at = self.c.number(0, len(self.tuples[name]) - 1)
        made = self.fresh()
        found = Let(made, self.item(name, at))
        self.names[made] = self.tuples[name][at]
        return [found]

    # Functions of two results

    def helper(self) -> None:
        super().helper()
        first = self.helpers[-1]
        if not self.c.chance(60):
            return
        inner = Expressions(self.c, self.rank, [], {}, self.classes, [k.dtype for _, k in first.parameters], plain=True)
        inner.names = dict(first.parameters) | {s.name: s.value.kind for s in first.body}
        inner.count = 1000
        kind = Kind(self.c.pick([k.dtype for _, k in first.parameters]), first.result.kind.shape)
        early = None if first.early is None else (*first.early, inner.make(kind, 1))
        second = inner.make(kind, 2)
        self.helpers[-1] = Helper(f"{first.name}_", first.parameters, first.body, early, first.result, second)

    def helped(self, kind: Kind, depth: int) -> Expr:
        kept = self.helpers
        self.helpers = [h for h in kept if h.second is None]
        found = super().helped(kind, depth)
        self.helpers = kept
        return found

    def unpack(self) -> list[Any]:
        found = [h for h in self.helpers if h.second is not None]
        if not found:
            return self.assign()
        h = self.c.pick(found)
        assert h.second is not None
        names = (self.fresh(), self.fresh())
        made = Unpack(names, h.name, tuple(self.make(k, 1) for _, k in h.parameters))
        self.names |= dict(zip(names, (h.result.kind, h.second.kind), strict=True))
        return [made]


def _without_breaks(body: tuple[Any, ...]) -> tuple[Any, ...]:
    """The body of an unrolled loop, which no `break` may end."""
    made: list[Any] = []
    for s in body:
        if isinstance(s, Jump) and s.word == "break":
            s = Jump("continue")
        elif isinstance(s, If):
            s = If(s.condition, _without_breaks(s.then), _without_breaks(s.other))
        elif isinstance(s, For):
            s = For(s.name, s.loop, s.bounds, s.body, _without_breaks(s.other))
        elif isinstance(s, Spin):
            s = Spin(s.name, s.limit, s.condition, s.forever, s.body, _without_breaks(s.other))
        made.append(s)
    return tuple(made)
