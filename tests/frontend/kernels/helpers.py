"""Functions called from kernels: type variables, overloads, tuples, returns of several kinds."""

from typing import Any, TypeVar, overload

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
E = TypeVar("E", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)


def relu(x: tl.Tensor[N]) -> tl.Tensor[N]:
    return tl.maximum(x, 0)


def silu(x: tl.Tensor[D]) -> tl.Tensor[D]:
    return x / (1.0 + tl.exp(-x))


def scaled(x: tl.Tensor[D], BY: tl.Const[float] = 2.0, *, TWICE: tl.Const[bool] = False) -> tl.Tensor[D]:
    y = x * BY
    if TWICE:
        y = y * BY
    return y


@overload
def double(x: int) -> int: ...
@overload
def double(x: tl.Tensor[N]) -> tl.Tensor[N]: ...
def double(x: Any) -> Any:
    return x + x


def mean_and_variance(x: tl.Tensor[tl.f32], n: tl.Scalar[tl.i32]) -> tuple[tl.Tensor[tl.f32], tl.Tensor[tl.f32]]:
    count = n.to(tl.f32)
    mean = tl.sum(x, axis=0) / count
    return mean, tl.sum(x * x, axis=0) / count - mean * mean


def activate(x: tl.Tensor[D], KIND: tl.Const[str]) -> tl.Tensor[D]:
    """Returns under compile-time conditions."""
    if KIND == "relu":
        return tl.maximum(x, 0.0)
    if KIND == "silu":
        return silu(x)
    return x


def clamped(x: tl.Scalar[tl.i32], low: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:
    """Returns decided at run time."""
    if x < low:
        return low
    if x > 100:
        return x - 1
    return x


def widened(x: tl.Tensor[D], WIDE: tl.Const[bool]) -> tl.Tensor[tl.f32] | tl.Tensor[D]:
    """Types that depend on a Const."""
    if WIDE:
        return x.to(tl.f32)
    return x


def store_twice(ptr: tl.Ptr[N], value: tl.Tensor[N], offs: tl.Tensor[tl.i32]) -> None:
    tl.store(ptr + offs, value)
    tl.store(ptr + offs + 1, value)


def first_power(n: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:
    """A loop in a helper, and a return after it."""
    p = tl.full((), 1, tl.i32)
    while p < n:
        p = p * 2
    return p


VALUES = {"activations.KIND": ["relu", "silu", "none"]}


@tn.kernel
def activations(x_ptr: tl.Ptr[D], KIND: tl.Const[str], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(x_ptr + offs, activate(x, KIND))
    tl.store(x_ptr + offs, relu(scaled(x)) + scaled(x, 3.0, TWICE=True))


@tn.kernel
def overloaded(x_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, double(BLOCK))
    tl.store(x_ptr + double(offs), double(tl.load(x_ptr + offs)))


@tn.kernel
def statistics(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    mean, variance = mean_and_variance(tl.load(x_ptr + offs, mask=offs < n, other=0.0).to(tl.f32), n)
    tl.store(y_ptr, mean)
    tl.store(y_ptr + 1, tl.sqrt(variance))


@tn.kernel
def in_a_loop(x_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    """Helpers that return at run time, called in a loop."""
    total = tl.full((), 0, tl.i32)
    for i in tl.range(n):
        total += clamped(tl.load(x_ptr + i), i) + first_power(i)
    tl.store(x_ptr, total)


@tn.kernel
def type_by_const(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[tl.f32], WIDE: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = widened(tl.load(x_ptr + offs), WIDE)
    if WIDE:
        tl.store(y_ptr + offs, x.to(tl.f32))
    else:
        tl.store(x_ptr + offs, x.to(x_ptr.dtype))


@tn.kernel
def storing(x_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    store_twice(x_ptr, tl.load(x_ptr + offs), offs)
    store_twice(value=relu(tl.load(x_ptr + offs)), ptr=x_ptr, offs=offs * 2)


def applied(f: Any, x: tl.Tensor[D]) -> tl.Tensor[D]:
    return f(x)


@tn.kernel
def function_as_argument(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, applied(silu, applied(tl.exp, tl.load(x_ptr + offs))))


@tn.kernel
def of_two_dtypes(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[E], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, silu(tl.load(x_ptr + offs)).to(y_ptr.dtype) + silu(tl.load(y_ptr + offs)))
