"""Random addresses, masks, loads and stores."""

from __future__ import annotations

from dataclasses import replace

from tests.language.description import Expr, Kind, Pointer, Shape, fits
from tests.language.expressions import FLAT, I32, Expressions, index_of, literal, var
from tests.language.values import FLOATS, NUMBERS


class Memory(Expressions):
    """Places in arrays, made of ranges, strides, program numbers and loop counts."""

    def coefficient(self) -> Expr:
        return self.c.pick(
            (
                literal(1),
                literal(1),
                literal(2),
                literal(-1),
                literal(0),
                var("a", I32),
                var("b", I32),
                var("w", Kind("i64", ())),
            )
        )

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
            if dim in ("BM", "BN", "BK"):
                names = [n for n in self.names if n == "r" + dim[1] or (n.startswith("r" + dim[1]) and not own)]
                row = var(self.c.pick(names), Kind("i32", (dim,)))
                if not own and self.c.chance(8):  # rows found through an index
                    row = Expr("binary", row.kind, (self.make(row.kind, 2), literal(15)), "&")
                if len(shape) > 1:
                    kind = Kind("i32", tuple(dim if at == axis else "1" for at in range(len(shape))))
                    row = Expr("index", kind, (row,), index_of(kind.shape))
                found.append(row)
            elif dim == FLAT[0]:
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
        """Prefixes along the axes, or any condition that is sure; often one that has a name."""
        named = [var(n, k) for n, k in self.names.items() if n[0] == "k" and k.sure and fits(k.shape, shape)]
        return self.c.pick(named) if named and self.c.chance(50) else self.mask_of(shape)

    def mask_of(self, shape: Shape) -> Expr:
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
        strides = {"BM": "t0", "BN": "t1", "BK": "t2"}
        for x, dim in zip(self.indices(shape, True), [d for d in shape if d != "1"], strict=True):
            terms.append(self.times(x, var(strides.get(dim, "t1"), I32)))
        if shape == FLAT:
            terms = [terms[0], self.indices(shape, True)[0]]
        total = terms[0]
        for term in terms[1:]:
            total = self.plus(total, term, self.joined(total.kind.shape, term.kind.shape))
        if total.kind.shape != shape:
            total = self.plus(total, Expr("full", Kind("i32", shape), (), 0), shape)
        return self.move(at, total, shape)
