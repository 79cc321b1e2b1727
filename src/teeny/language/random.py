"""Random numbers: the counter-based generator Philox, and what is made of its bits. Written in the language.

A number is a function of a seed and its offset alone: programs need no state, and a number can be had again. The bits
are those of Philox4x32-10 and Philox4x64-10 (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random
numbers: as easy as 1, 2, 3", 2011), and those that Triton gives for the same seed and offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import teeny.language as tl

if TYPE_CHECKING:
    from teeny.language.typing import Const, F, I, J, Tensor, f32, i32, i64, u32, u64

__all__ = [
    "pair_uniform_to_normal", "philox", "philox_impl", "rand", "rand4x", "randint", "randint4x", "randn", "randn4x",
    "uint_to_uniform_float",
]  # fmt: skip


@overload
def philox_impl(
    c0: Tensor[u32], c1: Tensor[u32], c2: Tensor[u32], c3: Tensor[u32], k0: Tensor[u32], k1: Tensor[u32],
    n_rounds: Const[int] = 10,
) -> tuple[Tensor[u32], Tensor[u32], Tensor[u32], Tensor[u32]]: ...  # fmt: skip
@overload
def philox_impl(
    c0: Tensor[u64], c1: Tensor[u64], c2: Tensor[u64], c3: Tensor[u64], k0: Tensor[u64], k1: Tensor[u64],
    n_rounds: Const[int] = 10,
) -> tuple[Tensor[u64], Tensor[u64], Tensor[u64], Tensor[u64]]: ...  # fmt: skip
def philox_impl(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: Any = 10) -> Any:
    """`n_rounds` rounds of Philox on the counter (c0, c1, c2, c3) with the key (k0, k1): four blocks of random bits."""
    if c0.dtype == tl.u32:
        return _rounds(c0, c1, c2, c3, k0, k1, 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85, n_rounds)
    return _rounds(
        c0, c1, c2, c3, k0, k1, 0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B,
        n_rounds,
    )  # fmt: skip


def _rounds(
    c0: Tensor[I], c1: Tensor[I], c2: Tensor[I], c3: Tensor[I], k0: Tensor[I], k1: Tensor[I], a: Const[int],
    b: Const[int], step0: Const[int], step1: Const[int], n_rounds: Const[int],
) -> tuple[Tensor[I], Tensor[I], Tensor[I], Tensor[I]]:  # fmt: skip
    for _ in tl.static_range(n_rounds):
        before0, before2 = c0, c2
        c0 = tl.umulhi(before2, b) ^ c1 ^ k0
        c2 = tl.umulhi(before0, a) ^ c3 ^ k1
        c1 = before2 * b
        c3 = before0 * a
        k0 = k0 + step0
        k1 = k1 + step1
    return c0, c1, c2, c3


@overload
def philox(
    seed: Tensor[J] | int, c0: Tensor[u32], c1: Tensor[u32] | int, c2: Tensor[u32] | int, c3: Tensor[u32] | int,
    n_rounds: Const[int] = 10,
) -> tuple[Tensor[u32], Tensor[u32], Tensor[u32], Tensor[u32]]: ...  # fmt: skip
@overload
def philox(
    seed: Tensor[J] | int, c0: Tensor[i32], c1: Tensor[i32] | int, c2: Tensor[i32] | int, c3: Tensor[i32] | int,
    n_rounds: Const[int] = 10,
) -> tuple[Tensor[u32], Tensor[u32], Tensor[u32], Tensor[u32]]: ...  # fmt: skip
@overload
def philox(
    seed: Tensor[J] | int, c0: Tensor[u64], c1: Tensor[u64] | int, c2: Tensor[u64] | int, c3: Tensor[u64] | int,
    n_rounds: Const[int] = 10,
) -> tuple[Tensor[u64], Tensor[u64], Tensor[u64], Tensor[u64]]: ...  # fmt: skip
@overload
def philox(
    seed: Tensor[J] | int, c0: Tensor[i64], c1: Tensor[i64] | int, c2: Tensor[i64] | int, c3: Tensor[i64] | int,
    n_rounds: Const[int] = 10,
) -> tuple[Tensor[u64], Tensor[u64], Tensor[u64], Tensor[u64]]: ...  # fmt: skip
def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = 10) -> Any:
    """Four blocks of random bits, as wide as the counter (c0, c1, c2, c3), for a seed: an integer of any dtype.

    The key of 32-bit counters is the seed's low and high half; that of 64-bit ones, the seed and 0. The parts of the
    counter have one dtype, and broadcast to the shape of c0; int literals may stand for them, but for c0.
    """
    key = tl.philox_key(seed)
    if c0.dtype == tl.u32 or c0.dtype == tl.i32:
        return philox_impl(
            c0.to(tl.u32), (c0 * 0 + c1).to(tl.u32), (c0 * 0 + c2).to(tl.u32), (c0 * 0 + c3).to(tl.u32),
            key.to(tl.u32), (key >> 32).to(tl.u32), n_rounds,
        )  # fmt: skip
    return philox_impl(
        c0.to(tl.u64), (c0 * 0 + c1).to(tl.u64), (c0 * 0 + c2).to(tl.u64), (c0 * 0 + c3).to(tl.u64), key, key * 0,
        n_rounds,
    )  # fmt: skip


def randint4x(
    seed: Tensor[J] | int, offset: Tensor[I], n_rounds: Const[int] = 10
) -> tuple[Tensor[u32], Tensor[u32], Tensor[u32], Tensor[u32]]:
    """Four blocks of random 32-bit integers for a seed and a block of offsets: the fastest way to many."""
    low = offset.to(tl.u32)
    if offset.dtype == tl.i64 or offset.dtype == tl.u64:
        return philox(seed, low, (offset >> 32).to(tl.u32), 0, 0, n_rounds)
    return philox(seed, low, 0, 0, 0, n_rounds)


def randint(seed: Tensor[J] | int, offset: Tensor[I], n_rounds: Const[int] = 10) -> Tensor[u32]:
    """A block of random 32-bit integers for a seed and a block of offsets, the first of `randint4x`."""
    found, _, _, _ = randint4x(seed, offset, n_rounds)
    return found


@overload
def uint_to_uniform_float(x: Tensor[u32]) -> Tensor[f32]: ...
@overload
def uint_to_uniform_float(x: Tensor[i32]) -> Tensor[f32]: ...
@overload
def uint_to_uniform_float(x: Tensor[u64]) -> Tensor[f32]: ...
@overload
def uint_to_uniform_float(x: Tensor[i64]) -> Tensor[f32]: ...
def uint_to_uniform_float(x: Any) -> Any:
    """Random integers as f32 in [0, 1): the size of the signed number, folded at 0, times a scale."""
    if x.dtype == tl.u32 or x.dtype == tl.i32:
        narrow: Tensor[i32] = x.to(tl.i32)
        return tl.where(narrow < 0, ~narrow, narrow).to(tl.f32) * 4.6566127342e-10
    wide: Tensor[i64] = x.to(tl.i64)
    return tl.where(wide < 0, ~wide, wide).to(tl.f32) * 1.0842020432385337e-19


def rand(seed: Tensor[J] | int, offset: Tensor[I], n_rounds: Const[int] = 10) -> Tensor[f32]:
    """A block of random f32 in [0, 1) for a seed and a block of offsets."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(
    seed: Tensor[J] | int, offsets: Tensor[I], n_rounds: Const[int] = 10
) -> tuple[Tensor[f32], Tensor[f32], Tensor[f32], Tensor[f32]]:
    """Four blocks of random f32 in [0, 1) for a seed and a block of offsets."""
    a, b, c, d = randint4x(seed, offsets, n_rounds)
    return uint_to_uniform_float(a), uint_to_uniform_float(b), uint_to_uniform_float(c), uint_to_uniform_float(d)


