"""Arithmetic of floats by its definition: the exact result as a fraction, rounded once to the format.

Numbers are Python floats, which hold those of all four formats; `name` is the format of the result ("f16", ...).
"""

from __future__ import annotations

import math
from fractions import Fraction

from tests.language.rounding import nearest


def _special(*numbers: float) -> bool:
    return not all(map(math.isfinite, numbers))


def add(name: str, x: float, y: float) -> float:
    """x + y. An exact 0 is positive, unless both are -0."""
    if _special(x, y):
        return x + y
    exact = Fraction(x) + Fraction(y)
    return nearest(exact, name) if exact else -0.0 if _negative(x) and _negative(y) else 0.0


def sub(name: str, x: float, y: float) -> float:
    return add(name, x, -y)


def mul(name: str, x: float, y: float) -> float:
    if _special(x, y):
        return x * y
    sign = -1.0 if _negative(x) != _negative(y) else 1.0
    return math.copysign(nearest(abs(Fraction(x) * Fraction(y)), name), sign)


def div(name: str, x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return math.nan
    sign = -1.0 if _negative(x) != _negative(y) else 1.0
    if math.isinf(x):
        return math.nan if math.isinf(y) else math.copysign(math.inf, sign)
    if math.isinf(y):
        return math.copysign(0.0, sign)
    if y == 0:
        return math.nan if x == 0 else math.copysign(math.inf, sign)
    return math.copysign(nearest(abs(Fraction(x) / Fraction(y)), name), sign)


def mod(name: str, x: float, y: float) -> float:
    """C's fmod, which is exact."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.fmod(x, y)


def fma(name: str, x: float, y: float, z: float) -> float:
    """x * y + z, rounded once."""
    if math.isnan(x) or math.isnan(y) or math.isnan(z):
        return math.nan
    if _special(x, y):
        product = x * y if not (x == 0 or y == 0) else math.nan
        return product + z
    if math.isinf(z):
        return z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact:
        return nearest(exact, name)
    both = (_negative(x) != _negative(y)) and _negative(z)
    return -0.0 if both and (x == 0 or y == 0) and z == 0 else 0.0


def sqrt(name: str, x: float) -> float:
    if x == 0 or math.isnan(x) or x == math.inf:
        return x
    if x < 0:
        return math.nan
    value = Fraction(x)
    # The root to 128 bits, its last one set where it goes on: this rounds as the root does.
    shift = 2 * (128 + abs(math.frexp(x)[1]))
    scaled = value * 2**shift
    whole = math.isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(whole) if Fraction(whole) ** 2 == scaled else Fraction(2 * whole + 1, 2)
    return nearest(exact / 2 ** (shift // 2), name)


def _negative(x: float) -> bool:
    return math.copysign(1.0, x) < 0


def floor(name: str, x: float) -> float:
    return x if _special(x) or x == 0 else math.copysign(float(math.floor(x)), x)


def ceil(name: str, x: float) -> float:
    return x if _special(x) or x == 0 else math.copysign(float(math.ceil(x)), x)


def cast(name: str, x: float) -> float:
    """To the format, rounded once."""
    return x if _special(x) or x == 0 else nearest(Fraction(x), name)


def extreme(larger: bool, x: float, y: float) -> float:
    """The larger or the smaller; a NaN loses. The sign of a zero is open."""
    if math.isnan(x):
        return y
    if math.isnan(y):
        return x
    return max(x, y) if larger else min(x, y)
