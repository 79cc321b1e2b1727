"""Names, branches, loops and returns: each marked line has one fault, and no other line has any."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def one_path(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    if n > 4:
        a = tl.load(x_ptr + offs)
    tl.store(x_ptr + offs, a)  # error[E003]
    tl.store(x_ptr + offs, a + 1.0)
    for i in tl.range(n):
        b = tl.load(x_ptr + i)
    tl.store(x_ptr, b)  # error[E003]
    tl.store(x_ptr + i, 1.0)  # error[E003]
    while n > 0:
        c = n
        n -= 1
    tl.store(x_ptr + c, 0.0)  # error[E003]
    d = later + 1  # error[E003]
    later = 3


@tn.kernel
def wrong_flag(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D] | None, n: tl.Scalar[tl.i32], A: tl.Const[bool], B: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    if A:
        a = x * 2.0
    if B:
        x = x + a  # error[E003]
    if A or B:
        b = x
    tl.store(x_ptr + offs, b)  # error[E003]
    tl.store(x_ptr + offs, tl.load(y_ptr + offs))  # error[T010]
    if A:
        c = x
    else:
        if B:
            c = -x
    tl.store(x_ptr + offs, c)  # error[E003]


@tn.kernel
def slips(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + ofs)  # error[E002]
    y = tl.load(x_ptr + ofs) + x
    z = tl.expp(x)  # error[E002]
    tl.store(x_ptr + offs, y + z + bias)  # error[E002]
    tl.store(x_ptr + offs, tl.full((BLOCK,), 1.0, D))  # error[E015]
    math.exp(2.0)  # error[E002]


@tn.kernel
def carried(x_ptr: tl.Ptr[tl.f32], h_ptr: tl.Ptr[tl.f16], step: tl.Scalar[tl.i64], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    at = tl.program_id(0)
    for _ in tl.range(0, n):  # error[T008]
        tl.store(x_ptr + at, 0.0)
        at = at + step
    acc = 0.0
    for i in tl.range(n):
        acc = acc + tl.load(h_ptr + i)  # error[T002]
    total = 0
    for i in tl.range(n):  # error[T008]
        total = total + tl.load(x_ptr + i).to(tl.i64)
    block = tl.full((), 0.0, tl.f32)
    for i in tl.range(n):  # error[T008]
        block += tl.load(x_ptr + i * BLOCK + offs)
    half = tl.load(h_ptr + offs)
    while n > 0:  # error[T008]
        half = half.to(tl.f32)
        n = n - 1
    tl.store(x_ptr, block)


@tn.kernel
def two_types(x_ptr: tl.Ptr[tl.f16], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    if n > 0:  # error[T009]
        v = tl.load(x_ptr + offs)
    else:
        v = tl.load(y_ptr + offs)
    w = tl.load(y_ptr)
    if n > 1:  # error[T009]
        w = tl.load(y_ptr + offs)
    pair = (n, tl.load(x_ptr))
    if n > 2:  # error[T009]
        pair = (n, n)
    tl.store(y_ptr + offs, v)


@tn.kernel
def compile_time(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], FLAG: tl.Const[bool], RATE: tl.Const[float], BLOCK: tl.Const[int]) -> None:
    size = BLOCK
    if n < BLOCK:
        size = BLOCK * 2  # error[E009]
    tl.store(x_ptr + tl.arange(0, size), 1.0)
    tl.store(x_ptr + tl.arange(0, n), 1.0)  # error[E008]
    width: tl.Const[int] = n  # error[E009]
    tl.static_assert(n > 0)  # error[E008]
    for i in tl.static_range(n):  # error[E008]
        tl.store(x_ptr + i, 1.0)
    grown = BLOCK
    for i in tl.range(n):
        grown = grown * 2  # error[E009]
    tl.store(x_ptr + tl.arange(0, grown), 1.0)
    axis = tl.program_id(n)  # error[E008]
    name = "a"
    if n > 3:
        name = "b"  # error[E009]
    bad = BLOCK / 0  # error[E009]
    worse = "x" + BLOCK  # error[E009]
    flags = FLAG + 1  # error[E009]
    tl.static_assert(BLOCK != BLOCK, "never")  # error[E013]
    dims = tl.zeros((n,), tl.f32)  # error[E008]
    rate = RATE << 2  # error[E009]


@tn.kernel
def loops(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    for i in tl.static_range(8):
        if i == n:
            break  # error[E016]
        tl.store(x_ptr + i, 0.0)
    for i in tl.range(0, n, 0):  # error[E016]
        tl.store(x_ptr + i, 0.0)
    for i in x_ptr:  # error[E016]
        tl.store(x_ptr + i, 0.0)
    for i in tl.range(0.5):  # error[E016]
        tl.store(x_ptr + i, 0.0)
    for i, j in tl.range(n):  # error[E001]
        tl.store(x_ptr + i, 0.0)
    while BLOCK > 4:  # error[E016]
        tl.store(x_ptr, 0.0)
    for i in tl.range(n, num_stages=n):  # error[T010]
        tl.store(x_ptr + i, 0.0)
    for i in tl.range(n, flatten=2):  # error[T010]
        tl.store(x_ptr + i, 0.0)
    for i in tl.range():  # error[E005]
        pass
    for i in tl.range(0, n, stride=2):  # error[E005]
        pass
    for i in tl.static_range(100000):  # error[E016]
        pass
    tl.range(4)  # error[E004]


@tn.kernel
def returns(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32]) -> None:
    for i in tl.range(n):
        if i == 3:
            return  # error[E010]
        tl.store(x_ptr + i, 0.0)
    return tl.load(x_ptr)  # error[E010]


@tn.kernel
def declared(x_ptr: tl.Ptr[tl.f32]) -> tl.Tensor[tl.f32]:  # error[E010]
    tl.store(x_ptr, 0.0)


@tn.kernel
def parameters(
    x_ptr: tl.Ptr[tl.f32],
    n,  # error[E006]
    m: int,  # error[E006]
    k: tl.Ptr[tl.Float],  # error[E006]
    l: tl.Scalar["unknown"],  # error[E006]
    *rest: tl.Scalar[tl.i32],  # error[E001]
) -> None:
    tl.store(x_ptr + n + m, tl.load(k))
    tl.store(x_ptr, 1)
    tl.store(x_ptr, tl.arange(0, 4))  # error[T003]


@tn.kernel
def contracts(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], f: tl.Scalar[tl.f32], BLOCK: tl.Const[int]) -> None:
    tl.extent(x_ptr, tl.program_id(0) * BLOCK)  # error[E014]
    tl.require(tl.load(x_ptr) > 0.0)  # error[E014]
    tl.require(n)  # error[T007]
    tl.extent(x_ptr + n, n)  # error[T005]
    tl.extent(x_ptr, f)  # error[T010]
    tl.extent(x_ptr, (n, n), strides=(n,))  # error[S005]
    tl.extent(x_ptr)  # error[E005]
    if n > 3:
        tl.require(n < 100)  # error[E014]
    for i in tl.range(n):
        tl.extent(x_ptr, n)  # error[E014]
    if n == 0:
        return
    tl.require(n > 0)  # error[E014]
