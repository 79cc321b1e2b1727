"""Bessel functions of whole orders, which need loops: functions of elements in which an element loops for itself.

Both go up from orders 0 and 1 by the recurrence; J of an order above x goes down by J. C. P. Miller's method (British
Association tables, volume X, 1952): from an order where it is negligible, normed by J0 + 2 J2 + 2 J4 + ... = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Region
from teeny.ir.dtype import F32
from teeny.ir.schema import dtype_of
from teeny.ir.types import element_of, shape_of
from teeny.ops import vecmath
from teeny.ops.control import condition_, while_, yield_
from teeny.ops.mapped import map_, map_return
from teeny.ops.vecmath import bessel, gamma
from teeny.ops.vecmath.number import Number, both, choose
from teeny.ops.written import Lanes

if TYPE_CHECKING:
    from teeny.ir.core import Value

__all__ = ["jn", "yn"]

_INF, _NAN = float("inf"), float("nan")
_SMALL = 1e-8
"""Below this the first term of the series is J."""
_NOTHING = -760.0
"""e to this power rounds to 0."""
_BIG = 1e200
_ACCURACY = 160.0
"""The start of Miller's recurrence lies above the order by the root of this times the order (W. H. Press and others,
"Numerical Recipes in C", 1992, 6.5)."""
_Numbers = tuple[Number, ...]


def jn(b: Builder, values: tuple[Value, ...]) -> Value:
    """J of order n of x: NaN for n < 0."""
    return _mapped(b, values, _j)


def yn(b: Builder, values: tuple[Value, ...]) -> Value:
    """Y of order n of x: NaN for n < 0 and x < 0, -inf at 0."""
    return _mapped(b, values, _y)


def _mapped(b: Builder, values: tuple[Value, ...], function: Callable[[Builder, Number, Number], Number]) -> Value:
    """A function of one element applied to scalars or tiles."""
    if not shape_of(values[1].type):
        return _scalar(b, values, function)
    block = Block(tuple(element_of(v.type) for v in values))
    inner = Builder(block, b.loc)
    inner.op(map_return, (_scalar(inner, block.args, function),))
    return b.op(map_, values, {"pack": 1}, (Region([block]),), (values[1].type,)).results[0]


def _scalar(b: Builder, values: tuple[Value, ...], function: Callable[[Builder, Number, Number], Number]) -> Value:
    lanes = Lanes(b, ())
    n, x = (Number(lanes, lanes.lane(v)) for v in values)
    narrow = dtype_of(values[1].type) is F32
    found = function(b, n, x.to("f64") if narrow else x)
    return _value(found.to("f32") if narrow else found)


def _value(x: Number) -> Value:
    assert isinstance(x.b, Lanes)
    return x.b.value(x.lane)


def _loop(
    b: Builder, inits: _Numbers, test: Callable[[_Numbers], Number], step: Callable[[_Numbers], _Numbers]
) -> _Numbers:
    """Numbers carried through steps as long as the test holds; what lies outside is seen inside."""
    values = tuple(map(_value, inits))
    types = tuple(v.type for v in values)
    before, after = Block(types), Block(types)
    first = Builder(before, b.loc)
    first.op(condition_, (_value(test(_inside(first, before.args))), *before.args))
    then = Builder(after, b.loc)
    then.op(yield_, tuple(map(_value, step(_inside(then, after.args)))))
    found = b.op(while_, values, {}, (Region([before]), Region([after])), types).results
    return tuple(_again(inits[0], v) for v in found)


def _inside(b: Builder, values: tuple[Value, ...]) -> _Numbers:
    lanes = Lanes(b, ())
    return tuple(Number(lanes, lanes.lane(v)) for v in values)


def _again(like: Number, value: Value) -> Number:
    assert isinstance(like.b, Lanes)
    return Number(like.b, like.b.lane(value))


def _up(b: Builder, last: Number, x: Number, first: Number, second: Number) -> Number:
    """The function of order `last` from those of orders 0 and 1, ends early where it is not finite."""

    def test(state: _Numbers) -> Number:
        k, end, _, _, now = state
        return both(_less(k, end), abs(now) < _INF)

    def step(state: _Numbers) -> _Numbers:
        k, end, x, before, now = state
        return k + 1, end, x, now, now * (k.to("f64") * 2.0 / x) - before

    one = last.constant(1)
    return _loop(b, (one, last, x, first, second), test, step)[4]


def _less(x: Number, y: Number) -> Number:
    """x < y of integers with a sign."""
    return Number(x.b, x.b.icmp("slt", x.lane, y.lane))


def _down(b: Builder, start: Number, order: Number, x: Number) -> Number:
    """J by Miller's method from `start`, which is even; nothing of use where that is 0."""

    def test(state: _Numbers) -> Number:
        return _less(state[0].constant(0), state[0])

    def step(state: _Numbers) -> _Numbers:
        k, n, x, now, above, found, total = state
        below = now * (k.to("f64") * 2.0 / x) - above
        large = abs(below) > _BIG
        scale = choose(large, below.constant(1 / _BIG), 1.0)
        below, now, found, total = below * scale, now * scale, found * scale, total * scale
        total = choose((k & 1).equals(1), total + below, total)
        return k - 1, n, x, below, now, choose(k.equals(n), now, found), total

    zero = x.constant(0.0)
    ended = _loop(b, (start, order, x, x.constant(1.0), zero, zero, zero), test, step)
    return ended[5] / (ended[6] * 2.0 - ended[3])


def _j(b: Builder, n: Number, x: Number) -> Number:
    size, order = abs(x), n.to("f64")
    first, second = Number(x.b, bessel.j0(x.b, size.lane)), Number(x.b, bessel.j1(x.b, size.lane))
    finite = size < _INF
    upward = both(size > order, finite)
    risen = _up(b, choose(upward, n, 1), size, first, second)
    # log of a bound of J: (x / 2)**n / n!
    share = Number(x.b, vecmath.log(x.b, (size * 1.3591409142295225 / order).lane)) * order
    least = both(both(order > 1.5, share > _NOTHING), both(finite, size > _SMALL))
    least = both(least, Number(x.b, x.b.fcmp("ole", size.lane, order.lane)))
    root = Number(x.b, x.b.fsqrt((order * _ACCURACY).lane))
    above = Number(x.b, x.b.fptosi((order + root).lane, "i32"))
    fallen = _down(b, choose(least, above & -2, 0), n, size)
    series = Number(x.b, vecmath.pow(x.b, (size * 0.5).lane, order.lane))
    series = series / Number(x.b, gamma.tgamma(x.b, (order + 1.0).lane))
    found = choose(least, fallen, choose(size > _SMALL, x.constant(0.0), series))
    found = choose(upward, risen, found)
    found = choose(n.equals(0), first, choose(n.equals(1), second, choose(finite, found, 0.0)))
    odd = (n & 1).equals(1)
    found = choose(both(odd, x < 0.0), -found, found)
    return choose(_less(n, n.constant(0)), x.constant(_NAN), choose(x.is_nan, x, found))


def _y(b: Builder, n: Number, x: Number) -> Number:
    first, second = Number(x.b, bessel.y0(x.b, x.lane)), Number(x.b, bessel.y1(x.b, x.lane))
    held = choose(x < _INF, n, 1)
    found = choose(n.equals(0), first, _up(b, held, x, first, second))
    return choose(_less(n, n.constant(0)), x.constant(_NAN), found)
