"""The dialect's conversion of floats with a rounding of its own, which 8-bit floats need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import FLOAT, FLOAT8, DType, largest
from teeny.ir.rules import Interval, Lanewise, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect, same_shape
from teeny.ir.types import Type
from teeny.ops.float8 import FORMATS, as_bf16, decode, encode
from teeny.ops.vocabulary import numpy_dtype, rounded

if TYPE_CHECKING:
    from teeny.ir.core import Op

ROUNDINGS = ("rtne", "rtz")
"""To nearest even, and toward zero."""


def _reformat_types(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    source, target = dtype_of(types[0]), dtype_of(results[0])
    same_shape(types[0], results[0])
    for dtype in (source, target):
        expect(dtype.within(FLOAT | FLOAT8), f"tt.fp_to_fp converts floats, found {dtype}")
    rounding = attrs.get("rounding")
    expect(rounding is None or rounding in ROUNDINGS, f"a rounding is rtne or rtz, found {rounding}")
    expect(rounding is not None or source.bits <= target.bits, f"a conversion to {target} needs a rounding")


def _toward_zero(np: Any, x: Any, made: Any) -> Any:
    """What was rounded to nearest, one step back where that is larger than the exact value."""
    bits = made.view(np.dtype(f"u{made.dtype.itemsize}"))
    sign = bits.dtype.type(1 << (8 * made.dtype.itemsize - 1))
    size = np.abs(x.astype(np.float64))
    above = np.abs(made.astype(np.float64)) > size
    down = np.where(above, bits - bits.dtype.type(1), bits).astype(bits.dtype)
    if made.dtype.name.endswith("fnuz"):  # one step below the smallest negative number are the bits of NaN
        down = np.where(above & (down == sign), bits.dtype.type(0), down)
    return np.asarray(down).view(made.dtype)


def _saturated(np: Any, x: Any, dtype: DType, rounding: str) -> Any:
    """Floats held within the range of an 8-bit format; its infinities stay where the rounding is toward zero."""
    limit = largest(dtype)
    held = np.where(np.abs(x.astype(np.float64)) > limit, np.copysign(limit, x.astype(np.float64)), x)
    if rounding == "rtz" and FORMATS[dtype.name].infinity is not None:
        held = np.where(np.isinf(x.astype(np.float64)), x, held)
    return held.astype(x.dtype)


def _rounding(op: Op) -> str:
    return str(op.attrs.get("rounding") or "rtne")


def _reformat_numpy(np: Any, op: Op, x: Any) -> Any:
    target, rounding = dtype_of(op.results[0].type), _rounding(op)
    x = np.asarray(x)
    if dtype_of(op.operands[0].type).kind == "float8":
        x = x.astype(np.float32)
    held = _saturated(np, x, target, rounding) if target.kind == "float8" else x
    made = np.asarray(rounded(np, held, numpy_dtype(np, target)))
    return made if rounding == "rtne" else _toward_zero(np, held, made)


def _reformat_cpu(b: Any, op: Op, x: Any) -> Any:
    source, target = dtype_of(op.operands[0].type), dtype_of(op.results[0].type)
    if source.kind == "float8":
        x = decode(b, x, source.name)
        if target.name == "bf16":
            return as_bf16(b, x)
    if target.kind == "float8":
        return encode(b, x, target.name, _rounding(op))
    return _converted(b, x, target, _rounding(op))


def _converted(b: Any, x: Any, target: DType, rounding: str) -> Any:
    """A float lane as a float of 16 bits or more."""
    if b.type_of(x) in ("f16", "bf16") and b.type_of(x) != target.mlir:
        x = b.fpext(x, "f32")
    if b.type_of(x) == target.mlir:
        return x
    if target.bits == 64:
        return b.fpext(x, target.mlir)
    near = b.fptrunc(x, target.mlir)
    if rounding == "rtne":
        return near
    back = b.fpext(near, b.type_of(x))
    bits = f"i{target.bits}"
    above = b.fcmp("ogt", b.fabs(back), b.fabs(x))
    down = b.sub(b.bitcast(near, bits), b.const(bits, 1))
    return b.bitcast(b.select(above, down, b.bitcast(near, bits)), target.mlir)


def _reformat_interval(x: Interval) -> Interval:
    """Rounding moves a number by an eighth of its size at most, saturation to 240 at least."""
    low, high = (end + sign * (abs(end) / 8 + 2.0**-6) for end, sign in zip(x, (-1, 1), strict=True))
    return (min(low, 240.0), max(high, -240.0))


fp_to_fp = define(
    OpDef(
        "tt.fp_to_fp", Structural("fp_to_fp"), ("x",), _reformat_types, _reformat_numpy, _reformat_cpu, Lanewise(),
        _reformat_interval, attrs=("rounding?",), inferred=False, group="cast", cost=4.0,
    )
)  # fmt: skip
