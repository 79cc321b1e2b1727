"""Writes random kernels, from the top down: an expression of a wanted type is made of smaller ones that fit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from tests.language.description import (
    Expr,
    For,
    Helper,
    If,
    Kind,
    Leave,
    Let,
    Pointer,
    Program,
    Shape,
    Store,
    While,
    fits,
)  # fmt: skip
from tests.language.values import ALL, CLASSES, FLOATS, INTEGERS, NUMBERS

T = TypeVar("T")
I32 = Kind("i32", ())
FLAG = Kind("bool", ())
ONE, TWO = (("BM",),), (("BM",), ("BN",), ("BM", "BN"), ("BM", "1"), ("1", "BN"), ("1", "1"), ("BN", "BM"), ("BM * BN",))
INDEXED = {("BM", "1"): ("BM", ":, None"), ("1", "BN"): ("BN", "None, :"), ("1", "BM"): ("BM", "None, :"), ("BN", "1"): ("BN", ":, None")}
WIDE = ("i32", "i64", "u32", "u64", *FLOATS)
MATH = ("exp", "log", "log2", "rsqrt")


class Choices(Protocol):
    """Where an author's decisions come from."""

    def pick(self, options: Sequence[T]) -> T: ...

    def chance(self, percent: int) -> bool: ...

    def number(self, low: int, high: int) -> int: ...


def literal(value: float | int) -> Expr:
    return Expr("literal", I32, (), value)


def var(name: str, kind: Kind) -> Expr:
    return Expr("var", kind, (), name)


