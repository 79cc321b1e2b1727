"""Random expressions, from the top down: one of a wanted type is made of smaller ones that fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from tests.language.description import Expr, Helper, Kind, Pointer, Shape, fits
from tests.language.values import CLASSES, FLOATS, INTEGERS, NUMBERS

T = TypeVar("T")
I32 = Kind("i32", ())
FLAG = Kind("bool", ())
FLAT = ("BM * BN",)
SHAPES: dict[int, tuple[Shape, ...]] = {
    1: (("BM",),),
    2: (("BM",), ("BN",), ("BM", "BN"), ("BM", "1"), ("1", "BN"), ("1", "1"), ("BN", "BM"), FLAT),
    3: (
        ("BK",), ("BM",), ("BN",), ("BM", "BN"), ("BK", "BM"), ("BK", "BM", "BN"), ("1", "BM", "BN"), ("BK", "1", "BN"),
        ("BK", "BM", "1"), ("1", "1", "BN"), ("BK", "1", "1"), ("BN", "BM", "BK"), ("BM", "BK", "BN"),
    ),
}  # fmt: skip
"""The shapes of a kernel's values, by its rank."""
MAIN: dict[int, Shape] = {1: ("BM",), 2: ("BM", "BN"), 3: ("BK", "BM", "BN")}
WIDE = ("i32", "i64", "u32", "u64", *FLOATS)
MATH = ("exp", "log", "log2", "rsqrt")


class Choices(Protocol):
    """Where an author's decisions come from."""

    def pick(self, options: Sequence[T]) -> T: ...

    def chance(self, percent: int) -> bool: ...

    def number(self, low: int, high: int) -> int: ...


def literal(value: float | int) -> Expr:
    return Expr("literal", I32, (), value)


def index_of(shape: Shape) -> str:
    """The index that gives a value of the dims that are not 1 this shape."""
    return ", ".join("None" if d == "1" else ":" for d in shape)


def var(name: str, kind: Kind) -> Expr:
    return Expr("var", kind, (), name)


@dataclass(slots=True)
class Expressions:
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
        return ((), *SHAPES[self.rank])

    @property
    def main(self) -> Shape:
        return MAIN[self.rank]

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
            if len(shape) == self.rank > 1 or shape == FLAT:
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
            return Expr(
                "compare", kind, (source, literal(self.c.pick((0, 1, 2)))), self.c.pick(("<", ">=", "==", "!="))
            )
        if self.plain:
            return Expr("cast", kind, (self.c.pick(others),))
        return Expr("full", kind, (), self.number(kind.dtype))

    def pair(self, kind: Kind, depth: int, literals: bool = True) -> tuple[Expr, Expr]:
        """Two operands that broadcast to the shape; one may be a literal."""
        x = self.make(kind, depth)
        if literals and kind.dtype != "bool" and self.c.chance(25):
            other = (
                Expr("const", kind, (), self.c.pick(self.consts))
                if self.c.chance(25) and not self.plain
                else literal(self.number(kind.dtype))
            )
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
        return (
            Expr("call", kind, (x,), "abs")
            if self.c.chance(40)
            else Expr("unary", kind, (x,), self.c.pick(("-", "-", "+")))
        )

    def float_unary(self, kind: Kind, depth: int) -> Expr:
        return Expr("call", kind, (self.make(kind, depth),), self.c.pick(("sqrt", "floor", "ceil")))

    def fused(self, kind: Kind, depth: int) -> Expr:
        x, y = self.make(kind, depth), self.make(replace(kind, shape=self.part(kind.shape)), depth)
        z = (
            literal(self.number(kind.dtype))
            if self.c.chance(30)
            else self.make(replace(kind, shape=self.part(kind.shape)), depth)
        )
        return Expr("call", kind, (x, y, z), "fma")

    def cast(self, kind: Kind, depth: int) -> Expr:
        source = (
            self.c.pick([*self.dtypes, "i32"])
            if not self.plain
            else self.c.pick([k.dtype for k in self.names.values()])
        )
        return Expr("cast", kind, (self.make(replace(kind, dtype=source), depth),))

    def compare(self, kind: Kind, depth: int) -> Expr:
        dtype = (
            self.c.pick([*self.dtypes, "i32"])
            if not self.plain
            else self.c.pick([k.dtype for k in self.names.values()])
        )
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
        return Expr(
            "chain", kind, (ends[0], middle, ends[1]), (self.c.pick(("<", "<=")), self.c.pick(("<", "<=", "!=")))
        )

    def where(self, kind: Kind, depth: int) -> Expr:
        condition = self.make(Kind("bool", self.part(kind.shape), kind.sure), depth)
        x, y = self.pair(kind, depth)
        return Expr("where", kind, (condition, x, y))

    def ternary(self, kind: Kind, depth: int) -> Expr:
        condition = self.make(replace(FLAG, sure=kind.sure), depth)
        return Expr("ternary", kind, (condition, self.make(kind, depth), self.make(kind, depth)))

    def spread(self, kind: Kind, depth: int) -> Expr:
        """A smaller value brought to the shape."""
        inner = tuple(d for d in kind.shape if d != "1")
        if 0 < len(inner) < len(kind.shape) and inner in self.shapes() and self.c.chance(60):
            return Expr("index", kind, (self.make(replace(kind, shape=inner), depth),), index_of(kind.shape))
        return self.widened(self.make(replace(kind, shape=self.part(kind.shape)), depth), kind)

    def reduced(self, kind: Kind, depth: int) -> Expr:
        """A reduction of a larger tile. Undefined lanes never enter one."""
        options: list[tuple[Shape, int | None, bool]] = []
        for source in SHAPES[self.rank]:
            options += [(source, None, False)] if not kind.shape else []
            options += [(source, None, True)] if kind.shape == ("1",) * len(source) else []
            for axis in range(len(source)):
                before, after = source[:axis], source[axis + 1 :]
                at = axis - len(source) if self.c.chance(20) else axis
                options += [(source, at, False)] if (*before, *after) == kind.shape else []
                options += [(source, at, True)] if (*before, "1", *after) == kind.shape else []
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
        sizes = sorted(" * ".join(kind.shape).split(" * "))
        others = [s for s in self.shapes() if s != kind.shape and sorted(" * ".join(s).split(" * ")) == sizes]
        if not others:
            return self.leaf(kind)
        source = self.c.pick(others)
        inner = self.make(replace(kind, shape=source), depth)
        if len(source) == len(kind.shape) and self.c.chance(60):
            order = tuple(source.index(d) for d in kind.shape)
            return Expr("trans", kind, (inner,), None if order == (1, 0) and self.c.chance(50) else order)
        return Expr("reshape", kind, (inner,))

    def helped(self, kind: Kind, depth: int) -> Expr:
        found = [h for h in self.helpers if (h.result.kind.dtype, h.result.kind.shape) == (kind.dtype, kind.shape)]
        if not found:
            return self.leaf(kind)
        h = self.c.pick(found)
        return Expr("helper", kind, tuple(self.make(k, depth) for _, k in h.parameters), h.name)
