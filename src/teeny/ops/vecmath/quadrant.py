"""Angles as quarter turns: x = n * pi/2 + r with |r| <= pi/4, for every finite x.

The product with 2/pi is made in integers from the bits of 2/pi that matter for the exponent of x (M. Payne and
R. Hanek, "Radian reduction for trigonometric functions", 1983), so that no argument is too large.
"""

from __future__ import annotations

from itertools import pairwise

from teeny.ops.vecmath.formats import Format, format_of
from teeny.ops.vecmath.number import Number, choose, fast_two_sum, fma, two_product

__all__ = ["exact_quarter_turns", "quarter_turns"]

# 2/pi as a fraction, 32 bits a word.
_TWO_OVER_PI = (
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046,
)  # fmt: skip
_HALF_PI = 1.5707963267948966
_HALF_PI_LOW = 6.123233995736766e-17
_QUARTER_PI = 0.7853981633974483


def exact_quarter_turns(x: Number) -> tuple[Number, Number]:
    """The same of an f32, with the angle in f64, right to far more than an f32's bits."""
    small = x < _QUARTER_PI
    n, angle = _reduced_f32(x)
    return choose(small, n.constant(0), n), choose(small, x.to("f64"), angle)


def quarter_turns(x: Number) -> tuple[Number, Number, Number | None]:
    """(n, r, s) of a number that is not negative: n modulo 4 as i32, and |x| = n * pi/2 + r + s for f64 (s is None in
    f32, where r is right to half an ulp). Meaningless where x is not finite."""
    small = x < _QUARTER_PI
    if x.dtype == "f32":
        n, angle = _reduced_f32(x)
        return choose(small, n.constant(0), n), choose(small, x, angle.to("f32")), None
    n, high, low = _reduced_f64(x)
    return choose(small, n.constant(0), n), choose(small, x, high), choose(small, low.constant(0.0), low)


def _window(x: Number, form: Format, padding: int, last: int, count: int) -> list[Number]:
    """`count` words of 2/pi, from the bit on whose product with the last bit of x weighs 2 quarter turns."""
    bits = x.bits()
    biased = bits >> form.mantissa
    if x.dtype == "f64":
        biased = biased.low()
    # 2/pi begins behind words of zeros. Where the place would lie before them, x is small and the result unused.
    place = biased - (form.bias + form.mantissa + 2 - 32 * padding)
    place = choose(place < 1 << 31, place, 0)
    index, shift = place >> 5, place & 31
    constants = [0] * padding + list(_TWO_OVER_PI)
    words = [place.constant(word) for word in constants[: last + count + 1]]
    step = 1 << (last.bit_length() - 1)
    while step:
        take = (index & step).equals(step)
        kept = min(len(words), count + step)
        ahead = words[step:] + words[len(words) - step :]
        words = [choose(take, later, word) for word, later in zip(words[:kept], ahead, strict=False)]
        step //= 2
    return [(high << shift) | ((low >> 1) >> (31 - shift)) for high, low in pairwise(words)]


def _significand(x: Number, form: Format) -> Number:
    """The bits of a normal number's significand, as an integer."""
    return (x.bits() & ((1 << form.mantissa) - 1)) | (1 << form.mantissa)


def _nearest(turns: Number) -> tuple[Number, Number]:
    """(n, rest) of a number of 62 bits behind the point: the nearest whole number modulo 4, as i32."""
    n = (turns + (1 << 61)) >> 62
    return n.low(), turns - (n << 62)


def _reduced_f32(x: Number) -> tuple[Number, Number]:
    form = format_of(x)
    w0, w1, w2 = _window(x, form, 1, 4, 3)
    m = _significand(x, form)
    wide = m.widened()
    turns = ((m * w0).widened() << 32) + wide * w1.widened() + ((wide * w2.widened()) >> 32)
    n, rest = _nearest(turns)
    high, low = _halves(rest)
    angle = fma(high, 2.0**-30, low * 2.0**-62) * _HALF_PI
    return n, angle


def _halves(rest: Number) -> tuple[Number, Number]:
    """The high half of an i64 with its sign and the low half without, as f64: its value is high * 2**32 + low."""
    low = Number(rest.b, rest.b.uitofp(rest.low().lane, "f64"))
    return (rest >> 32).low().to("f64"), low


def _reduced_f64(x: Number) -> tuple[Number, Number, Number]:
    form = format_of(x)
    words = [word.widened() for word in _window(x, form, 2, 32, 6)]
    m = _significand(x, form)
    top, bottom = m >> 32, m & 0xFFFFFFFF
    # Words of the product by their weight, the heaviest first: `bottom` times word k ends at place k, `top` one before.
    products = {(0, k): bottom * words[k] for k in range(5)} | {(1, k): top * words[k] for k in range(1, 6)}
    places: list[Number] = []
    carry = m.constant(0)
    for k in (3, 2, 1, 0):
        total = carry + (products[0, k] & 0xFFFFFFFF) + (products[0, k + 1] >> 32)
        total = total + (products[1, k + 1] & 0xFFFFFFFF) + (products[1, k + 2] >> 32)
        places.append(total & 0xFFFFFFFF)
        carry = total >> 32
    n, rest = _nearest((places[3] << 32) | places[2])
    return n, *_angle(rest, (places[1] << 32) | places[0])


def _angle(rest: Number, below: Number) -> tuple[Number, Number]:
    """(rest + below / 2**64) / 2**62 quarter turns in radians, as an unevaluated sum."""
    high, low = _halves(rest)
    next_, last = (Number(x.b, x.b.uitofp(x.low().lane, "f64")) for x in (below >> 32, below))
    total, error = fast_two_sum(high * 2.0**-30, low * 2.0**-62)
    total, more = fast_two_sum(total, fma(next_, 2.0**-94, error))
    error = fma(last, 2.0**-126, more)
    angle, lost = two_product(total, total.constant(_HALF_PI))
    return angle, fma(error, _HALF_PI, fma(total, _HALF_PI_LOW, lost))
