"""Arithmetic rounded toward zero, down or up, to the last bit: the nearest number, and the sign of what it lost.

That sign is exact: sums by T. J. Dekker's two-sum (1971), products and remainders by a fused multiply-add of scaled
numbers, x * y + z by the errors of S. Boldo and J.-M. Muller, "Exact and approximated error of the FMA" (2011). f32
computes in f64 rounded to odd (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ops.vecmath.formats import format_of
from teeny.ops.vecmath.number import Number, both, choose, fast_two_sum, fma, two_product
from teeny.ops.vecmath.signs import copy_sign

__all__ = ["MODES", "Mode", "add", "div", "from_integer", "fused", "mul", "narrowed", "sqrt"]

Mode = Literal["rn", "rz", "rd", "ru"]
MODES: tuple[Mode, ...] = ("rz", "rd", "ru")
_INF = float("inf")


def add(b: LaneBuilder, x: Lane, y: Lane, mode: Mode) -> Lane:
    """x + y."""
    return _by_width(_add, b, mode, x, y)


def mul(b: LaneBuilder, x: Lane, y: Lane, mode: Mode) -> Lane:
    """x * y."""
    return _by_width(_mul, b, mode, x, y)


def div(b: LaneBuilder, x: Lane, y: Lane, mode: Mode) -> Lane:
    """x / y."""
    return _by_width(_div, b, mode, x, y)


def sqrt(b: LaneBuilder, x: Lane, mode: Mode) -> Lane:
    """The square root of x."""
    return _by_width(_sqrt, b, mode, x)


def fused(b: LaneBuilder, x: Lane, y: Lane, z: Lane, mode: Mode) -> Lane:
    """x * y + z, rounded once."""
    return _by_width(_fused, b, mode, x, y, z)


def narrowed(b: LaneBuilder, x: Lane, mode: Mode) -> Lane:
    """An f64 as an f32."""
    return _narrowed(Number(b, x), mode).lane


def from_integer(b: LaneBuilder, x: Lane, signed: bool, to: str, mode: Mode) -> Lane:
    """An integer of 32 or 64 bits as an f32 or f64."""
    if b.type_of(x) == "i32":
        exact = b.sitofp(x, "f64") if signed else b.uitofp(x, "f64")
        return exact if to == "f64" else narrowed(b, exact, mode)
    top = b.trunc(b.lshr(x, b.const("i64", 32)), "i32")
    high = Number(b, b.sitofp(top, "f64") if signed else b.uitofp(top, "f64")) * 2.0**32
    low = Number(b, b.uitofp(b.trunc(x, "i32"), "f64"))
    total, error = fast_two_sum(high, low)
    if to == "f64":
        return _adjusted(total, error, mode).lane
    return _narrowed(_odd(total, error), mode).lane


_Nearest = Callable[..., tuple[Number, Number, Number]]
"""Of f64 operands: the nearest f64, a number with the sign of the exact value less that, and whether an exact zero is
negative when rounding down."""


def _by_width(function: _Nearest, b: LaneBuilder, mode: Mode, *lanes: Lane) -> Lane:
    numbers = [Number(b, lane) for lane in lanes]
    narrow = numbers[0].dtype == "f32"
    if narrow:
        numbers = [x.to("f64") for x in numbers]
    near, error, negative = function(*numbers)
    zero = both(near.equals(0.0), error.equals(0.0))
    if mode == "rd":
        near = choose(both(zero, negative), -abs(near), near)
    if narrow:
        return _narrowed(_odd(near, error), mode).lane
    return _adjusted(near, error, mode).lane


def _neighbour(x: Number, up: bool) -> Number:
    """The float next to x, above or below it."""
    bits = x.bits()
    away = bits + 1
    back = bits - 1
    smallest = bits.constant(1).from_bits()
    if up:
        moved = choose(x > 0.0, away, back).from_bits()
        return choose(x.equals(0.0), smallest, moved)
    moved = choose(x > 0.0, back, away).from_bits()
    return choose(x.equals(0.0), -smallest, moved)


def _adjusted(near: Number, error: Number, mode: Mode) -> Number:
    """The nearest number moved where it lies on the wrong side of the exact value; `error` has the sign of the rest."""
    if mode == "rn":
        return near
    down, up = error < 0.0, error > 0.0
    if mode == "rd":
        return choose(down, _neighbour(near, up=False), near)
    if mode == "ru":
        return choose(up, _neighbour(near, up=True), near)
    lower = choose(both(near > 0.0, down), _neighbour(near, up=False), near)
    return choose(both(near < 0.0, up), _neighbour(near, up=True), lower)


def _odd(near: Number, error: Number) -> Number:
    """The neighbour on the exact value's side where a number is not exact and its last bit is even."""
    even = (near.bits() & 1).equals(0)
    moved = choose(error > 0.0, _neighbour(near, up=True), choose(error < 0.0, _neighbour(near, up=False), near))
    return choose(both(even, abs(near) < _INF), moved, near)


