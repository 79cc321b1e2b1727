"""libdevice's faster and its stricter arithmetic: approximations of f32, and operations that nothing is fused with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import F64, FLOAT, DType
from teeny.ir.rules import monotone
from teeny.ir.schema import AnyRule, OpDef, Ulp
from teeny.ops import vecmath
from teeny.ops.arith import maxnumf, minnumf
from teeny.ops.constant import constant
from teeny.ops.division import divf, precise_divf
from teeny.ops.elementary import binary, exp10_, log10_, tan_
from teeny.ops.function import Operand, language
from teeny.ops.math import cos_, domain, exp_, log2_, log_, pow_, sin_, tanh_, unary, wide
from teeny.ops.vocabulary import elementwise

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.language.typing import F, Tensor, f32

__all__ = [
    "add_rn",
    "exp",
    "fast_cosf",
    "fast_dividef",
    "fast_exp10f",
    "fast_expf",
    "fast_log2f",
    "fast_log10f",
    "fast_logf",
    "fast_powf",
    "fast_sinf",
    "fast_tanf",
    "fast_tanhf",
    "mul_rn",
    "rcp_rn",
    "saturatef",
    "sub_rn",
]  # fmt: skip

_NARROW = {"F": ("f16", "bf16")}
_FAST = "Triton's is an approximation, faster and less accurate than this where NVIDIA's GPUs have one."

precise_exp_ = elementwise(
    "libdevice.exp", FLOAT, 1, wide("exp"), vecmath.exp, group="exp", fold=domain(math.exp),
    interval=monotone(math.exp), ulp=Ulp(1.1, 2.0, 1.0), cost=14.0, wide=True, symbols=("__nv_expf", "__nv_exp"),
)  # fmt: skip


def _alone(name: str, symbol: str, numpy: AnyRule, cpu: AnyRule, fold: Callable[[float, float], float]) -> OpDef:
    """One operation, rounded to nearest and fused with nothing."""
    return elementwise(
        f"libdevice.{name}", FLOAT, 2, numpy, cpu, group=name, fold=fold, commutative=name != "sub_rn",
        symbols=(f"__nv_f{symbol}_rn", f"__nv_d{symbol}_rn"),
    )  # fmt: skip


add_rn_ = _alone("add_rn", "add", lambda np, x, y: x + y, lambda b, x, y: b.fadd(x, y), lambda x, y: x + y)
sub_rn_ = _alone("sub_rn", "sub", lambda np, x, y: x - y, lambda b, x, y: b.fsub(x, y), lambda x, y: x - y)
mul_rn_ = _alone("mul_rn", "mul", lambda np, x, y: x * y, lambda b, x, y: b.fmul(x, y), lambda x, y: x * y)


@language(unary(precise_exp_), elementwise=True, home="libdevice", differs="Triton takes f32 and f64 alone.")
def exp(x: Tensor[F]) -> Tensor[F]:
    """e to the power x, on GPUs far more accurate than `tl.exp`, and slower. exp(-inf) is exactly 0."""
    ...


@language(binary(add_rn_), elementwise=True, home="libdevice", exclude=_NARROW)
def add_rn(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """x + y, which no product is fused with."""
    ...


@language(binary(sub_rn_), elementwise=True, home="libdevice", exclude=_NARROW)
def sub_rn(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """x - y, which no product is fused with."""
    ...


@language(binary(mul_rn_), elementwise=True, home="libdevice", exclude=_NARROW)
def mul_rn(x: Tensor[F], y: Tensor[F] | float) -> Tensor[F]:
    """x * y, which is fused with no sum."""
    ...


def _reciprocal(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    return b.create(divf if dtype is F64 else precise_divf, constant(b, x.type, 1.0), x.value)


@language(_reciprocal, elementwise=True, home="libdevice", exclude=_NARROW)
def rcp_rn(x: Tensor[F]) -> Tensor[F]:
    """1 / x, rounded correctly on GPUs too."""
    ...


def _saturated(b: Builder, shape: Any, dtype: DType, x: Operand) -> Value:
    positive = b.create(maxnumf, x.value, constant(b, x.type, 0.0))
    return b.create(minnumf, positive, constant(b, x.type, 1.0))


@language(_saturated, elementwise=True, home="libdevice")
def saturatef(x: Tensor[f32]) -> Tensor[f32]:
    """x held between 0 and 1; NaN gives 0."""
    ...


@language(unary(exp_), elementwise=True, home="libdevice")
def fast_expf(x: Tensor[f32]) -> Tensor[f32]:
    """e to the power x: the same as `tl.exp`."""
    ...


@language(unary(exp10_), elementwise=True, home="libdevice", differs=_FAST)
def fast_exp10f(x: Tensor[f32]) -> Tensor[f32]:
    """10 to the power x: the same as `exp10`."""
    ...


@language(unary(log_), elementwise=True, home="libdevice", differs=_FAST)
def fast_logf(x: Tensor[f32]) -> Tensor[f32]:
    """The natural logarithm: the same as `tl.log`."""
    ...


@language(unary(log2_), elementwise=True, home="libdevice", differs=_FAST)
def fast_log2f(x: Tensor[f32]) -> Tensor[f32]:
    """The logarithm to base 2: the same as `tl.log2`."""
    ...


@language(unary(log10_), elementwise=True, home="libdevice", differs=_FAST)
def fast_log10f(x: Tensor[f32]) -> Tensor[f32]:
    """The logarithm to base 10: the same as `log10`."""
    ...


@language(unary(sin_), elementwise=True, home="libdevice", differs=_FAST)
def fast_sinf(x: Tensor[f32]) -> Tensor[f32]:
    """The sine: the same as `tl.sin`."""
    ...


@language(unary(cos_), elementwise=True, home="libdevice", differs=_FAST)
def fast_cosf(x: Tensor[f32]) -> Tensor[f32]:
    """The cosine: the same as `tl.cos`."""
    ...


@language(unary(tan_), elementwise=True, home="libdevice", differs=_FAST)
def fast_tanf(x: Tensor[f32]) -> Tensor[f32]:
    """The tangent: the same as `tan`."""
    ...


@language(unary(tanh_), elementwise=True, home="libdevice", differs=_FAST)
def fast_tanhf(x: Tensor[f32]) -> Tensor[f32]:
    """The hyperbolic tangent: the same as `tl.tanh`."""
    ...


@language(binary(pow_), elementwise=True, home="libdevice", differs=_FAST)
def fast_powf(x: Tensor[f32], y: Tensor[f32] | float) -> Tensor[f32]:
    """x to the power y: the same as `tl.pow`."""
    ...


@language(binary(divf), elementwise=True, home="libdevice")
def fast_dividef(x: Tensor[f32], y: Tensor[f32] | float) -> Tensor[f32]:
    """x / y: the same as `/`, which GPUs approximate."""
    ...
