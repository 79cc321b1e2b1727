"""Writes random kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tests.language.addresses import Memory
from tests.language.description import Expr, For, Helper, If, Kind, Leave, Let, Pair, Pointer, Program, Store, While
from tests.language.expressions import FLAG, I32, MATH, WIDE, Choices, Expressions, literal, var
from tests.language.values import ALL, FLOATS, NUMBERS


class Author(Memory):
    """Statements, and what they are put together to; `most` of them in the body of the kernel."""

    most = 6

    def body(self, count: int) -> tuple[Any, ...]:
        found: list[Any] = []
        for _ in range(count):
            found += self.statements()
        return tuple(found)

    def statements(self) -> list[Any]:
        rules = [self.assign] * 5 + [self.reassign] * 3 + [self.save, self.swap, self.row]
        if self.depth < 2:
            rules += [self.loop, self.loop, self.branch, self.branch, self.count_up, self.bumped]
        if self.depth == 0:
            rules.append(self.leave)
        return self.c.pick(rules)()

    def kind(self) -> Kind:
        return Kind(
            self.c.pick([*self.dtypes, *self.dtypes, "i32", "bool"]),
            self.c.pick([*self.shapes(), self.main, self.main, self.main]),
            self.c.chance(70),
        )

    def assign(self) -> list[Any]:
        kind = self.kind()
        if self.c.chance(40):
            loads = [p for p in self.pointers if not p.output]
            kind = replace(kind, dtype=self.c.pick(loads).dtype)
            value = self.load(kind, 1)
        else:
            value = self.make(kind, self.c.number(1, 3))
        name = self.fresh()
        self.names[name] = kind
        return [Let(name, value)]

    def reassign(self) -> list[Any]:
        options = [n for n in self.names if n not in self.locked]
        if not options:
            return self.assign()
        name = self.c.pick(options)
        kind = self.names[name]
        if self.within(kind.dtype, NUMBERS) and self.c.chance(50):
            value = (
                literal(self.number(kind.dtype))
                if self.c.chance(25)
                else self.make(replace(kind, shape=self.part(kind.shape)), 2)
            )
            return [Let(name, value, self.c.pick(("+", "-", "*")))]
        return [Let(name, self.make(kind, 2))]

    def swap(self) -> list[Any]:
        """Two names of one type at once, each value made from both, or of two types."""
        options = [n for n in self.names if n not in self.locked]
        if len(options) < 2:
            return self.assign()
        first = self.c.pick(options)
        same = [n for n in options if n != first and self.names[n] == self.names[first]]
        if not same or self.c.chance(30):
            second = self.c.pick([n for n in options if n != first])
            return [Pair((first, second), (self.make(self.names[first], 2), self.make(self.names[second], 2)))]
        second = self.c.pick(same)
        x, y = var(first, self.names[first]), var(second, self.names[second])
        if self.within(x.kind.dtype, NUMBERS) and self.c.chance(60):
            x = Expr("binary", x.kind, (x, y), "+")
        return [Pair((first, second), (y, x))]

    def row(self) -> list[Any]:
        """What most kernels do: a masked row, its reduction, the row changed by that and stored under the mask."""
        inputs = [p for p in self.pointers if not p.output and self.within(p.dtype, WIDE)]
        outputs = [p for p in self.pointers if p.output and not p.loose and any(q.dtype == p.dtype for q in inputs)]
        if not outputs:
            return self.assign()
        out = self.c.pick(outputs)
        kind = Kind(out.dtype, self.main)
        source = self.c.pick([p for p in inputs if p.dtype == out.dtype])
        axis = self.c.pick((*range(self.rank), -1, -1))
        mask, x, total = self.fresh("k"), self.fresh(), self.fresh()
        at = self.place(source, self.main)
        flag = Kind("bool", self.main)
        found: list[Any] = [Let(mask, self.widened(self.mask_of(self.main), flag))]
        self.names[mask] = flag
        number = -float("inf") if self.within(out.dtype, FLOATS) and self.c.chance(40) else self.number(out.dtype)
        found.append(Let(x, Expr("load", kind, (at, var(mask, flag), literal(number)), True)))
        self.names[x] = kind
        name = self.c.pick(("sum", "max", "min"))
        inner = var(x, kind) if self.c.chance(50) else self.make(kind, 2)
        shape = tuple("1" if at == axis % self.rank else d for at, d in enumerate(self.main))
        reduced = Expr("reduce", Kind(out.dtype, shape), (inner,), (name, axis, True, ""))
        found.append(Let(total, reduced if name == "sum" else self.settled(reduced)))
        self.names[total] = Kind(out.dtype, shape)
        result = Expr("binary", kind, (var(x, kind), var(total, Kind(out.dtype, shape))), self.c.pick(("+", "-", "*")))
        found.append(
            Store(self.own(out, self.main), result if self.c.chance(70) else self.make(kind, 2), var(mask, flag))
        )
        return found

    def save(self) -> list[Any]:
        outputs = [p for p in self.pointers if p.output and not p.loose]
        p = self.c.pick(outputs)
        shape = self.c.pick([*self.shapes(), self.main, self.main])
        part = self.part(shape) if self.c.chance(20) else shape
        value = self.make(Kind(p.dtype, part, p.sure), 2)
        if self.within(p.dtype, NUMBERS) and self.c.chance(8):
            value = literal(self.number(p.dtype))
        return [Store(self.own(p, shape), value, self.mask(shape) if self.c.chance(60) else None)]

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Names made inside are forgotten after."""
        kept, consts = dict(self.names), list(self.consts)
        self.depth += 1
        yield
        self.depth -= 1
        self.names, self.consts = kept, consts

    def small(self) -> Expr:
        """A scalar from 0 to 3, i32 or i64."""
        source = self.c.pick((var("n", I32), var("m", I32), var("pid", I32), var("w", Kind("i64", ()))))
        return Expr("binary", source.kind, (source, literal(3)), "&")

    def loop(self) -> list[Any]:
        name = self.fresh("i")
        kind = self.c.pick(("tl.range", "tl.range", "range", "tl.static_range"))
        if kind == "tl.static_range":
            bounds: tuple[Any, ...] = self.c.pick(((2,), (1, 4), (0, 5, 2), (3, 0, -1), (0,), ("K",)))
            bounds = tuple(Expr("const", I32, (), b) if b == "K" else b for b in bounds)
        else:
            downwards = self.c.chance(20)
            start = self.small() if self.c.chance(40) else literal(self.c.number(-1, 2))
            end = self.small() if self.c.chance(50) else literal(self.c.number(0, 4))
            step = (
                literal(self.c.pick((1, 1, 1, 2, 2, 3)))
                if self.c.chance(80)
                else Expr("binary", I32, (Expr("binary", I32, (var("n", I32), literal(1)), "&"), literal(1)), "+")
            )
            bounds = (end, start, literal(-1)) if downwards else (start, end, step)
            bounds = (end,) if self.c.chance(30) else bounds
            if kind == "range":
                bounds = tuple(b if b.kind.dtype == "i32" else literal(2) for b in bounds)
        with self.inside():
            if kind == "tl.static_range":
                self.consts.append(name)
            else:
                wide = any(isinstance(b, Expr) and b.kind.dtype == "i64" for b in bounds)
                if kind == "tl.range":
                    self.names[name] = Kind("i64" if wide else "i32", ())
                else:
                    self.names[name] = I32
                self.locked.add(name)
            body = self.body(self.c.number(1, 3))
        return [For(name, kind, bounds, body)]

    def count_up(self) -> list[Any]:
        name = self.fresh("c")
        start = Expr("cast", I32, (self.small(),))
        self.names[name] = I32
        self.locked.add(name)
        with self.inside():
            condition = self.make(FLAG, 2) if self.c.chance(40) else None
            body = self.body(self.c.number(1, 3))
        return [Let(name, start), While(name, self.c.number(0, 4), condition, body)]

    def branch(self) -> list[Any]:
        condition: Any = "FLAG" if self.c.chance(30) else self.make(FLAG, 2)
        with self.inside():
            then = self.body(self.c.number(1, 2))
        with self.inside():
            other = self.body(self.c.number(0, 2))
        if self.c.chance(30):  # a name of both sides is one after them
            kind = self.kind()
            name = self.fresh()
            then, other = (*then, Let(name, self.make(kind, 2))), (*other, Let(name, self.make(kind, 2)))
            self.names[name] = kind
        return [If(condition, then, other)]

    def bumped(self) -> list[Any]:
        """A tile of pointers that moves on in a loop, its elements added up."""
        p = self.c.pick([p for p in self.pointers if not p.output])
        if not self.within(p.dtype, NUMBERS):
            return self.assign()
        kind = Kind(p.dtype, self.main)
        at, total, index = self.fresh("p"), self.fresh(), self.fresh("i")
        start = [Let(total, self.make(kind, 1)), Let(at, self.place(p, self.main))]
        self.names[total] = kind
        step = self.c.pick((var("a", I32), var("w", Kind("i64", ())), literal(3), Expr("const", I32, (), "BM")))
        pointer = Expr("var", kind, (), at)
        with self.inside():
            self.names[index] = I32
            self.locked.add(index)
            mask = self.mask(self.main)
            other = literal(self.number(p.dtype))
            loaded = (
                Expr("load", kind, (pointer, mask, other), True)
                if self.c.chance(70)
                else Expr("load", kind, (pointer,))
            )
            body = (*self.body(self.c.number(0, 1)), Let(total, loaded, self.c.pick(("+", "*"))), Let(at, step, "+"))
        return [*start, For(index, "tl.range", (self.c.pick((var("m", I32), literal(3))),), body)]

    def leave(self) -> list[Any]:
        return [Leave(self.make(FLAG, 1))] if self.c.chance(30) else self.assign()

    def helper(self) -> None:
        """A function of one to three tensors of one shape."""
        shape = self.c.pick(self.shapes())
        dtypes = [self.c.pick(self.dtypes) for _ in range(self.c.number(1, 3))]
        inner = Expressions(self.c, self.rank, [], {}, self.classes, dtypes, plain=True)
        parameters = tuple((name, Kind(d, shape, True)) for name, d in zip("xyz", dtypes, strict=False))
        inner.names = dict(parameters)
        inner.count = 100 * len(self.helpers)
        body: list[Let] = []
        for _ in range(self.c.number(0, 2)):
            kind = Kind(self.c.pick(dtypes), shape)
            name = inner.fresh("h")
            body.append(Let(name, inner.make(kind, 2)))
            inner.names[name] = kind
        kind = Kind(self.c.pick(dtypes), shape)
        early = (inner.make(FLAG, 1), inner.make(kind, 1)) if not shape and self.c.chance(60) else None
        self.helpers.append(Helper(f"helper{len(self.helpers)}", parameters, tuple(body), early, inner.make(kind, 3)))