def pair_uniform_to_normal(u1: Tensor[F], u2: Tensor[F]) -> tuple[Tensor[F], Tensor[F]]:
    """Two independent blocks of uniform numbers as two of normal ones (G. E. P. Box and M. E. Muller, 1958)."""
    size = tl.sqrt(-2.0 * tl.log(tl.maximum(u1, 1.0e-7)))
    angle = 6.283185307179586 * u2
    return size * tl.cos(angle), size * tl.sin(angle)


def randn(seed: Tensor[J] | int, offset: Tensor[I], n_rounds: Const[int] = 10) -> Tensor[f32]:
    """A block of normally distributed f32, of mean 0 and deviation 1, for a seed and a block of offsets."""
    a, b, _, _ = randint4x(seed, offset, n_rounds)
    found, _ = pair_uniform_to_normal(uint_to_uniform_float(a), uint_to_uniform_float(b))
    return found


def randn4x(
    seed: Tensor[J] | int, offset: Tensor[I], n_rounds: Const[int] = 10
) -> tuple[Tensor[f32], Tensor[f32], Tensor[f32], Tensor[f32]]:
    """Four blocks of normally distributed f32, of mean 0 and deviation 1, for a seed and a block of offsets."""
    a, b, c, d = rand4x(seed, offset, n_rounds)
    first, second = pair_uniform_to_normal(a, b)
    third, fourth = pair_uniform_to_normal(c, d)
    return first, second, third, fourth