@dataclass(slots=True)
class Author:
    """`variables`: the type of each name; `locked`: names that may not be assigned; `consts`: names of Const ints."""

    c: Choices
    rank: int = 1
    pointers: list[Pointer] = field(default_factory=list[Pointer])
    scalars: dict[str, str] = field(default_factory=dict[str, str])
    classes: dict[str, str] = field(default_factory=dict[str, str])
    dtypes: list[str] = field(default_factory=list[str])
    names: dict[str, Kind] = field(default_factory=dict[str, Kind])
    locked: set[str] = field(default_factory=set[str])
    consts: list[str] = field(default_factory=lambda: ["K"])
    helpers: list[Helper] = field(default_factory=list[Helper])
    plain: bool = False
    """Inside a helper: nothing that needs the kernel's names."""
    count: int = 0
    depth: int = 0

    # What a dtype has

    def leaves(self, dtype: str) -> tuple[str, ...]:
        return CLASSES[self.classes[dtype]] if dtype in self.classes else (dtype,)

    def within(self, dtype: str, group: Sequence[str]) -> bool:
        return all(leaf in group for leaf in self.leaves(dtype))

    def fresh(self, stem: str = "v") -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def shapes(self) -> tuple[Shape, ...]:
        return ((), *(ONE if self.rank == 1 else TWO))

    @property
    def main(self) -> Shape:
        return ("BM",) if self.rank == 1 else ("BM", "BN")

    def number(self, dtype: str) -> float | int:
        """A literal that every leaf of a dtype takes."""
        if self.within(dtype, FLOATS):
            return self.c.pick((0, 1, 2.0, -1, 0.5, -3.0, 0.1, 100))
        signed = self.within(dtype, ("i8", "i16", "i32", "i64", *FLOATS))
        return self.c.pick((0, 1, 2, 3, 5, 7, 100, 31) if not signed else (0, 1, 2, -1, -3, 7, 64, -128))

    # Expressions

    def make(self, kind: Kind, depth: int) -> Expr:
        """An expression of this type."""
        if depth <= 0 or self.c.chance(12):
            return self.leaf(kind)
        rules = self.rules(kind)
        return self.c.pick(rules)(kind, depth - 1)

    def rules(self, kind: Kind) -> list[Any]:
        dtype, shape = kind.dtype, kind.shape
        found: list[Any] = [self.where, self.leaf]
        if not shape and not self.plain:
            found.append(self.ternary)
        if not self.plain:
            found += [self.spread, self.spread] if shape else []
            if any(p.dtype == dtype and (p.sure or not kind.sure) and not p.loose for p in self.pointers) and shape:
                found += [self.load] * 3
            found.append(self.reduced)
            if shape in (("BM", "BN"), ("BN", "BM"), ("BM * BN",)):
                found.append(self.turned)
            found += [self.helped] if self.helpers else []
        found.append(self.cast)
        if dtype == "bool":
            found += [self.compare] * 4 + [self.bits] * 2
            return found + ([self.logic, self.chain] if not shape else [])
        found += [self.arithmetic] * 5 + [self.extreme, self.unary]
        if self.within(dtype, INTEGERS):
            found += [self.bits, self.bits, self.shift, self.divide]
        if self.within(dtype, FLOATS):
            found += [self.quotient, self.float_unary, self.fused]
        return found

    def part(self, shape: Shape) -> Shape:
        """A shape that broadcasts to another."""
        if self.plain:
            return shape
        options = [s for s in self.shapes() if fits(s, shape)]
        return self.c.pick([shape, shape, *options])

    def leaf(self, kind: Kind, depth: int = 0) -> Expr:
        found = [(n, k) for n, k in self.names.items() if k.dtype == kind.dtype and (k.sure or not kind.sure)]
        exact = [var(n, k) for n, k in found if k.shape == kind.shape]
        if exact and self.c.chance(85):
            return self.c.pick(exact)
        wider = [var(n, k) for n, k in found if fits(k.shape, kind.shape)] if not self.plain else []
        if wider and self.c.chance(80):
            return self.widened(self.c.pick(wider), kind)
        others = [var(n, k) for n, k in self.names.items() if k.shape == kind.shape and (k.sure or not kind.sure)]
        if others and self.c.chance(60):
            return self.converted(self.c.pick(others), kind)
        return self.constant(kind)

    def converted(self, e: Expr, kind: Kind) -> Expr:
        return e if e.kind.dtype == kind.dtype else Expr("cast", kind, (e,))

    def widened(self, e: Expr, kind: Kind) -> Expr:
        return e if e.kind.shape == kind.shape else Expr("broadcast", kind, (e,))

    def constant(self, kind: Kind) -> Expr:
        """Something of this type that can always be made."""
        exact = [var(n, k) for n, k in self.names.items() if k == kind]
        if self.plain and exact:
            return self.c.pick(exact)
        others = [var(n, k) for n, k in self.names.items() if k.shape == kind.shape and (k.sure or not kind.sure)]
        if kind.dtype == "bool":
            source = self.c.pick(others) if self.plain else self.constant(Kind("i32", kind.shape))
            if source.kind.dtype == "bool":
                return source
            return Expr("compare", kind, (source, literal(self.c.pick((0, 1, 2)))), self.c.pick(("<", ">=", "==", "!=")))
        if self.plain:
            return Expr("cast", kind, (self.c.pick(others),))
        return Expr("full", kind, (), self.number(kind.dtype))

    def pair(self, kind: Kind, depth: int, literals: bool = True) -> tuple[Expr, Expr]:
        """Two operands that broadcast to the shape; one may be a literal."""
        x = self.make(kind, depth)
        if literals and kind.dtype != "bool" and self.c.chance(25):
            other = Expr("const", kind, (), self.c.pick(self.consts)) if self.c.chance(25) and not self.plain else literal(self.number(kind.dtype))
            return (x, other) if self.c.chance(60) else (other, x)
        y = self.make(replace(kind, shape=self.part(kind.shape)), depth)
        return (x, y) if self.c.chance(50) else (y, x)

    def arithmetic(self, kind: Kind, depth: int) -> Expr:
        symbol = self.c.pick(("+", "-", "*"))
        if kind.dtype == "i64" and self.c.chance(30):
            x, y = self.make(kind, depth), self.make(replace(kind, dtype="i32", shape=self.part(kind.shape)), depth)
            return Expr("binary", kind, (x, y) if self.c.chance(50) else (y, x), symbol)
        return Expr("binary", kind, self.pair(kind, depth), symbol)

    def bits(self, kind: Kind, depth: int) -> Expr:
        return Expr("binary", kind, self.pair(kind, depth), self.c.pick(("&", "|", "^")))

    def shift(self, kind: Kind, depth: int) -> Expr:
        x = self.make(kind, depth)
        y = self.make(replace(kind, shape=self.part(kind.shape)), depth)
        if self.c.chance(70):
            y = Expr("binary", y.kind, (y, literal(15)), "&")
        if self.c.chance(30):
            y = literal(self.c.pick((0, 1, 3, 7)))
        return Expr("binary", kind, (x, y), self.c.pick(("<<", ">>")))

    def divide(self, kind: Kind, depth: int) -> Expr:
        """The divisor is odd or a literal: of 0 the language says nothing."""
        x = self.make(kind, depth)
        y = self.make(replace(kind, shape=self.part(kind.shape)), depth)
        odd = literal(self.c.pick((1, 2, 3, 8))) if self.c.chance(30) else Expr("binary", y.kind, (y, literal(1)), "|")
        return Expr("binary", kind, (x, odd), self.c.pick(("//", "%")))

    def quotient(self, kind: Kind, depth: int) -> Expr:
        if self.c.chance(75):
            return Expr("binary", kind, self.pair(kind, depth), "/")
        y = Expr("call", kind, (self.make(kind, depth),), "abs")
        return Expr("binary", kind, (self.make(kind, depth), Expr("binary", kind, (y, literal(1)), "+")), "%")

    def extreme(self, kind: Kind, depth: int) -> Expr:
        """Adding 0 settles the sign of a zero."""
        x, y = self.pair(kind, depth)
        if x.op in ("literal", "const"):
            x, y = y, x
        found = Expr("call", kind, (x, y), self.c.pick(("maximum", "minimum")))
        return self.settled(found)

    def settled(self, e: Expr) -> Expr:
        integer = self.within(e.kind.dtype, INTEGERS)
        return e if integer else Expr("binary", e.kind, (e, literal(0)), "+")

    def unary(self, kind: Kind, depth: int) -> Expr:
        x = self.make(kind, depth)
        if self.within(kind.dtype, INTEGERS) and self.c.chance(30):
            return Expr("unary", kind, (x,), "~")
        return Expr("call", kind, (x,), "abs") if self.c.chance(40) else Expr("unary", kind, (x,), self.c.pick(("-", "-", "+")))

    def float_unary(self, kind: Kind, depth: int) -> Expr:
        return Expr("call", kind, (self.make(kind, depth),), self.c.pick(("sqrt", "floor", "ceil")))

    def fused(self, kind: Kind, depth: int) -> Expr:
        x, y = self.make(kind, depth), self.make(replace(kind, shape=self.part(kind.shape)), depth)
        z = literal(self.number(kind.dtype)) if self.c.chance(30) else self.make(replace(kind, shape=self.part(kind.shape)), depth)
        return Expr("call", kind, (x, y, z), "fma")

    def cast(self, kind: Kind, depth: int) -> Expr:
        source = self.c.pick([*self.dtypes, "i32"]) if not self.plain else self.c.pick([k.dtype for k in self.names.values()])
        return Expr("cast", kind, (self.make(replace(kind, dtype=source), depth),))

    def compare(self, kind: Kind, depth: int) -> Expr:
        dtype = self.c.pick([*self.dtypes, "i32"]) if not self.plain else self.c.pick([k.dtype for k in self.names.values()])
        of = replace(kind, dtype=dtype)
        symbols = ("==", "!=") if not self.within(dtype, NUMBERS) else ("<", "<=", ">", ">=", "==", "!=")
        if dtype == "i32" and self.c.chance(15) and not self.plain:
            x, y = self.make(of, depth), self.make(replace(of, dtype="i64", shape=self.part(kind.shape)), depth)
            return Expr("compare", kind, (x, y) if self.c.chance(50) else (y, x), self.c.pick(symbols))
        literals = self.within(dtype, NUMBERS)
        return Expr("compare", kind, self.pair(of, depth, literals), self.c.pick(symbols))

    def logic(self, kind: Kind, depth: int) -> Expr:
        if self.c.chance(25):
            return Expr("not", kind, (self.make(kind, depth),))
        return Expr("logic", kind, (self.make(kind, depth), self.make(kind, depth)), self.c.pick(("and", "or")))

    def chain(self, kind: Kind, depth: int) -> Expr:
        dtypes = [d for d in self.dtypes if self.within(d, NUMBERS)] or ["i32"]
        dtype = self.c.pick([*dtypes, "i32"]) if not self.plain else self.c.pick([k.dtype for k in self.names.values()])
        if not self.within(dtype, NUMBERS):
            return self.leaf(kind)
        of = replace(kind, dtype=dtype)
        middle = self.make(of, depth)
        ends = [literal(self.number(dtype)) if self.c.chance(40) else self.make(of, depth) for _ in range(2)]
        return Expr("chain", kind, (ends[0], middle, ends[1]), (self.c.pick(("<", "<=")), self.c.pick(("<", "<=", "!="))))

    def where(self, kind: Kind, depth: int) -> Expr:
        condition = self.make(Kind("bool", self.part(kind.shape), kind.sure), depth)
        x, y = self.pair(kind, depth)
        return Expr("where", kind, (condition, x, y))

    def ternary(self, kind: Kind, depth: int) -> Expr:
        condition = self.make(replace(FLAG, sure=kind.sure), depth)
        return Expr("ternary", kind, (condition, self.make(kind, depth), self.make(kind, depth)))

    def spread(self, kind: Kind, depth: int) -> Expr:
        """A smaller value brought to the shape."""
        if kind.shape in INDEXED and self.c.chance(60):
            shape, index = INDEXED[kind.shape]
            return Expr("index", kind, (self.make(replace(kind, shape=(shape,)), depth),), index)
        return self.widened(self.make(replace(kind, shape=self.part(kind.shape)), depth), kind)

    def reduced(self, kind: Kind, depth: int) -> Expr:
        """A reduction of a larger tile. Undefined lanes never enter one."""
        options: list[tuple[Shape, int | None, bool]] = []
        if not kind.shape:
            options = [(s, None, False) for s in self.shapes() if s] + [(("BM",), 0, False), (("BM",), -1, False)]
        if self.rank == 2:
            options += {
                ("BM",): [(("BM", "BN"), 1, False), (("BN", "BM"), 0, False)], ("BN",): [(("BM", "BN"), 0, False)],
                ("BM", "1"): [(("BM", "BN"), 1, True), (("BM", "BN"), -1, True)], ("1", "BN"): [(("BM", "BN"), 0, True)],
                ("1", "1"): [(("BM", "BN"), None, True), (("BM", "1"), 0, True)],
            }.get(kind.shape, [])  # fmt: skip
        if not options or kind.dtype == "bool":
            return self.leaf(kind)
        shape, axis, keep = self.c.pick(options)
        name = self.c.pick(("sum", "sum", "max", "min"))
        if name == "sum" and (not self.within(kind.dtype, WIDE) or self.c.chance(20)):
            source = self.c.pick([d for d in [*self.dtypes, "bool", "i32"] if d not in self.classes])
            inner = self.make(Kind(source, shape), depth)
            if kind.dtype in self.classes and not self.within(kind.dtype, FLOATS):
                return self.leaf(kind)
            return Expr("reduce", kind, (inner,), ("sum", axis, keep, kind.dtype))
        found = Expr("reduce", kind, (self.make(Kind(kind.dtype, shape), depth),), (name, axis, keep, ""))
        return found if name == "sum" else self.settled(found)

    def turned(self, kind: Kind, depth: int) -> Expr:
        """Transposed or reshaped."""
        others = [s for s in (("BM", "BN"), ("BN", "BM"), ("BM * BN",)) if s != kind.shape]
        source = self.c.pick(others)
        inner = self.make(replace(kind, shape=source), depth)
        if len(source) == 2 and len(kind.shape) == 2 and self.c.chance(60):
            return Expr("trans", kind, (inner,))
        return Expr("reshape", kind, (inner,))

    def helped(self, kind: Kind, depth: int) -> Expr:
        found = [h for h in self.helpers if (h.result.kind.dtype, h.result.kind.shape) == (kind.dtype, kind.shape)]
        if not found:
            return self.leaf(kind)
        h = self.c.pick(found)
        return Expr("helper", kind, tuple(self.make(k, depth) for _, k in h.parameters), h.name)

    # Memory

    def coefficient(self) -> Expr:
        return self.c.pick((literal(1), literal(1), literal(2), literal(-1), literal(0), var("a", I32), var("b", I32), var("w", Kind("i64", ()))))

    def times(self, x: Expr, by: Expr) -> Expr:
        dtype = "i64" if "i64" in (x.kind.dtype, by.kind.dtype) else x.kind.dtype
        return Expr("binary", replace(x.kind, dtype=dtype), (x, by), "*")

    def plus(self, x: Expr, y: Expr, shape: Shape) -> Expr:
        dtype = "i64" if "i64" in (x.kind.dtype, y.kind.dtype) else x.kind.dtype
        return Expr("binary", Kind(dtype, shape), (x, y), "+")

    def indices(self, shape: Shape, own: bool = False) -> list[Expr]:
        """What a place is made of along each axis of a shape, as tiles that broadcast to it."""
        found: list[Expr] = []
        for axis, dim in enumerate(shape):
            if dim in ("BM", "BN"):
                names = [n for n in self.names if n == "r" + dim[1] or (n.startswith("r" + dim[1]) and not own)]
                row = var(self.c.pick(names), Kind("i32", (dim,)))
                if len(shape) == 2:
                    kind = Kind("i32", (dim, "1") if axis == 0 else ("1", dim))
                    row = Expr("index", kind, (row,), ":, None" if axis == 0 else "None, :")
                found.append(row)
            elif dim == "BM * BN":
                found.append(Expr("range", Kind("i32", (dim,)), (), dim))
        return found

    def pointer(self, name: str, dtype: str) -> Expr:
        return Expr("pointer", Kind(dtype, ()), (), name)

    def move(self, p: Expr, offset: Expr, shape: Shape) -> Expr:
        return Expr("move", Kind(p.kind.dtype, shape), (p, offset))

    def place(self, p: Pointer, shape: Shape) -> Expr:
        """A tile of pointers somewhere into an array."""
        at = self.pointer(p.name, p.dtype)
        terms = [self.times(x, self.coefficient()) for x in self.indices(shape)]
        for name, kind in self.names.items():
            if kind.dtype in ("i32", "i64") and not kind.shape and name[0] in "ic" and self.c.chance(60):
                terms.append(self.times(var(name, kind), self.coefficient()))
        if self.c.chance(60):
            terms.append(self.times(var("pid", I32), self.coefficient()))
        if self.c.chance(20):  # a gather
            deep = self.make(Kind(self.c.pick(("i32", "i32", "i64")), shape), 1)
            terms = [Expr("binary", deep.kind, (deep, literal(self.c.pick((7, 63, 255)))), "&")]
        if self.c.chance(50):
            for term in terms:
                at = self.move(at, term, self.joined(at.kind.shape, term.kind.shape))
            return at if at.kind.shape == shape else self.move(at, Expr("full", Kind("i32", shape), (), 0), shape)
        total = None
        for term in terms:
            total = term if total is None else self.plus(total, term, self.joined(total.kind.shape, term.kind.shape))
        if total is None or total.kind.shape != shape:
            base = Expr("full", Kind("i32", shape), (), self.c.number(0, 5))
            total = base if total is None else self.plus(total, base, shape)
        return self.move(at, total, shape)

    def joined(self, x: Shape, y: Shape) -> Shape:
        rank = max(len(x), len(y))
        a, b = ("1",) * (rank - len(x)) + x, ("1",) * (rank - len(y)) + y
        return tuple(v if u == "1" else u for u, v in zip(a, b, strict=True))

    def mask(self, shape: Shape) -> Expr:
        """Prefixes along the axes, or any condition that is sure."""
        parts: list[Expr] = []
        for x in self.indices(shape):
            if self.c.chance(75):
                bound = self.c.pick((var("m", I32), var("n", I32), literal(self.c.number(0, 9))))
                symbol = self.c.pick(("<", "<", "<", "<=", ">=", "!="))
                if self.c.chance(15) and bound.op == "var":
                    parts.append(Expr("compare", Kind("bool", x.kind.shape), (bound, x), ">"))
                else:
                    parts.append(Expr("compare", Kind("bool", x.kind.shape), (x, bound), symbol))
        if not parts or self.c.chance(25):
            parts.append(self.make(Kind("bool", self.part(shape)), 1))
        found = parts[0]
        for one in parts[1:]:
            found = Expr("binary", Kind("bool", self.joined(found.kind.shape, one.kind.shape)), (found, one), "&")
        return found

    def load(self, kind: Kind, depth: int) -> Expr:
        found = [p for p in self.pointers if p.dtype == kind.dtype and (p.sure or not kind.sure) and not p.loose]
        if not found:
            return self.leaf(kind)
        p = self.c.pick(found)
        at = self.own(p, kind.shape) if p.output else self.place(p, kind.shape)
        if self.c.chance(30):
            return Expr("load", kind, (at,))
        mask = self.mask(kind.shape)
        if not kind.sure and self.c.chance(50):
            return Expr("load", kind, (at, mask), self.c.chance(50))
        if kind.dtype != "bool" and self.within(kind.dtype, NUMBERS) and self.c.chance(60):
            infinite = self.within(kind.dtype, FLOATS) and self.c.chance(30)
            other = literal(-float("inf") if infinite else self.number(kind.dtype))
        else:
            other = self.make(replace(kind, shape=self.part(kind.shape)), depth)
        return Expr("load", kind, (at, mask, other), self.c.chance(50))

    def own(self, p: Pointer, shape: Shape) -> Expr:
        """This program's part of an output, each lane at a place of its own: strides come with the launch."""
        at = self.pointer(p.name, p.dtype)
        terms = [self.times(var("pid", I32), var("t", I32))]
        strides = {"BM": "t0", "BN": "t1"}
        if shape == ("BN", "BM"):
            strides = {"BN": "t1", "BM": "t0"}
        for x, dim in zip(self.indices(shape, True), [d for d in shape if d != "1"], strict=True):
            terms.append(self.times(x, var(strides.get(dim, "t1"), I32)))
        if shape == ("BM * BN",):
            terms = [terms[0], self.indices(shape, True)[0]]
        total = terms[0]
        for term in terms[1:]:
            total = self.plus(total, term, self.joined(total.kind.shape, term.kind.shape))
        if total.kind.shape != shape:
            total = self.plus(total, Expr("full", Kind("i32", shape), (), 0), shape)
        return self.move(at, total, shape)

    # Statements

    def body(self, count: int) -> tuple[Any, ...]:
        found: list[Any] = []
        for _ in range(count):
            found += self.statements()
        return tuple(found)

    def statements(self) -> list[Any]:
        rules = [self.assign] * 5 + [self.reassign] * 3 + [self.save]
        if self.depth < 2:
            rules += [self.loop, self.loop, self.branch, self.branch, self.count_up, self.bumped]
        if self.depth == 0:
            rules.append(self.leave)
        return self.c.pick(rules)()

    def kind(self) -> Kind:
        return Kind(self.c.pick([*self.dtypes, *self.dtypes, "i32", "bool"]), self.c.pick([*self.shapes(), self.main, self.main, self.main]), self.c.chance(70))

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
            value = literal(self.number(kind.dtype)) if self.c.chance(25) else self.make(replace(kind, shape=self.part(kind.shape)), 2)
            return [Let(name, value, self.c.pick(("+", "-", "*")))]
        return [Let(name, self.make(kind, 2))]

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
    def inside(self) -> Any:
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
            step = literal(self.c.pick((1, 1, 2))) if self.c.chance(80) else Expr("binary", I32, (Expr("binary", I32, (var("n", I32), literal(1)), "&"), literal(1)), "+")
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
            loaded = Expr("load", kind, (pointer, mask, other), True) if self.c.chance(70) else Expr("load", kind, (pointer,))
            body = (*self.body(self.c.number(0, 1)), Let(total, loaded, self.c.pick(("+", "*"))), Let(at, step, "+"))
        return [*start, For(index, "tl.range", (self.c.pick((var("m", I32), literal(3))),), body)]

    def leave(self) -> list[Any]:
        return [Leave(self.make(FLAG, 1))] if self.c.chance(30) else self.assign()

    def helper(self) -> None:
        """A function of one to three tensors of one shape."""
        shape = self.c.pick(self.shapes())
        dtypes = [self.c.pick(self.dtypes) for _ in range(self.c.number(1, 3))]
        inner = Author(self.c, self.rank, [], {}, self.classes, dtypes, plain=True)
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


