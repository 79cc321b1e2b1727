"""Functions of several blocks to functions of one: branches become nested `scf.if`s.

Triton's front end writes early returns as branches between blocks. Where some ways through a branch return and others
meet again, the `scf.if` that takes its place says which happened: its first result is true where the function is to
return, then come what it returns and what the meeting point takes (undefined where it is not reached). What follows the
meeting point then stands under "not returned". No block is copied, unless blocks meet in a way that no `if` of a
structured program makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from teeny.diag.diagnostic import at as label
from teeny.diag.diagnostic import report
from teeny.ir.blocks import successors
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Op, Region, Value
from teeny.ir.dtype import BOOL
from teeny.ir.text import TextError
from teeny.ops.branch import poison
from teeny.ops.constant import constant
from teeny.ops.control import if_, return_, yield_
from teeny.passes.copy import copy_op

if TYPE_CHECKING:
    from teeny.ir.types import Type
    from teeny.passes.copy import Values

__all__ = ["structure"]

_MOST = 10_000
"""Copies of blocks before a function counts as too tangled."""


def structure(module: Module) -> Module:
    """A module whose functions have one block each; those that have already are taken as they are.

    Raises TextError (X006) for a loop made of branches.
    """
    return Module([f if len(f.body.blocks) == 1 else _Structurer(f).run() for f in module.functions])


@dataclass(slots=True)
class _End:
    """How a stretch of blocks ends: `returned` (i1; None where it is known), what it returns, what its stop takes."""

    returns: bool
    reaches: bool
    returned: Value | None
    values: tuple[Value, ...]
    handed: tuple[Value, ...]


class _Structurer:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.blocks = function.body.blocks
        self.after = [successors(b) for b in self.blocks]
        self.order = self._order()
        self.reach = self._reach()
        self.copies = 0

    def fault(self, message: str, number: int) -> TextError:
        loc = self.blocks[number].ops[-1].loc
        return TextError((report("X006", f"{self.function.name}: {message}", *(() if loc is None else (label(loc),))),))

    def _order(self) -> dict[int, int]:
        """Positions in an order in which each block comes after those that lead to it."""
        found: list[int] = []
        state: dict[int, int] = {}
        stack = [(0, False)]
        while stack:
            number, done = stack.pop()
            if done:
                state[number] = 2
                found.append(number)
            elif state.get(number) is None:
                state[number] = 1
                stack.append((number, True))
                for to in self.after[number]:
                    if state.get(to) == 1:
                        raise self.fault("a loop made of branches, which teeny does not read", number)
                    stack.append((to, False))
        return {number: at for at, number in enumerate(reversed(found))}

    def _reach(self) -> dict[int, frozenset[int]]:
        """The blocks that may be reached from each, itself too."""
        found: dict[int, frozenset[int]] = {}
        for number in reversed(list(self.order)):
            found[number] = frozenset((number,)).union(*(found[to] for to in self.after[number]))
        return found

    def run(self) -> Function:
        function, entry = self.function, self.blocks[0]
        block = Block(tuple(a.type for a in entry.args), tuple(a.name for a in entry.args))
        values: Values = dict(zip(entry.args, block.args, strict=True))
        b = Builder(block, function.loc)
        end = self.stretch(b, 0, None, values)
        b.op(return_, end.values)
        return Function(
            function.name, Region([block]), function.result_types, function.public, function.arg_attrs,
            dict(function.attrs), function.loc,
        )  # fmt: skip

    def stretch(self, b: Builder, start: int, stop: int | None, values: Values) -> _End:
        """Append what happens from the block `start` until `stop` is reached or the function returns."""
        number = start
        while True:
            self.copies += 1
            if self.copies > _MOST:
                raise self.fault("branches too tangled to make structured control flow of", number)
            *ops, last = self.blocks[number].ops
            for op in ops:
                copy_op(op, b.block, values)
            b.loc = last.loc
            operands = tuple(values.get(v, v) for v in last.operands)
            to = self.after[number]
            if not to:
                return _End(True, False, None, operands, ())
            if len(to) == 1:
                if to[0] == stop:
                    return _End(False, True, None, (), operands)
                values.update(zip(self.blocks[to[0]].args, operands, strict=True))
                number = to[0]
                continue
            join = self._join(to, stop)
            end = self._branch(b, last, operands, join, values)
            if join is None or join == stop or not end.reaches:
                return end
            if end.returned is not None:
                return self._under(b, end, join, stop, values)
            values.update(zip(self.blocks[join].args, end.handed, strict=True))
            number = join

    def _join(self, to: tuple[int, ...], stop: int | None) -> int | None:
        """The first block that both arms reach and that no way to a common block passes by; else where to stop."""
        common = self.reach[to[0]] & self.reach[to[1]]
        if stop is not None:
            common = frozenset(c for c in common if stop in self.reach[c] or not self.after[c] or c == stop)
        for candidate in sorted(common, key=self.order.__getitem__):
            if all(not self._passes_by(arm, candidate, common) for arm in to):
                return candidate
        return stop

    def _passes_by(self, arm: int, block: int, common: frozenset[int]) -> bool:
        """Whether a way from `arm` leads to a common block without going through `block`."""
        stack, seen = [arm], set[int]()
        while stack:
            number = stack.pop()
            if number == block or number in seen:
                continue
            if number in common:
                return True
            seen.add(number)
            stack.extend(self.after[number])
        return False

    def _branch(self, b: Builder, op: Op, operands: tuple[Value, ...], join: int | None, values: Values) -> _End:
        """Append the `scf.if` of a conditional branch, both arms until `join`."""
        condition, *args = operands
        count = cast("int", op.attrs["count"])
        ends: list[_End] = []
        builders: list[Builder] = []
        for to, given in zip(self.after[self._number(op)], (args[:count], args[count:]), strict=True):
            inner = Builder(Block(), op.loc)
            if to == join:
                ends.append(_End(False, True, None, (), tuple(given)))
            else:
                inside = dict(values)
                inside.update(zip(self.blocks[to].args, given, strict=True))
                ends.append(self.stretch(inner, to, join, inside))
            builders.append(inner)
        return self._joined(b, condition, ends, builders, join)

    def _number(self, op: Op) -> int:
        return next(n for n, block in enumerate(self.blocks) if block.ops[-1] is op)

    def _joined(self, b: Builder, condition: Value, ends: list[_End], arms: list[Builder], stop: int | None) -> _End:
        """Append the `scf.if` of two arms, which agree on what they give."""
        returns, reaches = any(e.returns for e in ends), any(e.reaches for e in ends)
        rets = self.function.result_types if returns else ()
        handed = tuple(a.type for a in self.blocks[stop].args) if reaches and stop is not None else ()
        both = returns and reaches
        for end, inner in zip(ends, arms, strict=True):
            given: list[Value] = []
            if both:
                given.append(end.returned or constant(inner, BOOL, end.returns))
            given += self._or_undefined(inner, end.values, rets)
            given += self._or_undefined(inner, end.handed, handed)
            inner.op(yield_, tuple(given))
        types = ((BOOL,) if both else ()) + rets + handed
        regions = tuple(Region([inner.block]) for inner in arms)
        results = b.op(if_, (condition,), {}, regions, types).results
        first = int(both)
        middle = first + len(rets)
        return _End(returns, reaches, results[0] if both else None, results[first:middle], results[middle:])

    def _or_undefined(self, b: Builder, values: tuple[Value, ...], types: tuple[Type, ...]) -> tuple[Value, ...]:
        return values if len(values) == len(types) else tuple(poison(b, t) for t in types)

    def _under(self, b: Builder, end: _End, join: int, stop: int | None, values: Values) -> _End:
        """Go on from `join` where the function has not returned."""
        assert end.returned is not None
        left, right = Builder(Block(), b.loc), Builder(Block(), b.loc)
        inside = dict(values)
        inside.update(zip(self.blocks[join].args, end.handed, strict=True))
        done = _End(True, False, None, end.values, ())
        rest = self.stretch(right, join, stop, inside)
        return self._joined(b, end.returned, [done, rest], [left, right], stop)
