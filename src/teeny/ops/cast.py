"""Conversions between dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.dtype import BF16, BOOLEAN, F16, F32, FLOAT, I64, INT, DType, members, storage
from teeny.ir.rules import Lanewise, unchanged
from teeny.ir.schema import OpDef, define
from teeny.ir.types import PointerType, Type, with_element
from teeny.ops.address import address, pointer_at, retyped
from teeny.ops.bitcast import reinterpret
from teeny.ops.compare import compare
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.reformat import ROUNDINGS, fp_to_fp
from teeny.ops.vocabulary import GENERIC_ONLY, as_unsigned, conversion, numpy_dtype, odd_f32, rounded

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.poly import Dim
    from teeny.language.typing import Const, D, E, I, Ptr, Tensor, X, Y, bool_, i64, u64

__all__ = ["cast"]


def _plain(np: Any, x: Any, dtype: DType) -> Any:
    return x.astype(numpy_dtype(np, dtype))


def _round(np: Any, x: Any, dtype: DType) -> Any:
    return rounded(np, x, numpy_dtype(np, dtype))


def _zero_extend(np: Any, x: Any, dtype: DType) -> Any:
    wide = x if x.dtype == np.bool_ else as_unsigned(np, x)
    return wide.astype(numpy_dtype(np, dtype))


def _sign_extend(np: Any, x: Any, dtype: DType) -> Any:
    wide = x.astype(numpy_dtype(np, dtype))
    return -wide if x.dtype == np.bool_ else wide


def _truncate(np: Any, x: Any, dtype: DType) -> Any:
    return (x & 1).astype(np.bool_) if dtype.kind == "bool" else _plain(np, x, dtype)


def _from_unsigned(np: Any, x: Any, dtype: DType) -> Any:
    """An unsigned integer or bool to a float, rounded once."""
    return _round_int(np, x if x.dtype == np.bool_ else as_unsigned(np, x), dtype)


def _round_int(np: Any, x: Any, dtype: DType) -> Any:
    if dtype.bits >= 32:
        return x.astype(numpy_dtype(np, dtype))
    near = x.astype(np.float32)
    exact = near.astype(np.float64).astype(object)
    errors = [(int(a) > int(b)) - (int(a) < int(b)) for a, b in zip(x.astype(object).flat, exact.flat, strict=True)]
    return odd_f32(np, near, np.asarray(errors, np.int8).reshape(x.shape)).astype(numpy_dtype(np, dtype))


def _to_integer(signed: bool) -> Any:
    def numpy(np: Any, x: Any, dtype: DType) -> Any:
        bits = dtype.bits
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        wide = x.astype(np.float64)
        plain = np.where(np.isnan(wide) | (wide <= low) | (wide >= high), 0.0, wide)
        target = np.dtype(("int" if signed else "uint") + str(bits))
        inside = np.trunc(plain).astype(target)
        found = np.where(wide <= low, target.type(low), np.where(wide >= high, target.type(high), inside))
        return np.where(np.isnan(wide), target.type(0), found).astype(target).view(numpy_dtype(np, dtype))

    return numpy


extf = conversion("arith.extf", FLOAT, FLOAT, _plain, lambda b, x, to: b.fpext(x, to), wider=True)
truncf = conversion("arith.truncf", FLOAT, FLOAT, _round, lambda b, x, to: b.fptrunc(x, to), wider=False)
extsi = conversion("arith.extsi", INT | BOOLEAN, INT, _sign_extend, lambda b, x, to: b.sext(x, to), wider=True)
extui = conversion("arith.extui", INT | BOOLEAN, INT, _zero_extend, lambda b, x, to: b.zext(x, to), wider=True)
trunci = conversion("arith.trunci", INT, INT | BOOLEAN, _truncate, lambda b, x, to: b.trunc(x, to), wider=False)
sitofp = conversion("arith.sitofp", INT | BOOLEAN, FLOAT, _round_int, lambda b, x, to: b.sitofp(x, to))
uitofp = conversion("arith.uitofp", INT | BOOLEAN, FLOAT, _from_unsigned, lambda b, x, to: b.uitofp(x, to))
fptosi = conversion("arith.fptosi", FLOAT, INT, _to_integer(True), lambda b, x, to: b.fptosi(x, to), cost=3.0)
fptoui = conversion("arith.fptoui", FLOAT, INT, _to_integer(False), lambda b, x, to: b.fptoui(x, to), cost=3.0)


def _any(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    """Every cast between dtypes exists while one of them is a variable."""


cast_ = define(
    OpDef(
        "num.cast", "$x attr-dict : type($x) `to` type($result)", ("x",), _any,
        GENERIC_ONLY, GENERIC_ONLY, Lanewise(), unchanged, inferred=False, group="cast", generic=True,
    )
)  # fmt: skip


def convert(b: Builder, value: Value, source: DType, target: DType) -> Value:
    """Convert a value from one language dtype to another (both with sign)."""
    if source is target:
        return value
    to = with_element(value.type, storage(target))
    if source.is_variable or target.is_variable:
        return b.create(cast_, value, type=to)
    if "float8" in (source.kind, target.kind):
        return _through_f32(b, value, source, target)
    if target.kind == "bool":
        return compare(b, "ne", source, value, constant(b, value.type, 0))
    if source.kind == "bool":
        return b.create(extui if target.kind != "float" else uitofp, value, type=to)
    if source.kind == "float" and target.kind == "float":
        return _float_to_float(b, value, source, target)
    if source.kind == "float":
        return b.create(fptosi if target.kind == "signed" else fptoui, value, type=to)
    if target.kind == "float":
        return b.create(sitofp if source.kind == "signed" else uitofp, value, type=to)
    if source.bits == target.bits:
        return value
    if source.bits > target.bits:
        return b.create(trunci, value, type=to)
    return b.create(extsi if source.kind == "signed" else extui, value, type=to)


def _float_to_float(b: Builder, value: Value, source: DType, target: DType) -> Value:
    if source.bits == target.bits:  # f16 and bf16 hold each other's values only through f32
        value = b.create(extf, value, type=with_element(value.type, F32))
        return b.create(truncf, value, type=with_element(value.type, target))
    return b.create(extf if source.bits < target.bits else truncf, value, type=with_element(value.type, target))


def _through_f32(b: Builder, value: Value, source: DType, target: DType) -> Value:
    """To or from an 8-bit float. f32 holds all of these, and every integer that is not too large for them."""
    if target.kind == "float8":
        if source.kind != "float":
            value = convert(b, value, source, F32)
        return b.create(fp_to_fp, value, type=with_element(value.type, target), rounding="rtne")
    if target in (F16, BF16):
        return b.create(fp_to_fp, value, type=with_element(value.type, target))
    value = b.create(fp_to_fp, value, type=with_element(value.type, F32))
    return convert(b, value, F32, target)


def _emit_cast(
    b: Builder, shape: Any, target: Any, /, x: Operand, dtype: Any, fp_downcast_rounding: str | None = None,
    bitcast: bool = False,
) -> Value:  # fmt: skip
    source = x.dtype
    if isinstance(source, PointerType) or isinstance(target, PointerType):
        return _of_pointers(b, x.value, source, target)
    if bitcast:
        return reinterpret(b, x.value, storage(target))
    narrower = source.kind == "float" and target.kind in ("float", "float8") and source.bits > target.bits
    if fp_downcast_rounding == "rtz" and narrower:
        return b.create(fp_to_fp, x.value, type=with_element(x.type, target), rounding="rtz")
    return convert(b, x.value, source, target)


def _of_pointers(b: Builder, value: Value, source: DType | PointerType, target: DType | PointerType) -> Value:
    """To or from a pointer: by its address, a 64-bit integer."""
    if isinstance(source, PointerType):
        if isinstance(target, PointerType):
            return retyped(b, value, target.pointee)
        return convert(b, address(b, value), I64, target)
    assert isinstance(target, PointerType)
    return pointer_at(b, convert(b, value, source, I64), target.pointee)


def _cast_shape(
    s: Shapes, x: Operand, dtype: DType | PointerType, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tuple[Dim, ...]:
    if isinstance(x.dtype, PointerType) or isinstance(dtype, PointerType):
        return x.shape
    pairs = [(a, z) for a in members(x.dtype) for z in members(dtype)]
    if bitcast:
        if not any(a.bits == z.bits for a, z in pairs):
            sizes = f"{x.dtype} has {_sizes(x.dtype)} bits and {dtype} has {_sizes(dtype)}"
            s.fault("T020", f"a bitcast keeps the size, and {sizes}", "leave `bitcast` out to convert the value")
    elif fp_downcast_rounding is not None:
        if fp_downcast_rounding not in ROUNDINGS:
            s.fault("T020", f'`fp_downcast_rounding` is "rtne" or "rtz", found "{fp_downcast_rounding}"')
        elif not any(a.kind == "float" and z.kind in ("float", "float8") and a.bits > z.bits for a, z in pairs):
            message = f"`fp_downcast_rounding` is for floats that become narrower, found {x.dtype} to {dtype}"
            s.fault("T020", message, "leave it out: this conversion has one meaning alone")
    return x.shape


def _sizes(dtype: DType) -> str:
    return " or ".join(dict.fromkeys(str(leaf.bits) for leaf in members(dtype)))


@overload
def cast(
    x: Tensor[D], dtype: type[E], fp_downcast_rounding: Const[str | None] = None, bitcast: Const[bool] = False
) -> Tensor[E]: ...
@overload
def cast(
    x: Tensor[I], dtype: type[Ptr[X]], fp_downcast_rounding: None = None, bitcast: Const[bool] = False
) -> Ptr[X]: ...
@overload
def cast(x: Ptr[X], dtype: type[Ptr[Y]], fp_downcast_rounding: None = None, bitcast: Const[bool] = False) -> Ptr[Y]: ...
@overload
def cast(
    x: Ptr[X], dtype: type[i64], fp_downcast_rounding: None = None, bitcast: Const[bool] = False
) -> Tensor[i64]: ...
@overload
def cast(
    x: Ptr[X], dtype: type[u64], fp_downcast_rounding: None = None, bitcast: Const[bool] = False
) -> Tensor[u64]: ...
@overload
def cast(
    x: Ptr[X], dtype: type[bool_], fp_downcast_rounding: None = None, bitcast: Const[bool] = False
) -> Tensor[bool_]: ...
@language(
    _emit_cast,
    shape=_cast_shape,
    symbol=".to",
    shapes="The result has the shape of x.",
    differs="Triton leaves a float outside the range of an integer dtype open. It has no conversion between 8-bit "
    "floats, or between them and integers; here these go by way of f32, which rounds once.",
)
def cast(x: Any, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False) -> Any:
    """x converted to `dtype`, rounding to nearest even; with `fp_downcast_rounding="rtz"` a float toward zero.

    Float to integer truncates, saturates at the dtype's range and gives 0 for NaN; integer to integer wraps; to bool:
    whether x is not 0. To an 8-bit float saturates at its largest number, infinities too (toward zero, f8e5m2 keeps
    them). With `bitcast` the bits stay and are read as a dtype of the same size (T020).

    With `dtype=tl.pointer_type(...)` an integer becomes a pointer to that address, which may be in any array. A pointer
    becomes its address (i64, u64), whether it is not null (bool), or a pointer to the same place read as another dtype.
    """
    ...
