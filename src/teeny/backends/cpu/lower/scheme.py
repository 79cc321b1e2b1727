"""How products of one dtype are computed: what the operands are packed as, and the step that adds one to a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.ir.core import Op
from teeny.ir.dtype import BF16, F32, F64, I8, LEAVES
from teeny.ir.schema import dtype_of
from teeny.ir.types import with_element
from teeny.ops.cast import extf, extsi, extui
from teeny.ops.float8 import as_bf16, decode
from teeny.ops.reformat import fp_to_fp

if TYPE_CHECKING:
    from teeny.backends.cpu.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.dtype import DType
    from teeny.ir.lanes import Lane

__all__ = ["Scheme", "scheme_of", "widened"]

PAIRS = 16
"""Lanes of the instruction that adds two products of bf16 to an f32."""
_MADD = {4: "sse2.pmadd.wd", 8: "avx2.pmadd.wd", 16: "avx512.pmaddw.d.512"}
"""By lanes, the instruction that adds two products of i16 to each other, exactly."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """`packed`: the dtype of a packed element; `total`: that of a sum; `pairs`: two elements, neighbours in k, are
    taken at a time; `unsigned`: the operands are bytes without a sign."""

    packed: str
    total: str
    pairs: bool = False
    unsigned: bool = False

    @property
    def lane(self) -> str:
        """The dtype of a lane as it is loaded: of a pair both in one i32."""
        return "i32" if self.pairs else self.packed

    def widen(self, b: Builder, lane: Lane, dtype: DType) -> Lane:
        """A lane of an operand with the dtype that it is packed as."""
        if dtype.kind == "float8":
            wide = decode(b, lane, dtype.name)
            return as_bf16(b, wide) if self.packed == "bf16" else wide
        if lane.dtype == self.packed:
            return lane
        if self.packed[0] == "f":
            return b.fpext(lane, self.packed)
        return b.zext(lane, self.packed) if self.unsigned else b.sext(lane, self.packed)

    def add(self, b: Builder, total: Lane, x: Lane, y: Lane) -> Lane:
        """total + x * y (of a pair both products), fused where the machine has that."""
        if self.pairs:
            return _pairs(b, total, x, y) if self.packed == "bf16" else b.add(total, _added(b, x, y))
        if self.total == "i32":
            return b.add(total, b.mul(x, y))
        return b.fma(x, y, total) if b.features.fma else b.fadd(total, b.fmul(x, y))


def scheme_of(b: Builder, dtype: DType, inner: int, width: int, *, unsigned: bool = False) -> Scheme:
    """The scheme for operands of a dtype, an inner axis of `inner` and vectors of `width` lanes.

    bf16 holds all numbers of the 8-bit floats.
    """
    if dtype is I8:
        if b.features.x86 and width in _MADD and width <= b.features.lanes and inner % 2 == 0:
            return Scheme("i16", "i32", pairs=True, unsigned=unsigned)
        return Scheme("i32", "i32", unsigned=unsigned)
    if dtype is F64:
        return Scheme("f64", "f64")
    if (dtype is BF16 or dtype.kind == "float8") and b.features.bf16 and width == PAIRS and inner % 2 == 0:
        return Scheme("bf16", "f32", pairs=True)
    return Scheme("f32", "f32")


def widened(value: Value, scheme: Scheme) -> Value:
    """An operand with the dtype that it is packed as."""
    source, dtype = dtype_of(value.type), LEAVES[scheme.packed]
    if source is dtype:
        return value
    if source.kind == "float8":
        return Op(fp_to_fp, (value,), (with_element(value.type, dtype),)).result
    cast = extf if dtype is F32 else extui if scheme.unsigned else extsi
    return Op(cast, (value,), (with_element(value.type, dtype),)).result


def _pairs(b: Builder, total: Lane, x: Lane, y: Lane) -> Lane:
    kind = f"<{2 * PAIRS} x bfloat>"
    symbol = f"<{PAIRS} x float> @llvm.x86.avx512bf16.dpbf16ps.512"
    b.declare(f"{symbol}(<{PAIRS} x float>, {kind}, {kind})")
    x, y = (b.splat(lane, PAIRS) for lane in (x, y))
    left, right = (b.pure(f"bitcast <{PAIRS} x i32> {lane.text} to {kind}", "i32", PAIRS, lane) for lane in (x, y))
    call = f"call {symbol}(<{PAIRS} x float> {total.text}, {kind} {left.text}, {kind} {right.text})"
    return b.pure(call, "f32", PAIRS, total, left, right)


def _added(b: Builder, x: Lane, y: Lane) -> Lane:
    width = y.width
    x = b.splat(x, width)
    half, whole = f"<{2 * width} x i16>", f"<{width} x i32>"
    symbol = f"{whole} @llvm.x86.{_MADD[width]}"
    b.declare(f"{symbol}({half}, {half})")
    left, right = (b.pure(f"bitcast {whole} {lane.text} to {half}", "i32", width, lane) for lane in (x, y))
    return b.pure(f"call {symbol}({half} {left.text}, {half} {right.text})", "i32", width, left, right)
