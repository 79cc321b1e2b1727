"""The functions of NVIDIA's libdevice that are no operations of their own: symbol by symbol, what each means.

Those that are operations have the symbol in their schema (`symbols`). Here a function is a rule on lanes, which is
written out as operations where a text calls it, or an operation that has another name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.ir.calls import LibraryCall, define_call
from teeny.ir.dtype import F32, F64, I32, I64, DType
from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ir.schema import registry
from teeny.ops import vecmath
from teeny.ops.bessel_orders import jn, yn
from teeny.ops.vecmath import conversion, directed, integer, length
from teeny.ops.written import write

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value

__all__: list[str] = []

Rule = (
    Callable[[LaneBuilder, Lane], Lane]
    | Callable[[LaneBuilder, Lane, Lane], Lane]
    | Callable[[LaneBuilder, Lane, Lane, Lane], Lane]
    | Callable[[LaneBuilder, Lane, Lane, Lane, Lane], Lane]
)
_INTEGERS = {"int": (I32, True), "uint": (I32, False), "ll": (I64, True), "ull": (I64, False)}
_FLOATS = {"float": F32, "double": F64}


def _rule(symbol: str, rule: Rule, *operands: DType, to: DType | None = None) -> None:
    """A function that is a rule on lanes; the result has the dtype of the first operand or `to`."""

    def made(b: Builder, values: tuple[Value, ...]) -> Value:
        return write(b, rule, values)

    define_call(LibraryCall(f"__nv_{symbol}", operands, to or operands[0], made))


def _operation(symbol: str, name: str, *operands: DType) -> None:
    """A function that is one operation."""

    def made(b: Builder, values: tuple[Value, ...]) -> Value:
        return b.create(registry()[name], *values)

    define_call(LibraryCall(f"__nv_{symbol}", operands, operands[0], made))


def _floats(
    name: str, rule: Rule, count: int = 1, to: DType | None = None, suffixes: tuple[str, str] = ("f", "")
) -> None:
    """A function of f32 under one suffix and of f64 under the other."""
    for dtype, suffix in zip((F32, F64), suffixes, strict=True):
        _rule(name + suffix, rule, *(dtype,) * count, to=to)


def _operations(name: str, operation: str, count: int = 1) -> None:
    for dtype, suffix in ((F32, "f"), (F64, "")):
        _operation(name + suffix, operation, *(dtype,) * count)


# Operations of the dialect under the names of libdevice. What is approximate on a GPU is the accurate function here.
for _name in ("ceil", "cos", "erf", "exp2", "floor", "log", "log2", "rsqrt", "sin", "sqrt"):
    _operations(_name, f"math.{_name}")
_operations("fma", "math.fma", 3)
_operations("fabs", "math.absf")
_operations("fmax", "arith.maxnumf", 2)
_operations("fmin", "arith.minnumf", 2)
_operations("nearbyint", "math.roundeven")
for _name, _operand in (
    ("cosf", "math.cos"), ("expf", "math.exp"), ("exp10f", "libdevice.exp10"), ("log10f", "math.log10"),
    ("log2f", "math.log2"), ("logf", "math.log"), ("sinf", "math.sin"), ("tanf", "math.tan"), ("tanhf", "math.tanh"),
):  # fmt: skip
    _operation(f"fast_{_name}", _operand, F32)
_operation("fast_powf", "math.powf", F32, F32)
_rule("fast_fdividef", lambda b, x, y: b.fdiv(x, y), F32, F32)


# Rounding modes.
def _subtract(b: LaneBuilder, x: Lane, y: Lane, mode: directed.Mode) -> Lane:
    return directed.add(b, x, b.fneg(y), mode)


def _reciprocal(b: LaneBuilder, x: Lane, mode: directed.Mode) -> Lane:
    return directed.div(b, b.const(b.type_of(x), 1.0), x, mode)


def _with(rule: Callable[..., Lane], mode: directed.Mode) -> Rule:
    def made(b: LaneBuilder, *lanes: Lane) -> Lane:
        return rule(b, *lanes, mode)

    return made


for _mode in directed.MODES:
    for _name, _directed, _count in (
        ("add", directed.add, 2), ("sub", _subtract, 2), ("mul", directed.mul, 2), ("div", directed.div, 2),
        ("rcp", _reciprocal, 1), ("sqrt", directed.sqrt, 1),
    ):  # fmt: skip
        for _letter, _dtype in (("f", F32), ("d", F64)):
            _rule(f"{_letter}{_name}_{_mode}", _with(_directed, _mode), *(_dtype,) * _count)
    _floats("fma", _with(directed.fused, _mode), 3, suffixes=(f"f_{_mode}", f"_{_mode}"))
for _letter, _dtype in (("f", F32), ("d", F64)):
    _rule(f"{_letter}div_rn", lambda b, x, y: b.fdiv(x, y), _dtype, _dtype)
    _rule(f"{_letter}rcp_rn", lambda b, x: b.fdiv(b.const(b.type_of(x), 1.0), x), _dtype)
    _rule(f"{_letter}sqrt_rn", lambda b, x: b.fsqrt(x), _dtype)
_floats("fma", lambda b, x, y, z: b.fma(x, y, z), 3, suffixes=("f_rn", "_rn"))
_rule("frsqrt_rn", conversion.rsqrt_rn, F32)
_rule("rcp64h", conversion.rcp64h, F64)


# Conversions.
def _to_integer(signed: bool, to: DType, mode: conversion.Rounding) -> Rule:
    return lambda b, x: conversion.to_integer(b, x, signed, to.mlir, mode)


def _from_integer(signed: bool, to: DType, mode: directed.Mode) -> Rule:
    return lambda b, x: directed.from_integer(b, x, signed, to.mlir, mode)


def _nearest(signed: bool, to: DType) -> Rule:
    return lambda b, x: (b.sitofp if signed else b.uitofp)(x, to.mlir)


def _bits(to: DType) -> Rule:
    return lambda b, x: b.bitcast(x, to.mlir)


for _float, _dtype in _FLOATS.items():
    for _whole, (_integer, _signed) in _INTEGERS.items():
        for _mode in ("rn", "rz", "rd", "ru"):
            _rule(f"{_float}2{_whole}_{_mode}", _to_integer(_signed, _integer, _mode), _dtype, to=_integer)
            if _mode != "rn" and _dtype is F64 and _integer is I32:
                continue  # f64 holds them all
            _made = _nearest(_signed, _dtype) if _mode == "rn" else _from_integer(_signed, _dtype, _mode)
            _rule(f"{_whole}2{_float}_{_mode}", _made, _integer, to=_dtype)
for _mode in directed.MODES:
    _rule(f"double2float_{_mode}", _with(directed.narrowed, _mode), F64, to=F32)
_rule("double2float_rn", lambda b, x: b.fptrunc(x, "f32"), F64, to=F32)
_floats("llrint", _to_integer(True, I64, "rn"), to=I64)
_floats("llround", _to_integer(True, I64, "away"), to=I64)
_rule("double2hiint", integer.double2hiint, F64, to=I32)
_rule("double2loint", integer.double2loint, F64, to=I32)
_rule("hiloint2double", integer.hiloint2double, I32, I32, to=F64)
for _name, _from, _to in (
    ("float_as_int", F32, I32), ("float_as_uint", F32, I32), ("int_as_float", I32, F32), ("uint_as_float", I32, F32),
    ("double_as_longlong", F64, I64), ("longlong_as_double", I64, F64),
):  # fmt: skip
    _rule(_name, _bits(_to), _from, to=_to)


# Integers.
def _mean(rule: Callable[..., Lane], signed: bool) -> Rule:
    return lambda b, x, y: rule(b, x, y, signed)


_rule("abs", integer.absolute, I32)
_rule("llabs", integer.absolute, I64)
_rule("byte_perm", integer.byte_perm, I32, I32, I32)
_rule("mul24", integer.mul24, I32, I32)
_rule("umul24", integer.umul24, I32, I32)
_rule("sad", integer.sad, I32, I32, I32)
_rule("usad", integer.usad, I32, I32, I32)
for _letter, _signed in (("", True), ("u", False)):
    _rule(f"{_letter}hadd", _mean(integer.hadd, _signed), I32, I32)
    _rule(f"{_letter}rhadd", _mean(integer.rhadd, _signed), I32, I32)
    _rule(f"{_letter}mulhi", integer.mulhi if _signed else integer.umulhi, I32, I32)
    _rule(f"{_letter}mul64hi", integer.mulhi if _signed else integer.umulhi, I64, I64)

# What kind of number a float is; exponents, remainders, integer powers.
_floats("isnan", conversion.isnan, to=I32, suffixes=("f", "d"))
_floats("isinf", conversion.isinf, to=I32, suffixes=("f", "d"))
_floats("signbit", conversion.signbit, to=I32, suffixes=("f", "d"))
_rule("finitef", conversion.finite, F32, to=I32)
_rule("isfinited", conversion.finite, F64, to=I32)
_rule("saturatef", conversion.saturate, F32)
_floats("ilogb", conversion.ilogb, to=I32)
_floats("logb", conversion.logb)
_floats("remainder", conversion.remainder, 2)


def _scaled(b: Builder, values: tuple[Value, ...]) -> Value:
    return b.create(registry()["libdevice.ldexp"], *values)


def _power(b: LaneBuilder, x: Lane, n: Lane) -> Lane:
    if b.type_of(x) == "f64":
        return vecmath.pow(b, x, b.sitofp(n, "f64"))
    return b.fptrunc(vecmath.pow(b, b.fpext(x, "f64"), b.sitofp(n, "f64")), "f32")


for _dtype, _suffix in ((F32, "f"), (F64, "")):
    define_call(LibraryCall(f"__nv_scalbn{_suffix}", (_dtype, I32), _dtype, _scaled))
    _rule(f"powi{_suffix}", _power, _dtype, I32)

# Lengths of vectors, and Bessel functions of whole orders.
_floats("rhypot", length.rnorm, 2)
for _count in (3, 4):
    _floats(f"norm{_count}d", length.norm, _count)
    _floats(f"rnorm{_count}d", length.rnorm, _count)
for _dtype, _suffix in ((F32, "f"), (F64, "")):
    define_call(LibraryCall(f"__nv_jn{_suffix}", (I32, _dtype), _dtype, jn))
    define_call(LibraryCall(f"__nv_yn{_suffix}", (I32, _dtype), _dtype, yn))
