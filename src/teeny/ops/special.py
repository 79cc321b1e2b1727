"""The special functions of libdevice: gamma functions, the normal distribution, inverses of erf, Bessel functions.

16-bit floats compute in f32 and round once (a pass inserts the conversions). The reference computes as the CPU does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teeny.ir.dtype import FLOAT
from teeny.ir.schema import OpDef, Ulp
from teeny.ops.evaluated import evaluated
from teeny.ops.function import language
from teeny.ops.math import unary
from teeny.ops.vecmath import bessel, gamma, normal
from teeny.ops.vocabulary import elementwise

if TYPE_CHECKING:
    from teeny.ir.lanes import Lane
    from teeny.language.typing import F, Tensor

__all__ = [
    "cyl_bessel_i0", "cyl_bessel_i1", "erfcinv", "erfcx", "erfinv", "j0", "j1", "lgamma", "normcdf", "normcdfinv",
    "tgamma", "y0", "y1",
]  # fmt: skip

_DIFFERS = "Triton takes f32 and f64 alone."


def _function(name: str, rule: Callable[..., Lane], ulp: Ulp) -> OpDef:
    return elementwise(
        f"libdevice.{name}", FLOAT, 1, evaluated(rule), rule, group=name, ulp=ulp, cost=150.0, wide=True,
        symbols=(f"__nv_{name}f", f"__nv_{name}"),
    )  # fmt: skip


lgamma_ = _function("lgamma", gamma.lgamma, Ulp(2.5, None, None))
tgamma_ = _function("tgamma", gamma.tgamma, Ulp(5.0, 5.0, 10.0))
erfinv_ = _function("erfinv", normal.erfinv, Ulp(3.0, 2.0, 5.0))
erfcinv_ = _function("erfcinv", normal.erfcinv, Ulp(3.0, 4.0, 6.0))
erfcx_ = _function("erfcx", normal.erfcx, Ulp(3.0, 4.0, 4.0))
normcdf_ = _function("normcdf", normal.normcdf, Ulp(3.5, 5.0, 5.0))
normcdfinv_ = _function("normcdfinv", normal.normcdfinv, Ulp(3.5, 5.0, 8.0))
j0_ = _function("j0", bessel.j0, Ulp(5.0, None, None))
j1_ = _function("j1", bessel.j1, Ulp(5.0, None, None))
y0_ = _function("y0", bessel.y0, Ulp(5.0, None, None))
y1_ = _function("y1", bessel.y1, Ulp(5.0, None, None))
cyl_bessel_i0_ = _function("cyl_bessel_i0", bessel.cyl_bessel_i0, Ulp(4.0, 6.0, 6.0))
cyl_bessel_i1_ = _function("cyl_bessel_i1", bessel.cyl_bessel_i1, Ulp(4.0, 6.0, 6.0))


@language(unary(lgamma_), elementwise=True, home="libdevice", differs=_DIFFERS)
def lgamma(x: Tensor[F]) -> Tensor[F]:
    """log |gamma(x)|: inf at both infinities, at 0 and at negative whole numbers.

    In f64 from -12 to -2, where zeros are, the error is 2**-48 in all.
    """
    ...


@language(unary(tgamma_), elementwise=True, home="libdevice", differs=_DIFFERS)
def tgamma(x: Tensor[F]) -> Tensor[F]:
    """The gamma function: infinite at zeros, with their signs, NaN at negative whole numbers and -inf."""
    ...


@language(unary(erfinv_), elementwise=True, home="libdevice", differs=_DIFFERS)
def erfinv(x: Tensor[F]) -> Tensor[F]:
    """The number whose `erf` is x: infinite at -1 and 1, NaN beyond."""
    ...


@language(unary(erfcinv_), elementwise=True, home="libdevice", differs=_DIFFERS)
def erfcinv(x: Tensor[F]) -> Tensor[F]:
    """The number whose `erfc` is x: inf at 0, -inf at 2, NaN beyond."""
    ...


@language(unary(erfcx_), elementwise=True, home="libdevice", differs=_DIFFERS)
def erfcx(x: Tensor[F]) -> Tensor[F]:
    """e**(x**2) * erfc(x): inf at -inf, 0 at inf."""
    ...


@language(unary(normcdf_), elementwise=True, home="libdevice", differs=_DIFFERS)
def normcdf(x: Tensor[F]) -> Tensor[F]:
    """The share of the normal distribution below x."""
    ...


@language(unary(normcdfinv_), elementwise=True, home="libdevice", differs=_DIFFERS)
def normcdfinv(x: Tensor[F]) -> Tensor[F]:
    """The number below which the share x of the normal distribution lies: -inf at 0, inf at 1, NaN beyond."""
    ...


@language(unary(j0_), elementwise=True, home="libdevice", differs=_DIFFERS)
def j0(x: Tensor[F]) -> Tensor[F]:
    """The Bessel function of the first kind of order 0."""
    ...


@language(unary(j1_), elementwise=True, home="libdevice", differs=_DIFFERS)
def j1(x: Tensor[F]) -> Tensor[F]:
    """The Bessel function of the first kind of order 1: odd."""
    ...


@language(unary(y0_), elementwise=True, home="libdevice", differs=_DIFFERS)
def y0(x: Tensor[F]) -> Tensor[F]:
    """The Bessel function of the second kind of order 0: -inf at 0, NaN below."""
    ...


@language(unary(y1_), elementwise=True, home="libdevice", differs=_DIFFERS)
def y1(x: Tensor[F]) -> Tensor[F]:
    """The Bessel function of the second kind of order 1: -inf at 0, NaN below."""
    ...


@language(unary(cyl_bessel_i0_), elementwise=True, home="libdevice", differs=_DIFFERS)
def cyl_bessel_i0(x: Tensor[F]) -> Tensor[F]:
    """The modified Bessel function of the first kind of order 0: even."""
    ...


@language(unary(cyl_bessel_i1_), elementwise=True, home="libdevice", differs=_DIFFERS)
def cyl_bessel_i1(x: Tensor[F]) -> Tensor[F]:
    """The modified Bessel function of the first kind of order 1: odd."""
    ...
