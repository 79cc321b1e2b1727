"""Conversions between number types, with code for f16 and bf16 where the machine lacks the instructions."""

from __future__ import annotations

from teeny.backends.cpu.emit import Emitter
from teeny.backends.cpu.text import BITS, llvm_type, wrap
from teeny.diag import InternalError
from teeny.ir.lanes import Lane

__all__ = ["Converter"]

_INTEGER_OF = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}


class Converter(Emitter):
    """The conversions of `LaneBuilder`, and raw instructions on 32 and 64 bits that they are made of."""

    # Raw instructions: operands of one width and native type

    def raw(self, op: str, a: Lane, b: Lane) -> Lane:
        """A binary LLVM instruction whose result has the operands' type."""
        if a.width != b.width:
            a, b = self.level_lanes(a, b)
        rhs = f"{op} {llvm_type(a.dtype, a.width)} {a.text}, {b.text}"
        return self.pure(rhs, a.dtype, a.width, a, b)

    def raw_cmp(self, op: str, a: Lane, b: Lane) -> Lane:
        """`icmp <pred>` or `fcmp <pred>`."""
        if a.width != b.width:
            a, b = self.level_lanes(a, b)
        return self.pure(f"{op} {llvm_type(a.dtype, a.width)} {a.text}, {b.text}", "i1", a.width, a, b)

    def raw_cast(self, op: str, a: Lane, dtype: str) -> Lane:
        """A cast instruction; a constant operand becomes a scalar one."""
        rhs = f"{op} {llvm_type(a.dtype, a.width)} {a.text} to {llvm_type(dtype, a.width)}"
        return self.pure(rhs, dtype, a.width, a)

    def select(self, cond: Lane, a: Lane, b: Lane, /) -> Lane:
        """a where cond, else b; a scalar condition chooses whole vectors."""
        if a.text == b.text and a.width == b.width:
            return a
        if cond.const is not None:
            chosen = a if cond.const else b
            return self.splat(chosen, max(cond.width, a.width, b.width))
        if cond.width == 1:
            a, b = self.level_lanes(a, b)
        else:
            cond, a, b = self.level_lanes(cond, a, b)
        kind = llvm_type(a.dtype, a.width)
        rhs = f"select {llvm_type('i1', cond.width)} {cond.text}, {kind} {a.text}, {kind} {b.text}"
        return self.pure(rhs, a.dtype, a.width, cond, a, b)

    # Integers

    def trunc(self, a: Lane, dtype: str, /) -> Lane:
        """The low bits."""
        if a.dtype == dtype:
            return a
        if a.const is not None:
            return self.splat(self.const(dtype, wrap(dtype, int(a.const))), a.width)
        return self.raw_cast("trunc", a, dtype)

    def sext(self, a: Lane, dtype: str, /) -> Lane:
        """Widen with the sign; i1 true becomes -1."""
        if a.dtype == dtype:
            return a
        if a.const is not None:
            value = -int(a.const) if a.dtype == "i1" else int(a.const)
            return self.splat(self.const(dtype, value), a.width)
        return self.raw_cast("sext", a, dtype)

    def zext(self, a: Lane, dtype: str, /) -> Lane:
        """Widen with zeros."""
        if a.dtype == dtype:
            return a
        if a.const is not None:
            value = int(a.const) & ((1 << BITS[a.dtype]) - 1)
            return self.splat(self.const(dtype, value), a.width)
        return self.raw_cast("zext", a, dtype)

    def bitcast(self, a: Lane, dtype: str, /) -> Lane:
        """The same bits as another type of the same size."""
        if a.dtype == dtype:
            return a
        if BITS[a.dtype] != BITS[dtype]:
            raise InternalError(f"bitcast of {a.dtype} to {dtype}")
        if llvm_type(a.dtype, 1) == llvm_type(dtype, 1):
            return Lane(a.text, dtype, a.width, a.scope)
        if a.dtype == "ptr" or dtype == "ptr":
            return self.raw_cast("ptrtoint" if a.dtype == "ptr" else "inttoptr", a, dtype)
        return self.raw_cast("bitcast", a, dtype)

    # Floats

    def fpext(self, a: Lane, dtype: str, /) -> Lane:
        """To a wider float, exactly."""
        if a.dtype == dtype:
            return a
        if a.const is not None:
            return self.splat(self.const(dtype, a.const), a.width)
        if a.dtype == "f32":
            return self.raw_cast("fpext", a, dtype)
        wide = self._from_bf16(a) if a.dtype == "bf16" else self._from_f16(a)
        return self.fpext(wide, dtype)

    def fptrunc(self, a: Lane, dtype: str, /) -> Lane:
        """To a narrower float with one rounding to nearest even; subnormal results are kept."""
        if a.dtype == dtype:
            return a
        if a.const is not None and a.const == a.const:
            return self.splat(self.const(dtype, a.const), a.width)
        if dtype == "f32":
            return self.raw_cast("fptrunc", a, dtype)
        if a.dtype == "f64":
            a = self._round_to_odd(a)
        return self._to_bf16(a) if dtype == "bf16" else self._to_f16(a)

    def _round_to_odd(self, a: Lane) -> Lane:
        """f64 to f32, inexact results to the neighbour with an odd significand: a later rounding is then right."""
        near = self.raw_cast("fptrunc", a, "f32")
        back = self.raw_cast("fpext", near, "f64")
        magnitude = (1 << 63) - 1
        exact = self.raw("and", self.bitcast(a, "i64"), self.const("i64", magnitude))
        taken = self.raw("and", self.bitcast(back, "i64"), self.const("i64", magnitude))
        bits = self.bitcast(near, "i32")
        up = self.raw_cmp("icmp ugt", exact, taken)
        step = self.select(up, self.const("i32", 1), self.const("i32", -1))
        even = self.raw_cmp("icmp eq", self.raw("and", bits, self.const("i32", 1)), self.const("i32", 0))
        off = self.raw("and", even, self.raw_cmp("fcmp one", back, a))
        return self.bitcast(self.select(off, self.raw("add", bits, step), bits), "f32")

    def _from_bf16(self, a: Lane) -> Lane:
        wide = self.raw_cast("zext", self.bitcast(a, "i16"), "i32")
        return self.bitcast(self.raw("shl", wide, self.const("i32", 16)), "f32")

    def _to_bf16(self, a: Lane) -> Lane:
        # Not vcvtneps2bf16, which flushes subnormals.
        bits = self.bitcast(a, "i32")
        high = self.raw("lshr", bits, self.const("i32", 16))
        odd = self.raw("and", high, self.const("i32", 1))
        rounded = self.raw("add", self.raw("add", bits, self.const("i32", 0x7FFF)), odd)
        rounded = self.raw("lshr", rounded, self.const("i32", 16))
        quiet = self.raw("or", high, self.const("i32", 0x40))
        chosen = self.select(self.raw_cmp("fcmp uno", a, a), quiet, rounded)
        return self.bitcast(self.raw_cast("trunc", chosen, "i16"), "bf16")

    def _from_f16(self, a: Lane) -> Lane:
        if self.features.half:
            half = "half" if a.width == 1 else f"<{a.width} x half>"
            cast = self.pure(f"bitcast {llvm_type('i16', a.width)} {a.text} to {half}", "f16", a.width, a)
            return self.pure(f"fpext {half} {cast.text} to {llvm_type('f32', a.width)}", "f32", a.width, cast)
        wide = self.raw_cast("zext", self.bitcast(a, "i16"), "i32")
        sign = self.raw("shl", self.raw("and", wide, self.const("i32", 0x8000)), self.const("i32", 16))
        bits = self.raw("shl", self.raw("and", wide, self.const("i32", 0x7FFF)), self.const("i32", 13))
        # Exact, for subnormals too: f32 has exponents to spare.
        scaled = self.raw("fmul", self.bitcast(bits, "f32"), self.const("f32", 2.0**112))
        special = self.raw("or", bits, self.const("i32", 0x7F800000))
        quiet = self.raw("or", bits, self.const("i32", 0x7FC00000))
        infinity = self.const("i32", 31 << 23)
        magnitude = self.select(self.raw_cmp("icmp uge", bits, infinity), special, self.bitcast(scaled, "i32"))
        magnitude = self.select(self.raw_cmp("icmp ugt", bits, infinity), quiet, magnitude)
        return self.bitcast(self.raw("or", magnitude, sign), "f32")

    def _to_f16(self, a: Lane) -> Lane:
        if self.features.half:
            half = "half" if a.width == 1 else f"<{a.width} x half>"
            cast = self.pure(f"fptrunc {llvm_type('f32', a.width)} {a.text} to {half}", "f16", a.width, a)
            return self.pure(f"bitcast {half} {cast.text} to {llvm_type('i16', a.width)}", "f16", a.width, cast)
        bits = self.bitcast(a, "i32")
        sign = self.raw("and", bits, self.const("i32", -(1 << 31)))
        bits = self.raw("xor", bits, sign)
        # Normal results: move the exponent, round at bit 13; a carry ends in infinity by itself.
        odd = self.raw("and", self.raw("lshr", bits, self.const("i32", 13)), self.const("i32", 1))
        moved = self.raw("add", bits, self.const("i32", ((15 - 127) << 23) + 0xFFF))
        normal = self.raw("lshr", self.raw("add", moved, odd), self.const("i32", 13))
        # Subnormal results: adding 1/2 brings the last kept bit to the last place of the sum, which the machine rounds.
        half_one = self.const("i32", 126 << 23)
        sum_ = self.raw("fadd", self.bitcast(bits, "f32"), self.const("f32", 0.5))
        small = self.raw("sub", self.bitcast(sum_, "i32"), half_one)
        payload = self.raw("lshr", self.raw("and", bits, self.const("i32", 0x7FFFFF)), self.const("i32", 13))
        quiet = self.raw("or", payload, self.const("i32", 0x7E00))
        result = self.select(self.raw_cmp("icmp ult", bits, self.const("i32", 113 << 23)), small, normal)
        result = self.select(
            self.raw_cmp("icmp uge", bits, self.const("i32", 143 << 23)), self.const("i32", 0x7C00), result
        )
        result = self.select(self.raw_cmp("icmp ugt", bits, self.const("i32", 255 << 23)), quiet, result)
        result = self.raw("or", result, self.raw("lshr", sign, self.const("i32", 16)))
        return self.bitcast(self.raw_cast("trunc", result, "i16"), "f16")

    # Between integers and floats

    def sitofp(self, a: Lane, dtype: str, /) -> Lane:
        """Signed integer to float, to nearest even with one rounding."""
        return self._to_float("sitofp", a, dtype)

    def uitofp(self, a: Lane, dtype: str, /) -> Lane:
        """Unsigned integer to float, to nearest even with one rounding."""
        return self._to_float("uitofp", a, dtype)

    def _to_float(self, op: str, a: Lane, dtype: str) -> Lane:
        if dtype == "bf16" and BITS[a.dtype] >= 32:
            wide = a if a.dtype == "i32" else self._within_f64(op, a)
            return self.fptrunc(self.raw_cast(op, wide, "f64"), dtype)
        if dtype in ("f16", "bf16"):
            # f32 holds every integer below 2**24: all that have a finite f16, and all of 16 bits.
            return self.fptrunc(self.raw_cast(op, a, "f32"), dtype)
        return self.raw_cast(op, a, dtype)

    def _within_f64(self, op: str, a: Lane) -> Lane:
        """An i64 that f64 holds: of one of 53 bits or more the lowest 11 become one that says whether any was set."""
        low = self.const("i64", 0x7FF)
        sticky = self.raw("or", a, self.raw("add", self.raw("and", a, low), low))
        rounded = self.raw("and", sticky, self.const("i64", ~0x7FF))
        limit = self.const("i64", 1 << 53)
        size = self.raw("add", a, limit) if op == "sitofp" else a
        bound = self.const("i64", 1 << 54) if op == "sitofp" else limit
        return self.select(self.raw_cmp("icmp ult", size, bound), a, rounded)

    def fptosi(self, a: Lane, dtype: str, /) -> Lane:
        """Truncate towards zero to a signed integer; saturates, NaN gives 0."""
        return self._to_integer(a, dtype, signed=True)

    def fptoui(self, a: Lane, dtype: str, /) -> Lane:
        """Truncate towards zero to an unsigned integer; saturates, NaN gives 0."""
        return self._to_integer(a, dtype, signed=False)

    def _to_integer(self, a: Lane, dtype: str, *, signed: bool) -> Lane:
        if a.dtype in ("f16", "bf16"):
            a = self.fpext(a, "f32")
        bits = BITS[dtype]
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        zero = self.const(a.dtype, 0.0)
        # `high + 1` is a power of two and so a float; `high` may not be.
        over = self.raw_cmp("fcmp oge", a, self.const(a.dtype, float(high + 1)))
        under = self.raw_cmp("fcmp ole", a, self.const(a.dtype, float(low)))
        outside = self.raw("or", over, self.raw("or", under, self.raw_cmp("fcmp uno", a, a)))
        inside = self.select(outside, zero, a)
        if bits < 32:
            whole = self.raw_cast("trunc", self.raw_cast("fptosi", inside, "i32"), dtype)
        else:
            whole = self.raw_cast("fptosi" if signed else "fptoui", inside, dtype)
        whole = self.select(over, self.const(dtype, high), whole)
        return self.select(under, self.const(dtype, low), whole)

    def integer_of(self, a: Lane) -> Lane:
        """The bits of a float as an integer of its size."""
        return self.bitcast(a, _INTEGER_OF[a.dtype])
