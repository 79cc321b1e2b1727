"""Stream-K: the steps along k of all tiles are dealt out evenly; programs that share a tile hand their sums on.

(Osama et al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU", 2023.)
"""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)


def steps(
    a_ptr: tl.Ptr[F],
    b_ptr: tl.Ptr[F],
    tile: tl.Scalar[tl.i32],
    first: tl.Scalar[tl.i32],
    last: tl.Scalar[tl.i32],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
) -> tl.Tensor[tl.f32]:
    """The sum of a tile's steps from `first` to before `last`."""
    across = tl.cdiv(n, BN)
    rm, rn = tile // across * BM + tl.arange(0, BM), tile % across * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.f32)
    for step in tl.range(first, last):
        rk = step * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * k + rk[None, :], mask=(rm < m)[:, None] & (rk < k)[None, :], other=0.0)
        b = tl.load(b_ptr + rk[:, None] * n + rn[None, :], mask=(rk < k)[:, None] & (rn < n)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    return acc


@tn.kernel
def by_atomics(
    a_ptr: tl.Ptr[F],
    b_ptr: tl.Ptr[F],
    c_ptr: tl.Ptr[tl.f32],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
) -> None:
    """c holds zeros before; programs add their parts."""
    depth, across = tl.cdiv(k, BK), tl.cdiv(n, BN)
    total = tl.cdiv(m, BM) * across * depth
    share = tl.cdiv(total, tl.num_programs(0))
    at = tl.program_id(0) * share
    end = tl.minimum(at + share, total)
    while at < end:
        tile = at // depth
        last = tl.minimum(end, (tile + 1) * depth)
        acc = steps(a_ptr, b_ptr, tile, at - tile * depth, last - tile * depth, m, n, k, BM, BN, BK)
        rm, rn = tile // across * BM + tl.arange(0, BM), tile % across * BN + tl.arange(0, BN)
        tl.atomic_add(c_ptr + rm[:, None] * n + rn[None, :], acc, mask=(rm < m)[:, None] & (rn < n)[None, :])
        at = last


@tn.kernel
def by_flags(
    a_ptr: tl.Ptr[F],
    b_ptr: tl.Ptr[F],
    c_ptr: tl.Ptr[F],
    parts: tl.Ptr[tl.f32],
    flags: tl.Ptr[tl.i32],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
) -> None:
    """The program with a tile's first steps waits for the sums of those that have the others, and stores the tile.

    `parts` has a tile for each program, `flags` a 0.
    """
    depth, across = tl.cdiv(k, BK), tl.cdiv(n, BN)
    total = tl.cdiv(m, BM) * across * depth
    share = tl.cdiv(total, tl.num_programs(0))
    program = tl.program_id(0)
    place = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    at = program * share
    end = tl.minimum(at + share, total)
    while at < end:
        tile = at // depth
        done = (tile + 1) * depth
        last = tl.minimum(end, done)
        acc = steps(a_ptr, b_ptr, tile, at - tile * depth, last - tile * depth, m, n, k, BM, BN, BK)
        if at > tile * depth:
            tl.store(parts + program * (BM * BN) + place, acc)
            tl.debug_barrier()
            tl.atomic_xchg(flags + program, 1, sem="release")
        else:
            other = program + 1
            while last < done:
                while tl.atomic_cas(flags + other, 1, 1, sem="acquire") == 0:
                    pass
                acc += tl.load(parts + other * (BM * BN) + place)
                last += share
                other += 1
            rm, rn = tile // across * BM + tl.arange(0, BM), tile % across * BN + tl.arange(0, BN)
            inside = (rm < m)[:, None] & (rn < n)[None, :]
            tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc.to(c_ptr.dtype), mask=inside)
        at = tl.minimum(end, done)
