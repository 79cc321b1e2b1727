"""A block of scalars made to work on tiles: what a function does to one element, done to all elements at once.

Branches are computed on both sides and chosen from, element by element. A loop whose bounds are the same for all stays
one; any other runs while an element still needs it, and leaves those alone that do not.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from teeny.ir.core import Block, Region
from teeny.ir.dtype import BOOL, I32
from teeny.ir.schema import dtype_of
from teeny.ir.types import element_of, shape_of, typed
from teeny.ops.arith import addi
from teeny.ops.bits import andi, ori, xori
from teeny.ops.cast import convert
from teeny.ops.compare import compare, select
from teeny.ops.constant import constant
from teeny.ops.control import condition_, for_, while_, yield_
from teeny.ops.reduce import reduce_, reduce_return
from teeny.ops.shape import reshape_, splat

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from teeny.ir.builder import Builder
    from teeny.ir.core import Op, Value
    from teeny.ir.poly import Dim
    from teeny.ir.types import Type

    Values = tuple[Value, ...]


MAX_UNROLL = 64
"""Iterations of a loop that is written out at most."""


def flat(b: Builder, source: Block) -> Block:
    """A block of scalars without branches, nor loops of a known number of iterations, as far as there are no others."""
    made = Block(tuple(a.type for a in source.args), tuple(a.name for a in source.args))
    inner = b.__class__(made, b.loc)
    given = Lift(inner, (), dict(zip(source.args, made.args, strict=True))).block(source)
    end = source.ops[-1]
    inner.loc = end.loc
    inner.op(end.schema, given, dict(end.attrs))
    return made


def _number(value: Value) -> object:
    """The number that a constant is; None for other values."""
    return value.op.attrs["value"] if value.op is not None and value.op.schema.group == "constant" else None


class Lift:
    """Copies a block of scalars through a builder. Without a `shape` it stays one of scalars: branches alone go.

    `made`: what each value of the block has become: a tile of `shape`, or a scalar that is the same for all elements.
    """

    def __init__(self, b: Builder, shape: tuple[Dim, ...], made: dict[Value, Value]) -> None:
        self.b = b
        self.shape = shape
        self.made = made

    def block(self, block: Block, mask: Value | None = None) -> Values:
        """Copy a block; what its terminator hands on. `mask`: the elements that reach it; None: all."""
        for op in block.ops:
            self.b.loc, self.b.guard = op.loc, op.guard
            if op.schema.terminator:
                return tuple(self.made[x] for x in op.operands)
            found = self._op(op, mask)
            self.made.update(zip(op.results, found, strict=True))
        return ()

    def tile(self, value: Value) -> Value:
        """A value as a tile."""
        if shape_of(value.type) or not self.shape:
            return value
        return self.b.create(splat, value, type=typed(self.shape, element_of(value.type)))

    def _op(self, op: Op, mask: Value | None) -> Values:
        match op.schema.name:
            case "scf.if":
                return self._if(op, mask)
            case "scf.for":
                return self._for(op, mask)
            case "scf.while":
                return self._while(op, mask)
            case _:
                return self._plain(op)

    def _plain(self, op: Op) -> Values:
        operands = [self.made[x] for x in op.operands]
        if any(shape_of(x.type) for x in operands):
            operands = [self.tile(x) for x in operands]
            types = tuple(typed(self.shape, element_of(r.type)) for r in op.results)
        else:
            types = tuple(r.type for r in op.results)
        return self.b.op(op.schema, tuple(operands), dict(op.attrs), types=types).results

    def _if(self, op: Op, mask: Value | None) -> Values:
        condition = self.made[op.operands[0]]
        if not op.results:
            return ()
        flag = self.tile(condition)
        yes, no = (self.block(op.regions[at].block, self._both(mask, flag, at == 1)) for at in (0, 1))
        return tuple(self._choose(flag, x, y) for x, y in zip(yes, no, strict=True))

    def _choose(self, flag: Value, x: Value, y: Value) -> Value:
        return x if x is y else self.b.create(select, flag, self.tile(x), self.tile(y))

    def _both(self, mask: Value | None, flag: Value, flip: bool) -> Value:
        """The elements of `mask` where `flag` holds, or with `flip` does not."""
        if flip:
            flag = self.b.create(xori, flag, constant(self.b, flag.type, True))
        return flag if mask is None else self.b.create(andi, mask, flag)

    def _for(self, op: Op, mask: Value | None) -> Values:
        bounds = [self.made[x] for x in op.operands[:3]]
        source = op.regions[0].block
        if any(shape_of(x.type) for x in bounds):
            return self._for_some(op, mask)
        inits = tuple(self.tile(self.made[x]) for x in op.operands[3:])
        numbers = [_number(x) for x in bounds]
        if not self.shape and None not in numbers:
            start, end, step = (int(str(x)) for x in numbers)
            if len(indices := range(start, end, step)) <= MAX_UNROLL:
                return self._unrolled(source, indices, bounds[0].type, inits)
        body = Block((bounds[0].type, *(x.type for x in inits)))
        self.made.update(zip(source.args, body.args, strict=True))
        with self._inside(body):
            left = self.block(source, mask)
            self.b.op(yield_, tuple(map(self.tile, left)))
        return self.b.op(for_, (*bounds, *inits), {}, (Region([body]),)).results

    def _unrolled(self, source: Block, indices: range, index: Type, carried: Values) -> Values:
        for number in indices:
            self.made[source.args[0]] = constant(self.b, index, number)
            self.made.update(zip(source.args[1:], carried, strict=True))
            carried = self.block(source)
        return carried

    def _for_some(self, op: Op, mask: Value | None) -> Values:
        """Bounds that differ from element to element: each has an index of its own."""
        start, end, step = (self.tile(self.made[x]) for x in op.operands[:3])
        dtype = dtype_of(start.type)
        source = op.regions[0].block

        def going(carried: Values) -> tuple[Value, Values]:
            index, zero = carried[0], constant(self.b, start.type, 0)
            up = compare(self.b, "gt", dtype, step, zero)
            below, above = (compare(self.b, p, dtype, index, end) for p in ("lt", "gt"))
            return self.b.create(select, up, below, above), carried

        def body(carried: Values, active: Value) -> Values:
            self.made.update(zip(source.args, carried, strict=True))
            left = self.block(source, active)
            return self.b.create(addi, carried[0], step), *left

        inits = (start, *(self.tile(self.made[x]) for x in op.operands[3:]))
        return self._masked(inits, going, body, mask)[1:]

    def _while(self, op: Op, mask: Value | None) -> Values:
        test, source = (region.block for region in op.regions)

        def going(carried: Values) -> tuple[Value, Values]:
            self.made.update(zip(test.args, carried, strict=True))
            flag, *passed = map(self.tile, self.block(test, mask))
            return flag, tuple(passed)

        def body(carried: Values, active: Value) -> Values:
            self.made.update(zip(source.args, carried, strict=True))
            return self.block(source, active)

        return self._masked(tuple(self.tile(self.made[x]) for x in op.operands), going, body, mask)

    def _masked(
        self,
        inits: Values,
        going: Callable[[Values], tuple[Value, Values]],
        body: Callable[[Values, Value], Values],
        mask: Value | None,
    ) -> Values:
        """A loop that runs while an element is going; what elements that are not hold stays as it is.

        `going` gives for what is carried the flag of each element, and what the body takes. Of an element that has
        stopped it gives the same again, since what it is computed from does not change.
        """
        before = Block(tuple(x.type for x in inits))
        place = self.b.loc
        with self._inside(before):
            flag, passed = going(before.args)
            active = flag if mask is None else self.b.create(andi, flag, mask)
            self.b.loc = place
            self.b.op(condition_, (self._any(active), *before.args, *passed, active))
        types = (*(x.type for x in inits), *(x.type for x in passed), active.type)
        after = Block(types)
        with self._inside(after):
            held, flag = after.args[: len(inits)], after.args[-1]
            left = body(after.args[len(inits) : -1], flag)
            self.b.loc = place
            self.b.op(yield_, tuple(self._choose(flag, x, y) for x, y in zip(left, held, strict=True)))
        made = self.b.op(while_, inits, {}, (Region([before]), Region([after])), types)
        return made.results[len(inits) : -1]

    def _any(self, flags: Value) -> Value:
        """Whether any element of a tile of bools is true."""
        if not self.shape:
            return flags
        value = convert(self.b, flags, BOOL, I32)
        size: Dim = 1
        for dim in self.shape:
            size = size * dim
        if len(self.shape) > 1:
            value = self.b.create(reshape_, value, type=typed((size,), I32), allow_reorder=False)
        body = Block((I32, I32))
        with self._inside(body):
            self.b.op(reduce_return, (self.b.create(ori, *body.args),))
        found = self.b.op(reduce_, (value,), {"axis": 0}, (Region([body]),)).result
        return compare(self.b, "ne", I32, found, constant(self.b, I32, 0))

    @contextmanager
    def _inside(self, block: Block) -> Generator[None]:
        """Within, operations go into `block`."""
        outer = self.b.block
        self.b.block = block
        yield
        self.b.block = outer
