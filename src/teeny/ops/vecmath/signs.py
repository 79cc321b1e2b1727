"""Signs as bits, of zeros and NaNs too."""

from __future__ import annotations

from teeny.ops.vecmath.formats import format_of
from teeny.ops.vecmath.number import Number

__all__ = ["copy_sign", "flip_sign", "sign_bit"]


def sign_bit(x: Number) -> Number:
    """The sign bit of a float, all others 0, as an integer."""
    return x.bits() & format_of(x).sign


def flip_sign(x: Number, sign: Number) -> Number:
    """x with its sign changed where the sign bit is set in an integer that holds no other bits."""
    return (x.bits() ^ sign).from_bits()


def copy_sign(size: Number, x: Number) -> Number:
    """A number that is not negative, with the sign of x."""
    return flip_sign(size, sign_bit(x))