def _narrowed(x: Number, mode: Mode) -> Number:
    near = x.to("f32")
    back = near.to("f64")
    over = both(abs(back).equals(_INF), abs(x) < _INF)
    error = choose(over, -back, choose(abs(x) < _INF, x - back, 0.0))
    return _adjusted(near, _sign_of(error), mode)


def _sign_of(x: Number) -> Number:
    """An f32 with the sign of an f64, 0 for 0 and NaN."""
    one = Number(x.b, x.b.const("f32", 1.0))
    return choose(x > 0.0, one, choose(x < 0.0, -one, 0.0))


def _beyond(near: Number, error: Number, finite: Number) -> Number:
    """The error where finite operands gave an infinity; 0 where there was no finite result."""
    large = abs(near).equals(_INF)
    error = choose(both(large, finite), -near, error)
    return choose(finite, choose(error.is_nan, error.constant(0.0), error), 0.0)


def _signed(x: Number) -> Number:
    return (x.bits() >> (format_of(x).sign.bit_length() - 1)).equals(1)


def _either(x: Number, y: Number) -> Number:
    return Number(x.b, x.b.or_(x.lane, y.lane))


def _add(x: Number, y: Number) -> tuple[Number, Number, Number]:
    near = x + y
    larger = abs(x) < abs(y)
    most, least = choose(larger, y, x), choose(larger, x, y)
    error = least - (near - most)
    finite = both(abs(x) < _INF, abs(y) < _INF)
    return near, _beyond(near, error, finite), _either(_signed(x), _signed(y))


def _scale(x: Number) -> Number:
    """The root of a power of two by which x, where it is very large or small, becomes of a middling size."""
    size = abs(x)
    return choose(size < 2.0**-300, x.constant(2.0**300), choose(size > 2.0**300, x.constant(2.0**-300), 1.0))


def _product_error(x: Number, y: Number, near: Number) -> Number:
    """x * y - near up to a positive factor, for `near` next to it."""
    p, q = _scale(x), _scale(y)
    return fma(x * p * p, y * q * q, -(near * (p * q) * (p * q)))


def _mul(x: Number, y: Number) -> tuple[Number, Number, Number]:
    near = x * y
    finite = both(abs(x) < _INF, abs(y) < _INF)
    return near, _beyond(near, _product_error(x, y, near), finite), _signed(near)


def _div(x: Number, y: Number) -> tuple[Number, Number, Number]:
    near = x / y
    rest = -_product_error(near, y, x)
    finite = both(both(abs(x) < _INF, abs(y) < _INF), abs(y) > 0.0)
    return near, _beyond(near, choose(y < 0.0, -rest, rest), finite), _signed(near)


def _sqrt(x: Number) -> tuple[Number, Number, Number]:
    near = Number(x.b, x.b.fsqrt(x.lane))
    return near, _beyond(near, -_product_error(near, near, x), abs(x) < _INF), _signed(near)


def _fused(x: Number, y: Number, z: Number) -> tuple[Number, Number, Number]:
    near = fma(x, y, z)
    p, q = _scale(x), _scale(y)
    factor = p * q
    product, lost = two_product(x * p * p, y * q * q)
    scaled = z * factor * factor
    # Beside a product scaled down, what is left of a small z counts by its sign alone.
    shrunk = both(both(factor < 1.0, abs(scaled) < 2.0**-800), abs(z) > 0.0)
    scaled = choose(shrunk, copy_sign(z.constant(2.0**-800), z), scaled)
    rest = _fused_error(product, lost, scaled, near * factor * factor)
    # Where z is larger by far the nearest number is z, and the product counts by its sign alone.
    rest = choose(abs(scaled) > abs(product) * 2.0**120, product, rest)
    finite = both(both(abs(x) < _INF, abs(y) < _INF), abs(z) < _INF)
    product_sign = _signed(x) ^ _signed(y)
    return near, _beyond(near, rest, finite), _either(product_sign, _signed(z))


def _two_sum(x: Number, y: Number) -> tuple[Number, Number]:
    """x + y as the rounded sum and its error (D. E. Knuth, 1969)."""
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _fused_error(product: Number, lost: Number, z: Number, near: Number) -> Number:
    """The sign of product + lost + z - near, where the last is next to the others."""
    first, first_low = _two_sum(z, lost)
    total, total_low = _two_sum(product, first)
    return ((total - near) + total_low) + first_low