def program(c: Choices) -> Program:
    """A random kernel."""
    a = Author(c, c.pick((1, 1, 2)))
    generic = c.chance(35)
    if generic:
        a.classes["D"] = c.pick(("F", "F", "N", "I"))
    pool = [c.pick(ALL) for _ in range(c.number(1, 2))] + [c.pick(("f32", "i32", "f32", "f16", "bf16", "f64", "i64", "u8"))]
    a.dtypes = list(dict.fromkeys([*pool, *(["D", "D"] if generic else [])]))
    inputs = list(dict.fromkeys([*(["D"] if generic else []), *(c.pick(a.dtypes) for _ in range(c.number(1, 3)))]))
    a.pointers = [Pointer(f"x{at}", d, False) for at, d in enumerate(inputs)]
    outputs = [c.pick(a.dtypes) for _ in range(c.number(1, 3))]
    a.pointers += [Pointer(f"y{at}", d, True, c.chance(60)) for at, d in enumerate(outputs)]
    floats = [d for d in a.dtypes if a.within(d, FLOATS)]
    loose = Pointer("z0", c.pick(floats), True, False, True) if floats and c.chance(20) else None
    a.scalars = {"m": "i32", "n": "i32", "a": "i32", "b": "i32", "w": "i64", "t": "i32", "t0": "i32", "t1": "i32"}
    a.names = {name: Kind(dtype, ()) for name, dtype in a.scalars.items()}
    prelude: list[Any] = []

    def let(name: str, kind: Kind, value: Expr) -> None:
        prelude.append(Let(name, value))
        a.names[name] = kind

    x, y = (Expr("program_id", I32, (), axis) for axis in (0, 1))
    flat = Expr("binary", I32, (x, Expr("binary", I32, (y, Expr("num_programs", I32, (), 0)), "*")), "+")
    let("pid", I32, flat)
    let("rM", Kind("i32", ("BM",)), Expr("range", Kind("i32", ("BM",)), (), "BM"))
    if a.rank == 2:
        let("rN", Kind("i32", ("BN",)), Expr("range", Kind("i32", ("BN",)), (), "BN"))
    if c.chance(40):
        shift = Expr("binary", I32, (var("pid", I32), Expr("const", I32, (), "BM")), "*")
        kind = Kind("i32", ("BM",))
        let("rM_", kind, Expr("binary", kind, (shift, var("rM", kind)), "+"))
    a.locked = set(a.names)
    for _ in range(c.pick((0, 0, 1, 2))):
        a.helper()
    for p in [p for p in a.pointers if not p.output]:
        for shape in dict.fromkeys((a.main, c.pick(a.shapes()))):
            kind = Kind(p.dtype, shape, c.chance(75))
            if shape or c.chance(50):
                let(a.fresh(), kind, a.load(kind, 1))
    body = [*prelude, *a.body(c.number(2, 6))]
    for p in [p for p in a.pointers if p.output]:
        if c.chance(85):
            body.append(Store(a.own(p, a.main), a.make(Kind(p.dtype, a.main, p.sure), 3), a.mask(a.main) if c.chance(60) else None))
    if loose is not None:
        a.pointers.append(loose)
        value = Expr("call", Kind(loose.dtype, a.main, False), (a.make(Kind(loose.dtype, a.main, False), 2),), c.pick(MATH))
        body.append(Store(a.own(loose, a.main), value, a.mask(a.main) if c.chance(60) else None))
    return Program(tuple(a.pointers), a.scalars, a.classes, a.rank, tuple(a.helpers), tuple(body))
