"""Arithmetic, comparison and bit operations of the builder, with the meaning that `LaneBuilder` states."""

from __future__ import annotations

from teeny.backends.cpu.convert import Converter
from teeny.backends.cpu.text import BITS, llvm_type, wrap
from teeny.diag import InternalError
from teeny.ir.lanes import FloatPredicate, IntPredicate, Lane

__all__ = ["Arithmetic"]

_HALVES = ("f16", "bf16")


class Arithmetic(Converter):
    """The elementwise part of `LaneBuilder`; subclassed by the builder."""

    # Floats

    def _float(self, op: str, a: Lane, b: Lane) -> Lane:
        if a.dtype in _HALVES:
            wide = self.raw(op, self.fpext(a, "f32"), self.fpext(b, "f32"))
            return self.fptrunc(wide, a.dtype)
        return self.raw(op, a, b)

    def fadd(self, a: Lane, b: Lane, /) -> Lane:
        """a + b."""
        return self._float("fadd", a, b)

    def fsub(self, a: Lane, b: Lane, /) -> Lane:
        """a - b."""
        return self._float("fsub", a, b)

    def fmul(self, a: Lane, b: Lane, /) -> Lane:
        """a * b."""
        return self._float("fmul", a, b)

    def fdiv(self, a: Lane, b: Lane, /) -> Lane:
        """a / b."""
        return self._float("fdiv", a, b)

    def frem(self, a: Lane, b: Lane, /) -> Lane:
        """C's fmod: the sign of the dividend, exact."""
        return self._float("frem", a, b)

    def fneg(self, a: Lane, /) -> Lane:
        """The sign flipped, of a NaN too."""
        if a.dtype in _HALVES:
            return self.bitcast(self.raw("xor", self.bitcast(a, "i16"), self.const("i16", -(1 << 15))), a.dtype)
        return self.pure(f"fneg {llvm_type(a.dtype, a.width)} {a.text}", a.dtype, a.width, a)

    def _intrinsic(self, name: str, *operands: Lane) -> Lane:
        lanes = self.level_lanes(*operands)
        a = lanes[0]
        kind = llvm_type(a.dtype, a.width)
        scalar = f"{'v' + str(a.width) if a.width > 1 else ''}{'f' if a.dtype[0] == 'f' else 'i'}{BITS[a.dtype]}"
        symbol = f"{kind} @llvm.{name}.{scalar}"
        self.declare(f"{symbol}({', '.join([kind] * len(lanes))})")
        return self.pure(
            f"call {symbol}({', '.join(f'{kind} {lane.text}' for lane in lanes)})", a.dtype, a.width, *lanes
        )

    def _unary(self, name: str, a: Lane) -> Lane:
        if a.dtype in _HALVES:
            return self.fptrunc(self._intrinsic(name, self.fpext(a, "f32")), a.dtype)
        return self._intrinsic(name, a)

    def fma(self, a: Lane, b: Lane, c: Lane, /) -> Lane:
        """a*b + c with one rounding."""
        if a.dtype == "f16":
            # The product is exact in f64. Its sum with c is not always, but where it is not and the result is finite,
            # no midpoint between two f16 is near: the second rounding does no harm. (bf16 has more exponents.)
            a64, b64, c64 = self.fpext(a, "f64"), self.fpext(b, "f64"), self.fpext(c, "f64")
            return self.fptrunc(self.raw("fadd", self.raw("fmul", a64, b64), c64), a.dtype)
        if a.dtype == "bf16" or (a.dtype == "f32" and not self.features.fma):
            return self._fma_in_f64(a, b, c)
        return self._intrinsic("fma", a, b, c)

    def _fma_in_f64(self, a: Lane, b: Lane, c: Lane) -> Lane:
        """The exact product plus c in f64, if inexact the neighbour with an odd last bit; rounded from there once."""
        a64, b64, c64 = (self.fpext(lane, "f64") for lane in (a, b, c))
        product = self.raw("fmul", a64, b64)
        total = self.raw("fadd", product, c64)
        # The error of a sum, exactly (D. E. Knuth, The Art of Computer Programming 2, 4.2.2).
        part = self.raw("fsub", total, product)
        error = self.raw("fadd", self.raw("fsub", product, self.raw("fsub", total, part)), self.raw("fsub", c64, part))
        bits, zero, one = self.bitcast(total, "i64"), self.const("f64", 0.0), self.const("i64", 1)
        sign = self.raw("and", bits, self.const("i64", -(1 << 63)))
        grows = self.bitcast(self.raw("xor", self.bitcast(error, "i64"), sign), "f64")
        outwards = self.raw_cmp("fcmp ogt", grows, zero)
        step = self.select(outwards, one, self.const("i64", -1))
        even = self.raw_cmp("icmp eq", self.raw("and", bits, one), self.const("i64", 0))
        off = self.raw("and", even, self.raw_cmp("fcmp one", error, zero))
        odd = self.select(off, self.raw("add", bits, step), bits)
        return self.fptrunc(self.bitcast(odd, "f64"), a.dtype)

    def fsqrt(self, a: Lane, /) -> Lane:
        """The square root, correctly rounded."""
        return self._unary("sqrt", a)

    def ffloor(self, a: Lane, /) -> Lane:
        """The largest whole number not above."""
        return self._unary("floor", a)

    def fceil(self, a: Lane, /) -> Lane:
        """The smallest whole number not below."""
        return self._unary("ceil", a)

    def fabs(self, a: Lane, /) -> Lane:
        """The sign cleared."""
        if a.dtype in _HALVES:
            return self.bitcast(self.raw("and", self.bitcast(a, "i16"), self.const("i16", 0x7FFF)), a.dtype)
        return self._intrinsic("fabs", a)

    def _pick(self, pred: FloatPredicate, a: Lane, b: Lane, *, nan_loses: bool) -> Lane:
        # `a pred b ? a : b` is one instruction on x86 and gives b where either is NaN.
        best = self.select(self.fcmp(pred, a, b), a, b)
        return self.select(self.fcmp("uno", b, b) if nan_loses else self.fcmp("uno", a, a), a, best)

    def fmaxnum(self, a: Lane, b: Lane, /) -> Lane:
        """The larger; a NaN loses against a number."""
        return self._pick("ogt", a, b, nan_loses=True)

    def fminnum(self, a: Lane, b: Lane, /) -> Lane:
        """The smaller; a NaN loses against a number."""
        return self._pick("olt", a, b, nan_loses=True)

    def fmaximum(self, a: Lane, b: Lane, /) -> Lane:
        """The larger; NaN if either is."""
        return self._pick("ogt", a, b, nan_loses=False)

    def fminimum(self, a: Lane, b: Lane, /) -> Lane:
        """The smaller; NaN if either is."""
        return self._pick("olt", a, b, nan_loses=False)

    def ldexp(self, a: Lane, n: Lane, /) -> Lane:
        """a * 2**n with one rounding, see `LaneBuilder`."""
        a, n = self.level_lanes(a, n)
        if self.features.scalef and (a.dtype, a.width) in _SCALEF:
            return self._scalef(a, n)
        integer, bias, shift = ("i32", 127, 23) if a.dtype == "f32" else ("i64", 1023, 52)
        # In i32 even for f64: the machine converts that everywhere.
        whole = self.raw_cast("fptosi", n, "i32")
        # Of a NaN it is any integer, as long as it is one.
        whole = self.pure(f"freeze {llvm_type('i32', n.width)} {whole.text}", "i32", n.width, whole)
        half = self.raw("ashr", whole, self.const("i32", 1))
        rest = self.raw("sub", whole, half)
        result = a
        # The first product is exact, the second one rounds.
        for part in (half, rest):
            biased = self.sext(self.raw("add", part, self.const("i32", bias)), integer)
            result = self.raw(
                "fmul", result, self.bitcast(self.raw("shl", biased, self.const(integer, shift)), a.dtype)
            )
        return result

    def _scalef(self, a: Lane, n: Lane) -> Lane:
        suffix, mask = _SCALEF[a.dtype, a.width]
        kind, bits = llvm_type(a.dtype, a.width), 8 * BITS[a.dtype] * a.width // 8
        rounding = ", i32 4" if bits == 512 else ""
        symbol = f"{kind} @llvm.x86.avx512.mask.scalef.{suffix}.{bits}"
        self.declare(f"{symbol}({kind}, {kind}, {kind}, {mask}{', i32' if rounding else ''})")
        call = f"call {symbol}({kind} {a.text}, {kind} {n.text}, {kind} zeroinitializer, {mask} -1{rounding})"
        return self.pure(call, a.dtype, a.width, a, n)

    # Integers

    def add(self, a: Lane, b: Lane, /) -> Lane:
        """a + b, wrapping."""
        if b.const == 0 and a.width >= b.width:
            return a
        if a.const == 0 and b.width >= a.width:
            return b
        if a.const is not None and b.const is not None:
            return self._folded(a, b, int(a.const) + int(b.const))
        return self.raw("add", a, b)

    def sub(self, a: Lane, b: Lane, /) -> Lane:
        """a - b, wrapping."""
        if b.const == 0 and a.width >= b.width:
            return a
        if a.const is not None and b.const is not None:
            return self._folded(a, b, int(a.const) - int(b.const))
        return self.raw("sub", a, b)

    def mul(self, a: Lane, b: Lane, /) -> Lane:
        """a * b, wrapping."""
        if b.const == 1 and a.width >= b.width:
            return a
        if a.const == 1 and b.width >= a.width:
            return b
        if a.const == 0 or b.const == 0:
            return self._folded(a, b, 0)
        if a.const is not None and b.const is not None:
            return self._folded(a, b, int(a.const) * int(b.const))
        return self.raw("mul", a, b)

    def _folded(self, a: Lane, b: Lane, value: int) -> Lane:
        return self.splat(self.const(a.dtype, wrap(a.dtype, value)), max(a.width, b.width))

    def mulhi_u(self, a: Lane, b: Lane, /) -> Lane:
        """The high half of the unsigned product."""
        a, b = self.level_lanes(a, b)
        bits, kind = BITS[a.dtype], llvm_type(a.dtype, a.width)
        wide = f"i{2 * bits}" if a.width == 1 else f"<{a.width} x i{2 * bits}>"
        amount = str(bits) if a.width == 1 else f"splat (i{2 * bits} {bits})"
        # The wide values keep a dtype that only this function sees.
        x = self.pure(f"zext {kind} {a.text} to {wide}", a.dtype, a.width, a)
        y = self.pure(f"zext {kind} {b.text} to {wide}", a.dtype, a.width, b)
        product = self.pure(f"mul {wide} {x.text}, {y.text}", a.dtype, a.width, x, y)
        high = self.pure(f"lshr {wide} {product.text}, {amount}", a.dtype, a.width, product)
        return self.pure(f"trunc {wide} {high.text} to {kind}", a.dtype, a.width, high)

    def sdiv(self, a: Lane, b: Lane, /) -> Lane:
        """Truncating quotient; MIN / -1 is MIN, x / 0 is x."""
        return self._divide(a, b, signed=True)

    def udiv(self, a: Lane, b: Lane, /) -> Lane:
        """Unsigned quotient; x / 0 is x."""
        return self._divide(a, b, signed=False)

    def srem(self, a: Lane, b: Lane, /) -> Lane:
        """Remainder of the truncating quotient; MIN % -1 and x % 0 are 0."""
        return self._remainder(a, b, signed=True)

    def urem(self, a: Lane, b: Lane, /) -> Lane:
        """Unsigned remainder; x % 0 is 0."""
        return self._remainder(a, b, signed=False)

    def _safe_divisor(self, a: Lane, b: Lane, *, signed: bool) -> Lane:
        """The divisor, or 1 where there is no quotient or it does not fit (MIN / 1 is what MIN / -1 wraps to)."""
        if b.const is not None and b.const not in (0, -1):
            return b
        bad = self.icmp("eq", b, self.const(b.dtype, 0))
        if signed:
            lowest = self.icmp("eq", a, self.const(a.dtype, -(1 << (BITS[a.dtype] - 1))))
            bad = self.or_(bad, self.and_(lowest, self.icmp("eq", b, self.const(b.dtype, -1))))
        return self.select(bad, self.const(b.dtype, 1), b)

    def _divide(self, a: Lane, b: Lane, *, signed: bool) -> Lane:
        width, bits = max(a.width, b.width), BITS[a.dtype]
        divisor = self._safe_divisor(a, b, signed=signed)
        op = "sdiv" if signed else "udiv"
        if width == 1 or bits == 64 or divisor.const is not None:
            return self.raw(op, a, divisor)
        # Vectors have no division of integers. A quotient of floats of more than twice the bits, rounded towards zero,
        # is the quotient: the next whole number is further away than the rounding error.
        wide = "f64" if bits == 32 else "f32"
        to_float, to_integer = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        x, y = self.raw_cast(to_float, a, wide), self.raw_cast(to_float, divisor, wide)
        quotient = self.raw("fdiv", x, y)
        if bits == 32:
            return self.raw_cast(to_integer, quotient, a.dtype)
        return self.trunc(self.raw_cast("fptosi", quotient, "i32"), a.dtype)

    def _remainder(self, a: Lane, b: Lane, *, signed: bool) -> Lane:
        width, bits = max(a.width, b.width), BITS[a.dtype]
        divisor = self._safe_divisor(a, b, signed=signed)
        if width == 1 or bits == 64 or divisor.const is not None:
            return self.raw("srem" if signed else "urem", a, divisor)
        return self.raw("sub", a, self.raw("mul", self._divide(a, b, signed=signed), divisor))

    def and_(self, a: Lane, b: Lane, /) -> Lane:
        """Bitwise and."""
        for x, y in ((a, b), (b, a)):
            if x.const is not None and y.width >= x.width:
                if x.const == 0:
                    return self._folded(a, b, 0)
                if x.const == -1 or (x.dtype == "i1" and x.const == 1):
                    return y
        return a if a is b else self.raw("and", a, b)

    def or_(self, a: Lane, b: Lane, /) -> Lane:
        """Bitwise or."""
        for x, y in ((a, b), (b, a)):
            if x.const is not None and y.width >= x.width:
                if x.const == 0:
                    return y
                if x.const == -1 or (x.dtype == "i1" and x.const == 1):
                    return self.splat(x, y.width)
        return a if a is b else self.raw("or", a, b)

    def xor(self, a: Lane, b: Lane, /) -> Lane:
        """Bitwise exclusive or."""
        if b.const == 0 and a.width >= b.width:
            return a
        return self.raw("xor", a, b)

    def _shift(self, op: str, a: Lane, b: Lane) -> Lane:
        bits = BITS[a.dtype]
        if b.const is not None:
            amount = int(b.const) & ((1 << bits) - 1)
            if amount >= bits:
                return self._folded(a, b, 0)
            return a if amount == 0 and a.width >= b.width else self.raw(op, a, b)
        fits = self.icmp("ult", b, self.const(b.dtype, bits))
        return self.select(fits, self.raw(op, a, b), self.const(a.dtype, 0))

    def shl(self, a: Lane, b: Lane, /) -> Lane:
        """Shift left; 0 from the width on."""
        return self._shift("shl", a, b)

    def lshr(self, a: Lane, b: Lane, /) -> Lane:
        """Shift right, zeros enter; 0 from the width on."""
        return self._shift("lshr", a, b)

    def ashr(self, a: Lane, b: Lane, /) -> Lane:
        """Shift right, the sign enters; all sign from the width on."""
        bits = BITS[a.dtype]
        if b.const is not None:
            amount = int(b.const) & ((1 << bits) - 1)
            return self.raw("ashr", a, self.splat(self.const(b.dtype, min(amount, bits - 1)), b.width))
        return self.raw("ashr", a, self.umin(b, self.const(b.dtype, bits - 1)))

    def _extreme(self, pred: IntPredicate, a: Lane, b: Lane) -> Lane:
        if a is b:
            return a
        return self.select(self.icmp(pred, a, b), a, b)

    def smax(self, a: Lane, b: Lane, /) -> Lane:
        """The larger, signed."""
        return self._extreme("sgt", a, b)

    def smin(self, a: Lane, b: Lane, /) -> Lane:
        """The smaller, signed."""
        return self._extreme("slt", a, b)

    def umax(self, a: Lane, b: Lane, /) -> Lane:
        """The larger, unsigned."""
        return self._extreme("ugt", a, b)

    def umin(self, a: Lane, b: Lane, /) -> Lane:
        """The smaller, unsigned."""
        return self._extreme("ult", a, b)

    # Comparisons

    def fcmp(self, pred: FloatPredicate, a: Lane, b: Lane, /) -> Lane:
        """Compare floats, i1 a lane."""
        if a.dtype in _HALVES:
            a, b = self.fpext(a, "f32"), self.fpext(b, "f32")
        return self.raw_cmp(f"fcmp {pred}", a, b)

    def icmp(self, pred: IntPredicate, a: Lane, b: Lane, /) -> Lane:
        """Compare integers or pointers, i1 a lane."""
        if a.const is not None and b.const is not None:
            return self.splat(self.const("i1", _holds(pred, a, b)), max(a.width, b.width))
        if a.text == b.text and a.width == b.width:
            return self.splat(self.const("i1", pred in ("eq", "sle", "sge", "ule", "uge")), a.width)
        return self.raw_cmp(f"icmp {pred}", a, b)


_SCALEF = {
    ("f32", 16): ("ps", "i16"),
    ("f32", 8): ("ps", "i8"),
    ("f32", 4): ("ps", "i8"),
    ("f64", 8): ("pd", "i8"),
    ("f64", 4): ("pd", "i8"),
}


def _holds(pred: IntPredicate, a: Lane, b: Lane) -> bool:
    if a.const is None or b.const is None:
        raise InternalError("folding a comparison of values that are no constants")
    x, y = int(a.const), int(b.const)
    if pred[0] == "u" or a.dtype == "i1":
        bits = BITS[a.dtype]
        x, y = x & ((1 << bits) - 1), y & ((1 << bits) - 1)
        if a.dtype == "i1" and pred[0] == "s":
            x, y = -x, -y
    match pred:
        case "eq":
            return x == y
        case "ne":
            return x != y
        case "slt" | "ult":
            return x < y
        case "sle" | "ule":
            return x <= y
        case "sgt" | "ugt":
            return x > y
        case "sge" | "uge":
            return x >= y
