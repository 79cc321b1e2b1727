"""Branches, loops and returns."""

from typing import Any, TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)


@tn.kernel
def nested_loops(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], rows: tl.Scalar[tl.i32], cols: tl.Scalar[tl.i64], BLOCK: tl.Const[int]) -> None:
    acc = tl.zeros((BLOCK,), tl.f32)
    offs = tl.arange(0, BLOCK)
    for i in tl.range(rows):
        row = tl.zeros((BLOCK,), tl.f32)
        for j in tl.range(0, cols, BLOCK):
            row += tl.load(x_ptr + i * cols + j + offs, mask=j + offs < cols, other=0.0)
        acc += row
    tl.store(y_ptr + offs, acc)


@tn.kernel
def backwards(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """Negative steps, known and with i64 bounds."""
    offs = tl.arange(0, BLOCK)
    for i in tl.range(n - 1, -1, -1):
        tl.store(x_ptr + i * BLOCK + offs, tl.load(x_ptr + i * BLOCK + offs) * 2.0)
    for i in range(8, 0, -2):
        tl.store(x_ptr + i, 0.0)
    for k in tl.range(n.to(tl.i64), 0, -4):
        tl.store(x_ptr + k, 1.0)


@tn.kernel
def collatz(x_ptr: tl.Ptr[tl.i64], y_ptr: tl.Ptr[tl.i32]) -> None:
    """A while loop whose body branches."""
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    steps = 0
    while x != 1 and steps < 1000:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(y_ptr + pid, steps)


@tn.kernel
def early_returns(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], FIRST: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    pid = tl.program_id(0)
    if pid * BLOCK >= n:
        return
    if FIRST:
        if pid > 0:
            return
        tl.store(x_ptr, 0.0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    if n == 0:
        return
    tl.store(x_ptr + offs, 1.0, mask=offs < n)


@tn.kernel
def const_return(x_ptr: tl.Ptr[D], BLOCK: tl.Const[int], NOTHING: tl.Const[bool]) -> None:
    if NOTHING:
        return
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


@tn.kernel
def branches(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """A name set on both paths, one that changes on one path, a tuple, and scalars from Consts."""
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    step = 1
    pair = (x, n)
    if n > 8:
        out = x * 2.0
        step = 2
        pair = (x + 1.0, n + 1)
    elif n > 4:
        out = x
    else:
        out = -x
        x = out + x
    tl.store(y_ptr + offs * step, out + x + pair[0], mask=offs < pair[1])


@tn.kernel
def flow_of_tuples(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    a, b = tl.load(x_ptr), tl.load(x_ptr + 1)
    state = (a, b)
    for _ in tl.range(n):
        state = (state[1], state[0] + state[1])
        a, b = b, a
    tl.store(x_ptr, state[0] + a)
    tl.store(x_ptr + 1, state[1] + b)


@tn.kernel
def ternaries(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], WIDE: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    size = BLOCK * 2 if WIDE else BLOCK
    offs = tl.arange(0, size)
    factor = tl.full((), 2.0, tl.f32) if n > 3 else tl.full((), 1.0, tl.f32)
    limit = n if n < size else size
    x = tl.load(x_ptr + offs, mask=offs < limit, other=0.0)
    tl.store(x_ptr + offs, (x.to(tl.f32) * factor).to(x_ptr.dtype), mask=offs < limit)


@tn.kernel
def chained(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """Chained comparisons of Consts and of scalars."""
    tl.static_assert(1 <= BLOCK <= 4096)
    tl.require(0 <= n <= 1 << 20)
    if 0 < n < 100 and not n == 7:
        tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)


@tn.kernel
def pipelined(x_ptr: tl.Ptr[N], y_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    """The next tile is loaded before the current one is stored."""
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    for start in tl.range(0, n, BLOCK):
        following = start + BLOCK + offs
        nxt = tl.load(x_ptr + following, mask=following < n)
        tl.store(y_ptr + start + offs, x, mask=mask)
        x = nxt
        mask = following < n


@tn.kernel
def loop_under_flag(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], FLAG: tl.Const[bool], BLOCK: tl.Const[int]) -> None:
    """A loop under a Const condition: what it changes has its old value elsewhere."""
    acc = tl.zeros((BLOCK,), tl.f32)
    offs = tl.arange(0, BLOCK)
    if FLAG:
        extra = tl.full((BLOCK,), 1.0, tl.f32)
        for i in tl.range(n):
            acc += tl.load(x_ptr + i * BLOCK + offs).to(tl.f32)
            extra *= 2.0
    tl.store(x_ptr + offs, acc.to(x_ptr.dtype))
    if FLAG:
        tl.store(x_ptr + offs, (acc + extra).to(x_ptr.dtype))


@tn.kernel
def scalar_logic(x_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], FLAG: tl.Const[bool]) -> None:
    ok = n > 3 or n < -3
    if FLAG and n > 0:
        tl.store(x_ptr, 1)
    if not ok or FLAG:
        tl.store(x_ptr, 2)
    while FLAG and tl.load(x_ptr) > 0:
        tl.store(x_ptr, 0)


def note(values: Any) -> None:
    """Plain code beside kernels is left alone."""
    print([v for v in values if v])