def program(c: Choices, author: type[Author] = Author) -> Program:
    """A random kernel by one kind of author."""
    a = author(c, c.pick((1, 1, 1, 2, 2, 3)))
    generic = c.chance(35)
    if generic:
        a.classes["D"] = c.pick(("F", "F", "N", "I"))
    pool = [c.pick(ALL) for _ in range(c.number(1, 2))] + [
        c.pick(("f32", "i32", "f32", "f16", "bf16", "f64", "i64", "u8"))
    ]
    a.dtypes = list(dict.fromkeys([*pool, *(["D", "D"] if generic else [])]))
    inputs = list(dict.fromkeys([*(["D"] if generic else []), *(c.pick(a.dtypes) for _ in range(c.number(1, 3)))]))
    a.pointers = [Pointer(f"x{at}", d, False) for at, d in enumerate(inputs)]
    outputs = [c.pick(a.dtypes) for _ in range(c.number(1, 3))]
    a.pointers += [Pointer(f"y{at}", d, True, c.chance(60)) for at, d in enumerate(outputs)]
    floats = [d for d in a.dtypes if a.within(d, FLOATS)]
    loose = Pointer("z0", c.pick(floats), True, False, True) if floats and c.chance(20) else None
    a.scalars = {
        "m": "i32",
        "n": "i32",
        "a": "i32",
        "b": "i32",
        "w": "i64",
        "t": "i32",
        "t0": "i32",
        "t1": "i32",
        "t2": "i32",
    }
    a.names = {name: Kind(dtype, ()) for name, dtype in a.scalars.items()}
    prelude: list[Any] = []

    def let(name: str, kind: Kind, value: Expr) -> None:
        prelude.append(Let(name, value))
        a.names[name] = kind

    x, y = (Expr("program_id", I32, (), axis) for axis in (0, 1))
    flat = Expr("binary", I32, (x, Expr("binary", I32, (y, Expr("num_programs", I32, (), 0)), "*")), "+")
    let("pid", I32, flat)
    let("rM", Kind("i32", ("BM",)), Expr("range", Kind("i32", ("BM",)), (), "BM"))
    if a.rank == 3:
        let("rK", Kind("i32", ("BK",)), Expr("range", Kind("i32", ("BK",)), (), "BK"))
    if a.rank >= 2:
        let("rN", Kind("i32", ("BN",)), Expr("range", Kind("i32", ("BN",)), (), "BN"))
    if c.chance(40):
        shift = Expr("binary", I32, (var("pid", I32), Expr("const", I32, (), "BM")), "*")
        kind = Kind("i32", ("BM",))
        let("rM_", kind, Expr("binary", kind, (shift, var("rM", kind)), "+"))
    a.locked = set(a.names)
    for _ in range(c.pick((0, 0, 1, 2))):
        a.helper()
    if c.chance(60):
        let(a.fresh("k"), Kind("bool", a.main), a.widened(a.mask_of(a.main), Kind("bool", a.main)))
    for p in [p for p in a.pointers if not p.output]:
        for shape in dict.fromkeys((a.main, c.pick(a.shapes()))):
            kind = Kind(p.dtype, shape, c.chance(75))
            if shape or c.chance(50):
                let(a.fresh(), kind, a.load(kind, 1))
    body = [*prelude, *a.body(c.number(2, a.most))]
    for p in [p for p in a.pointers if p.output and c.chance(85)]:
        value = a.make(Kind(p.dtype, a.main, p.sure), 3)
        body += [Store(a.own(p, a.main), value, a.mask(a.main) if c.chance(60) else None)]
    if loose is not None:
        a.pointers.append(loose)
        value = Expr(
            "call", Kind(loose.dtype, a.main, False), (a.make(Kind(loose.dtype, a.main, False), 2),), c.pick(MATH)
        )
        body.append(Store(a.own(loose, a.main), value, a.mask(a.main) if c.chance(60) else None))
    return Program(tuple(a.pointers), a.scalars, a.classes, a.rank, tuple(a.helpers), tuple(body))
