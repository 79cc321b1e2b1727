"""What is no part of the language, and calls: each marked line has one fault, and no other line has any."""

import math
from typing import Any, TypeVar

import numpy as np

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
RATE = 0.5
FACTORS = [2.0, 3.0]
TABLE = np.ones(3)


@tn.kernel
def constructs(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    inside = 0.0 < x < 9.0  # error[E001]
    f = lambda v: v * 2.0  # error[E001]
    y = f(x)
    rows = [i for i in (1, 2)]  # error[E001]
    table = {"a": 1}  # error[E001]
    try:  # error[E001]
        z = x
    except ValueError:
        z = -x
    tl.store(x_ptr + offs, z)
    assert n  # error[T007]
    text = f"{n}"  # error[E008]
    with open("x") as handle:  # error[E001]
        pass
    del x  # error[E001]
    x[0] = 1.0  # error[E001]
    x = tl.load(x_ptr + offs)
    first = x[0]  # error[E001]
    part = x[0:4]  # error[E001]
    power = x**2  # error[E001]
    product = x @ x  # error[E001]
    if (m := n) > 3:  # error[E001]
        pass
    raise ValueError  # error[E001]
    x.data = 3  # error[E001]
    several = tl.load(*n)  # error[T010]
    options = tl.load(x_ptr, **{"mask": None})  # error[E001]
    member = n in (1, 2)  # error[E001]
    same = n is x  # error[E001]
    shape = x.strides  # error[E001]
    number = 1j  # error[E001]
    import os  # error[E001]

    def inner(v: tl.Tensor[D]) -> tl.Tensor[D]:  # error[E001]
        return v

    tl.store(x_ptr + offs, inner(x))


@tn.kernel
def globals_(x_ptr: tl.Ptr[tl.f32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    y = x * RATE  # error[E012]
    z = x * FACTORS[0]  # error[E012]
    w = x * TABLE  # error[E012]
    tl.store(x_ptr + offs, y + z + w)


class Thing:
    """No part of a kernel."""

    SIZE = 64


@tn.kernel
def calls(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    a = math.exp(x)  # error[E004]
    b = np.exp(x)  # error[E004]
    print(x)  # error[T010]
    c = Thing()  # error[E004]
    c2 = tl.arange(0, Thing.SIZE)  # error[E012]
    d = float(x)  # error[E008]
    e = max(n, "4")  # error[T010]
    g = len(x)  # error[E004]
    h = BLOCK(3)  # error[E004]
    i = tl.load(x_ptr + offs, masks=offs < n)  # error[E005]
    j = tl.exp(x, x)  # error[E005]
    k = tl.exp()  # error[E005]
    l = tl.store(x_ptr)  # error[E005]
    m = tl.load(x_ptr, ptr=x_ptr)  # error[E005]
    o = abs(1, 2)  # error[E005]
    p = x.exponent()  # error[E001]
    q = sorted((1, 2))  # error[E004]
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, offs < n, 0.0, 3))  # error[E005]


def plain(x: tl.Tensor[D], y: tl.Tensor[D], BY: tl.Const[float] = 1.0) -> tl.Tensor[D]:
    return (x + y) * BY


def of_floats(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:
    return x * 2.0


def at_scalar(x: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:
    return x + 1


def bare(x, y: tl.Tensor[D]) -> tl.Tensor[D]:  # error[E006]
    return y


def unknown(x: "np.ndarray[Any, Any]") -> None:  # error[E006]
    return None


def variadic(**xs: tl.Tensor[D]) -> tl.Tensor[D]:
    return xs["a"]


def forever(x: tl.Tensor[tl.f32], n: tl.Const[int]) -> tl.Tensor[tl.f32]:
    return x * forever(x, n - 1)  # error[E011]


def ping(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:
    return pong(x)


def pong(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:
    return ping(x)  # error[E011]


def sometimes(x: tl.Tensor[tl.f32], n: tl.Scalar[tl.i32]) -> tl.Tensor[tl.f32]:
    if n > 3:
        return x  # error[E010]


def flagged(x: tl.Tensor[tl.f32], FLAG: tl.Const[bool]) -> tl.Tensor[tl.f32]:
    if FLAG:
        return x * 2.0  # error[E010]


def silent(x: tl.Tensor[tl.f32]) -> tl.Tensor[tl.f32]:  # error[E010]
    x = x + 1.0


def other(x: tl.Tensor[tl.f16]) -> tl.Tensor[tl.f32]:
    return x  # error[T013]


def differing(x: tl.Tensor[tl.f32], n: tl.Scalar[tl.i32]):
    if n > 3:  # error[T013]
        return x
    return n


def from_loop(x: tl.Tensor[tl.f32], n: tl.Scalar[tl.i32]) -> tl.Tensor[tl.f32]:
    for i in tl.range(n):
        return x  # error[E010]
    return x


def wrong_inside(x: tl.Tensor[N]) -> tl.Tensor[N]:
    y = x + 1
    return y + tl.exp(x)  # error[T001]


@tn.kernel
def helpers(x_ptr: tl.Ptr[tl.f32], h_ptr: tl.Ptr[tl.f16], i_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], FLAG: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x, h = tl.load(x_ptr + offs), tl.load(h_ptr + offs)
    a = plain(x, h)  # error[T002]
    b = plain(offs, offs)  # error[T001]
    c = plain(x)  # error[E005]
    d = plain(x, x, 2.0, 3.0)  # error[E005]
    e = plain(x, x, TIMES=2.0)  # error[E005]
    f = plain(x, x, n)  # error[E008]
    g = of_floats(h)  # error[T002]
    i = of_floats(2.0)  # error[T010]
    j = at_scalar(offs)  # error[S005]
    k = bare(x, x)
    unknown(x)
    l = variadic(a=x)  # error[E001]
    m = forever(x, 3)
    o = ping(x)
    p = sometimes(x, n)
    q = flagged(x, FLAG)
    r = silent(x)
    s = other(h)
    t = differing(x, n)
    u = from_loop(x, n)
    v = wrong_inside(tl.load(i_ptr + offs))
    w = wrong_inside(tl.load(i_ptr + offs * 2))
    tl.store(x_ptr + offs, a + b + c + d)
    y = tl.cdiv(x, 4)  # error[T010]
