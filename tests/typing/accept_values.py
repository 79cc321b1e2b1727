"""What dtypes say of themselves, Consts beside tensors, Triton's names: right on every line."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl
from teeny.language import Const, Ptr, Scalar

D = TypeVar("D", bound=tl.Dtype)
N = TypeVar("N", bound=tl.Num)
F = TypeVar("F", bound=tl.Float)
E = TypeVar("E", bound=tl.Float)
EPS: tl.constexpr = 1e-6


@tn.kernel
def asked(x_ptr: Ptr[N], flag_ptr: Ptr[tl.bool_], BLOCK: Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(flag_ptr, x.dtype.is_floating())
    tl.store(flag_ptr, x_ptr.dtype.element_ty.is_fp16() or x.type.scalar.is_int_signed())
    if x_ptr.dtype.is_ptr() and x.dtype.is_int():
        tl.store(x_ptr, x_ptr.dtype.primitive_bitwidth)
    y = x.to(x_ptr.type.element_ty) + x.to(x.dtype.element_ty)
    tl.store(x_ptr + tl.arange(0, BLOCK), y * x.shape[0] + x.numel + x.dtype.itemsize)


@tn.kernel
def flags(x_ptr: Ptr[F], n: Scalar[tl.i32], FLAG: Const[bool], S: Const[float], K: Const[int]) -> None:
    offs = tl.arange(0, 16)
    mask = (offs < n) & FLAG
    mask = FLAG | mask
    x = tl.load(x_ptr + offs, mask=mask, other=S)
    x = tl.where(FLAG, x, 0.0)
    x = tl.where(K > 3, S * x, x + K)
    if n > 0 and FLAG:
        tl.store(x_ptr + offs, x, mask=mask ^ FLAG)
    if FLAG or n == 2:
        tl.store(x_ptr + offs, tl.full(x.shape, S, x.dtype) + EPS, mask=FLAG)


@tn.kernel
def ported(x_ptr: Ptr[tl.f32], BLOCK: tl.constexpr) -> None:
    half: tl.constexpr = BLOCK // 2
    offs = tl.arange(0, BLOCK)
    x = tl.add(tl.load(x_ptr + offs), half)
    s = tl.to_tensor(1.0)
    for _ in tl.range(3):
        s = s + 0.5
    tl.store(x_ptr + offs, tl.mul(tl.sub(x, s), EPS))


@tn.kernel(dtypes=[{"D": tl.f16, "E": (tl.f16, tl.f32)}, {"D": tl.f32, "E": tl.f32}])
def pairs(x_ptr: Ptr[D], y_ptr: Ptr[E]) -> None:
    tl.store(y_ptr, tl.load(x_ptr).to(y_ptr.dtype))


combinations: tuple[dict[str, str], ...] = pairs.supported_combinations
