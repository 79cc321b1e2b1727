"""CUDA's arithmetic on 32- and 64-bit integers: means, products, bytes chosen, and the parts of an f64."""

from __future__ import annotations

from teeny.ir.lanes import Lane, LaneBuilder

__all__ = [
    "absolute", "byte_perm", "double2hiint", "double2loint", "hadd", "hiloint2double", "mul24", "mulhi", "rhadd", "sad",
    "umul24", "umulhi", "usad",
]  # fmt: skip


def absolute(b: LaneBuilder, x: Lane) -> Lane:
    """|x|; the least integer stays."""
    return b.smax(x, b.sub(b.const(b.type_of(x), 0), x))


def hadd(b: LaneBuilder, x: Lane, y: Lane, signed: bool) -> Lane:
    """(x + y) / 2 rounded down, without overflow."""
    half = (b.ashr if signed else b.lshr)(b.xor(x, y), b.const("i32", 1))
    return b.add(b.and_(x, y), half)


def rhadd(b: LaneBuilder, x: Lane, y: Lane, signed: bool) -> Lane:
    """(x + y) / 2 rounded up, without overflow."""
    half = (b.ashr if signed else b.lshr)(b.xor(x, y), b.const("i32", 1))
    return b.sub(b.or_(x, y), half)


def mul24(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """The low 32 bits of the product of the low 24 bits, which have a sign."""
    eight = b.const("i32", 8)
    return b.mul(b.ashr(b.shl(x, eight), eight), b.ashr(b.shl(y, eight), eight))


def umul24(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """The low 32 bits of the product of the low 24 bits."""
    mask = b.const("i32", 0xFFFFFF)
    return b.mul(b.and_(x, mask), b.and_(y, mask))


def sad(b: LaneBuilder, x: Lane, y: Lane, z: Lane) -> Lane:
    """|x - y| + z, the difference without overflow."""
    return b.add(b.sub(b.smax(x, y), b.smin(x, y)), z)


def usad(b: LaneBuilder, x: Lane, y: Lane, z: Lane) -> Lane:
    """|x - y| + z of numbers without a sign."""
    return b.add(b.sub(b.umax(x, y), b.umin(x, y)), z)


def umulhi(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """The high half of the product of numbers without a sign."""
    return b.mulhi_u(x, y)


def mulhi(b: LaneBuilder, x: Lane, y: Lane) -> Lane:
    """The high half of the product of numbers with a sign."""
    high, zero = b.mulhi_u(x, y), b.const(b.type_of(x), 0)
    for one, other in ((x, y), (y, x)):
        high = b.sub(high, b.select(b.icmp("slt", one, zero), other, zero))
    return high


def byte_perm(b: LaneBuilder, x: Lane, y: Lane, chosen: Lane) -> Lane:
    """Four of the eight bytes of x (0 to 3) and y (4 to 7): the low three bits of each of four nibbles say which."""
    both = b.or_(b.shl(b.zext(y, "i64"), b.const("i64", 32)), b.zext(x, "i64"))
    made = b.const("i32", 0)
    for place in range(4):
        which = b.and_(b.lshr(chosen, b.const("i32", 4 * place)), b.const("i32", 7))
        shift = b.zext(b.shl(which, b.const("i32", 3)), "i64")
        byte = b.and_(b.trunc(b.lshr(both, shift), "i32"), b.const("i32", 255))
        made = b.or_(made, b.shl(byte, b.const("i32", 8 * place)))
    return made


def hiloint2double(b: LaneBuilder, high: Lane, low: Lane) -> Lane:
    """The f64 whose bits are these halves."""
    bits = b.or_(b.shl(b.zext(high, "i64"), b.const("i64", 32)), b.zext(low, "i64"))
    return b.bitcast(bits, "f64")


def double2hiint(b: LaneBuilder, x: Lane) -> Lane:
    """The high half of the bits."""
    return b.trunc(b.lshr(b.bitcast(x, "i64"), b.const("i64", 32)), "i32")


def double2loint(b: LaneBuilder, x: Lane) -> Lane:
    """The low half of the bits."""
    return b.trunc(b.bitcast(x, "i64"), "i32")
