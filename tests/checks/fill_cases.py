"""Kernels for the fill check. A comment `# F001` stands on each line where a finding has its primary place.

Kernels without such a comment are right, and nothing may be said about them.
"""

from __future__ import annotations

from typing import TypeVar

import teeny.language as tl

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
U = TypeVar("U", bound=tl.Unsigned)


# 8-bit floats


def saturated_fill(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    """-inf becomes the least number of the format, which no maximum of such numbers is below."""
    at = tl.arange(0, B)
    x = tl.load(x_ptr + at, at < n, other=-float("inf")).to(tl.f8e4m3)
    tl.store(z_ptr, tl.max(x.to(tl.f32), axis=0))
    tl.store(z_ptr, tl.max(x.to(tl.f32) * 2.0 - 1000.0, axis=0))
    tl.store(z_ptr, tl.sum(x.to(tl.f32), axis=0))  # F002


def filled_float8(x_ptr: tl.Ptr[tl.f8e5m2], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    tl.store(z_ptr, tl.sum(tl.load(x_ptr + at, at < n, other=0.0).to(tl.f32), axis=0))
    tl.store(z_ptr, tl.sum(tl.load(x_ptr + at, at < n).to(tl.f32), axis=0))  # F001
    tl.store(z_ptr, tl.max(tl.load(x_ptr + at, at < n, other=-1.0).to(tl.f32), axis=0))  # F002


def functions_of_fills(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    x = tl.load(x_ptr + at, at < n, other=0.0)
    tl.store(z_ptr, tl.sum(tl.math.sinh(x) + tl.math.atan(x) + tl.math.trunc(x), axis=0))
    tl.store(z_ptr, tl.sum(tl.math.cosh(x), axis=0))  # F002
    tl.store(z_ptr, tl.max(tl.math.atan2(x, x) - 4.0, axis=0))  # F002
    tl.store(z_ptr, tl.sum(tl.math.erfc(tl.load(x_ptr + at, at < n, other=float("inf"))), axis=0))


# Loads and stores


def blocks_in_step(
    x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    i = tl.program_id(0) * B
    p = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (i, 0), (B, B), (1, 0))
    q = tl.make_block_ptr(z_ptr, (m, n), (n, 1), (i, 0), (B, B), (1, 0))
    for _ in tl.range(0, n, B):
        tl.store(q, tl.exp(tl.load(p, boundary_check=(0, 1))), boundary_check=(0, 1))
        p, q = tl.advance(p, (0, B)), tl.advance(q, (0, B))


def blocks_out_of_step(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    q = tl.make_block_ptr(z_ptr, (n,), (1,), (0,), (B,), (0,))
    for _ in tl.range(0, n, B):
        tl.store(q, tl.load(p, boundary_check=(0,)), boundary_check=(0,))  # F004
        p, q = tl.advance(p, (2 * B,)), tl.advance(q, (B,))


def block_stored_whole(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    x = tl.load(p, boundary_check=(0,))
    tl.store(z_ptr + tl.arange(0, B), x, mask=tl.arange(0, B) < n)
    tl.store(z_ptr + tl.arange(0, B), x)  # F004


def block_without_padding(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    p = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (B, B), (1, 0))
    tl.store(z_ptr, tl.sum(tl.sum(tl.load(p), 0), 0))
    tl.store(z_ptr, tl.sum(tl.sum(tl.load(p, boundary_check=(0, 1), padding_option="zero"), 0), 0))
    tl.store(z_ptr + tl.arange(0, B), tl.sum(tl.load(p, boundary_check=(1,)), 1))  # F001
    tl.store(z_ptr + tl.arange(0, B), tl.sum(tl.load(p, boundary_check=(0,)), 1), mask=tl.arange(0, B) < n)


def described_tiles(
    x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    x = tl.make_tensor_descriptor(x_ptr, (m, n), (n, 1), (B, B))
    z = tl.make_tensor_descriptor(z_ptr, (m, n), (n, 1), (B, B))
    z.store((0, 0), tl.exp(x.load((0, 0))))
    tl.store(z_ptr + tl.arange(0, B), tl.sum(x.load((0, 0)), 0), mask=tl.arange(0, B) < n)
    tl.store(z_ptr + tl.arange(0, B), tl.sum(tl.exp(x.load((0, 0))), 0), mask=tl.arange(0, B) < n)  # F002
    tl.store(z_ptr + tl.arange(0, B), tl.max(x.load((0, 0)), 0), mask=tl.arange(0, B) < n)  # F002


def described_nan(a_ptr: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    a = tl.make_tensor_descriptor(a_ptr, (k, k), (k, 1), (B, B), padding_option="nan")
    b = tl.make_tensor_descriptor(a_ptr, (k, k), (k, 1), (B, B))
    c = tl.make_tensor_descriptor(c_ptr, (k, k), (k, 1), (B, B))
    c.store((0, 0), tl.dot(b.load((0, 0)), b.load((0, 0))))
    c.store((0, 0), tl.dot(a.load((0, 0)), b.load((0, 0))))  # F002


def block_of_nan(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (B,), (0,))
    x = tl.load(p, boundary_check=(0,), padding_option="nan")
    tl.store(z_ptr, tl.max(x, 0))
    tl.store(z_ptr, tl.sum(x, 0))  # F002


def block_product(
    a_ptr: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    p = tl.make_block_ptr(a_ptr, (m, k), (k, 1), (0, 0), (B, B), (1, 0))
    q = tl.make_block_ptr(c_ptr, (m, m), (m, 1), (0, 0), (B, B), (1, 0))
    total = tl.zeros((B, B), tl.f32)
    for _ in tl.range(0, k, B):
        a = tl.load(p, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(a, tl.trans(a), total)
        p = tl.advance(p, (0, B))
    tl.store(q, total, boundary_check=(0, 1))
    a = tl.load(tl.make_block_ptr(a_ptr, (m, k), (k, 1), (0, 0), (B, B), (1, 0)), boundary_check=(0, 1))
    tl.store(q, tl.dot(a, tl.trans(a)), boundary_check=(0, 1))  # F007


def vector_add(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, x + y, mask=mask)


def mask_in_other_words(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(z_ptr + offs, x, mask=n > offs)
    tl.store(z_ptr + offs, x, mask=offs <= n - 1)
    tl.store(z_ptr + offs, x, mask=tl.arange(0, B) + 1 <= n)


def a_narrower_mask(
    x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(z_ptr + offs, x, mask=(offs < n) & (offs < m))
    tl.store(z_ptr + offs, x, mask=offs < n - 2)


def a_wider_mask(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(z_ptr + offs, x, mask=offs <= n)  # F004


def no_mask_at_the_store(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(z_ptr + offs, tl.exp(x))  # F004


def one_of_two_masks(
    x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=(offs < n) & (offs >= m))
    tl.store(z_ptr + offs, x, mask=offs < n)  # F004


def either_of_two_masks(
    x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    offs = tl.arange(0, B)
    mask = (offs < n) | (offs >= m)
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, x, mask=mask)
    tl.store(z_ptr + offs, x, mask=offs < n)
    tl.store(z_ptr + offs, x, mask=(offs < n) & (offs < m))


def either_is_not_both(
    x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], m: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(z_ptr + offs, x, mask=(offs < n) | (offs >= m))  # F004


def where_mends(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, tl.where(mask, x, 0.0))
    tl.store(z_ptr + offs, tl.where(~mask, 1.0, x))


def where_on_the_wrong_side(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(z_ptr + offs, tl.where(mask, 0.0, x))  # F004


def a_mask_that_always_holds(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < B)
    tl.store(z_ptr + offs, x)
    tl.store(z_ptr, tl.max(x, axis=0))


def under_a_branch(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32]) -> None:
    x = tl.load(x_ptr, mask=n > 0)
    if n > 0:
        tl.store(z_ptr, x)


def rows_and_columns(
    x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]
) -> None:
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    at = rows[:, None] * n + cols[None, :]
    x = tl.load(x_ptr + at, mask=(rows < m)[:, None] & (cols < n)[None, :])
    tl.store(z_ptr + at, x * 2.0, mask=(rows[:, None] < m) & (cols[None, :] < n))


def the_wrong_axis(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    x = tl.load(x_ptr + at, mask=(i < n)[:, None])
    tl.store(z_ptr + at, x, mask=(i < n)[None, :])  # F004


def transposed_with_its_mask(
    x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]
) -> None:
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :], mask=(rows < m)[:, None] & (cols < n)[None, :])
    at = cols[:, None] * m + rows[None, :]
    tl.store(z_ptr + at, tl.trans(x), mask=(cols < n)[:, None] & (rows < m)[None, :])
    tl.store(z_ptr + at, tl.trans(x), mask=tl.trans((rows < m)[:, None] & (cols < n)[None, :]))


# Reductions


def row_max(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n)
    tl.store(z_ptr, tl.max(x, axis=0))  # F001


def row_max_filled(x_ptr: tl.Ptr[N], z_ptr: tl.Ptr[N], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=tl.lowest(x_ptr.dtype))
    tl.store(z_ptr, tl.max(x, axis=0))


def row_max_of_zeros(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    tl.store(z_ptr, tl.max(x, axis=0))  # F002


def row_max_by_a_sentinel(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=-1e9)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(z_ptr, tl.sum(e, axis=0))


def absmax(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    tl.store(z_ptr, tl.max(tl.abs(x), axis=0))
    tl.store(z_ptr + 1, tl.max(x * x, axis=0))


def absmax_of_one(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=1.0)
    tl.store(z_ptr, tl.max(tl.abs(x), axis=0))  # F002


def row_min(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=float("inf"))
    tl.store(z_ptr, tl.min(x, axis=0))
    tl.store(z_ptr, tl.max(x, axis=0))  # F002


def row_sum(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n)
    tl.store(z_ptr, tl.sum(x * x, axis=0))  # F001


def row_sum_filled(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    y = tl.load(x_ptr + cols, mask=cols < n, other=1.0)
    tl.store(z_ptr, tl.sum(x * y + x, axis=0) / tl.sum(x, axis=0))
    tl.store(z_ptr, tl.sum(y, axis=0))  # F002


def softmax(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=-float("inf"))
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + cols, num / tl.sum(num, axis=0), mask=mask)


def scaled_softmax(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], scale: tl.Scalar[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask, other=-float("inf")) * scale
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + cols, num / tl.sum(num, axis=0), mask=mask)


def softmax_of_zeros(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask, other=0.0)
    num = tl.exp(x)
    tl.store(y_ptr + cols, num / tl.sum(num, axis=0), mask=mask)  # F002


def log_sum_exp(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=-float("inf"))
    top = tl.max(x, axis=0)
    tl.store(y_ptr, tl.log(tl.sum(tl.exp(x - top), axis=0)) + top)


def variance(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    centred = x - tl.sum(x, axis=0) / n.to(tl.f32)
    tl.store(z_ptr, tl.sum(centred * centred, axis=0) / n.to(tl.f32))  # F003


def variance_filled_again(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask, other=0.0)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / n.to(tl.f32), 0.0)
    tl.store(z_ptr, tl.sum(centred * centred, axis=0) / n.to(tl.f32))


def variance_by_the_mask_as_a_number(
    x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask, other=0.0)
    centred = (x - tl.sum(x, axis=0) / n.to(tl.f32)) * mask.to(tl.f32)
    tl.store(z_ptr, tl.sum(centred * centred, axis=0) / tl.sum(mask.to(tl.f32), axis=0))


def layer_norm(
    x_ptr: tl.Ptr[tl.f32], w_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask, other=0.0)
    w = tl.load(w_ptr + cols, mask=mask)
    mean = tl.sum(x, axis=0) / n.to(tl.f32)
    var = tl.sum(x * x, axis=0) / n.to(tl.f32) - mean * mean
    tl.store(y_ptr + cols, (x - mean) * tl.rsqrt(var + 1e-5) * w, mask=mask)


def other_rows(
    x_ptr: tl.Ptr[tl.f32],
    z_ptr: tl.Ptr[tl.f32],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
) -> None:
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * BN + cols[None, :], mask=(rows < m)[:, None])
    tl.store(z_ptr + rows, tl.sum(x, axis=1), mask=rows < m)
    tl.store(z_ptr + cols, tl.sum(x, axis=0), mask=cols < n)  # F001


def all_axes(
    x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], BM: tl.Const[int], BN: tl.Const[int]
) -> None:
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    at = rows[:, None] * BN + cols[None, :]
    x = tl.load(x_ptr + at, mask=(rows < m)[:, None])
    y = tl.load(x_ptr + at, mask=(rows < m)[:, None], other=0.0)
    tl.store(z_ptr, tl.sum(y))
    tl.store(z_ptr, tl.sum(x))  # F001


def rows_left_out_in_a_column_sum(
    x_ptr: tl.Ptr[tl.f32],
    z_ptr: tl.Ptr[tl.f32],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
) -> None:
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :], mask=mask, other=-float("inf"))
    x = tl.where((rows < m)[:, None], x, 0.0)
    tl.store(z_ptr + cols, tl.sum(x, axis=0), mask=cols < n)


def a_whole_tile_left_out(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + row * B + cols, mask=row < n)
    tl.store(z_ptr + row, tl.sum(x, axis=0), mask=row < n)
    tl.store(z_ptr + row, tl.sum(x, axis=0))  # F004


def count(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask)
    y = tl.load(x_ptr + cols, mask=mask, other=0.0)
    tl.store(z_ptr, tl.sum(((x > 0.0) & mask).to(tl.i32), axis=0))
    tl.store(z_ptr, tl.sum((y > 0.0).to(tl.i32), axis=0))
    tl.store(z_ptr, tl.sum((y >= 0.0).to(tl.i32), axis=0))  # F002


def count_undefined(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n)
    tl.store(z_ptr, tl.sum((x > 0.0).to(tl.i32), axis=0))  # F001


def integers(x_ptr: tl.Ptr[tl.i32], z_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0)
    tl.store(z_ptr, tl.sum(x, axis=0))
    tl.store(z_ptr, tl.max(x, axis=0))  # F002


def unsigned(x_ptr: tl.Ptr[tl.u32], z_ptr: tl.Ptr[tl.u32], n: tl.Scalar[tl.u32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B).to(tl.u32)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0)
    tl.store(z_ptr, tl.max(x, axis=0))
    tl.store(z_ptr + cols, tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)


def unsigned_in_general(x_ptr: tl.Ptr[U], z_ptr: tl.Ptr[U], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0)
    tl.store(z_ptr, tl.max(x, axis=0))
    tl.store(z_ptr, tl.min(x, axis=0))  # F002


def two_loads(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    y = tl.load(y_ptr + cols, mask=cols < n)
    tl.store(z_ptr, tl.sum(x * y, axis=0))  # F001


def relu_sum(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    tl.store(z_ptr, tl.sum(tl.maximum(x, 0.0) + tl.where(x > 1.0, x, 0.0), axis=0))


def where_without_a_load(z_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    weight = tl.where(cols < n, tl.full((B,), 1.0, tl.f32), 0.5)
    tl.store(z_ptr, tl.sum(weight * weight, axis=0))


def causal(x_ptr: tl.Ptr[tl.f32], z_ptr: tl.Ptr[tl.f32], B: tl.Const[int]) -> None:
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    x = tl.load(x_ptr + at)
    x = tl.where(i[:, None] >= i[None, :], x, -float("inf"))
    p = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(z_ptr + i, tl.sum(p, axis=1))


# Addresses and branches


def gather(at_ptr: tl.Ptr[tl.i32], x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    at = tl.load(at_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.load(x_ptr + at), mask=offs < n)  # F005


def gather_under_the_mask(
    at_ptr: tl.Ptr[tl.i32], x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    offs = tl.arange(0, B)
    at = tl.load(at_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.load(x_ptr + at, mask=offs < n), mask=offs < n)
    first = tl.load(at_ptr + offs, mask=offs < n, other=0)
    tl.store(y_ptr + offs, tl.load(x_ptr + first), mask=offs < n)


def embedding_sum(
    at_ptr: tl.Ptr[tl.i32], x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    offs = tl.arange(0, B)
    at = tl.load(at_ptr + offs, mask=offs < n, other=0)
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + at), axis=0))  # F003


def scatter(at_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    at = tl.load(at_ptr + offs, mask=offs < n)
    tl.store(y_ptr + at, offs, mask=offs < n)
    tl.store(y_ptr + at, offs)  # F005


def a_loaded_mask(
    m_ptr: tl.Ptr[tl.bool_], x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    offs = tl.arange(0, B)
    tail = offs < n
    keep = tl.load(m_ptr + offs, mask=tail)
    x = tl.load(x_ptr + offs, mask=keep & tail)
    tl.store(y_ptr + offs, x, mask=keep & tail)
    tl.store(y_ptr + offs, tl.where(keep & tail, x, 0.0), mask=tail)
    tl.store(y_ptr + offs, x, mask=keep)  # F005


def guarded(flag_ptr: tl.Ptr[tl.i32], x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    flag = tl.load(flag_ptr, mask=n > 0)
    if flag > 0:  # F006
        tl.store(x_ptr, 1.0)


def guarded_by_a_default(flag_ptr: tl.Ptr[tl.i32], x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    flag = tl.load(flag_ptr, mask=n > 0, other=0)
    if flag > 0:
        tl.store(x_ptr, 1.0)
    if n > 0:
        again = tl.load(flag_ptr, mask=n > 0)
        if again > 0:
            tl.store(x_ptr, 2.0)


def loaded_bounds(n_ptr: tl.Ptr[tl.i32], x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    count = tl.load(n_ptr, mask=n > 0)
    for i in tl.range(count):  # F006
        tl.store(x_ptr + i, 1.0)


# Products


def matmul(
    a_ptr: tl.Ptr[tl.f16],
    b_ptr: tl.Ptr[tl.f16],
    c_ptr: tl.Ptr[tl.f32],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    B: tl.Const[int],
) -> None:
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.f32)
    for start in tl.range(0, k, B):
        inner = start + i
        a = tl.load(a_ptr + i[:, None] * k + inner[None, :], mask=(i < m)[:, None] & (inner < k)[None, :], other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + i[None, :], mask=(inner < k)[:, None] & (i < n)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + i[:, None] * n + i[None, :], acc, mask=(i < m)[:, None] & (i < n)[None, :])


def rows_and_columns_of_a_product(
    a_ptr: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    i = tl.arange(0, B)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :], mask=(i < m)[:, None])
    tl.store(c_ptr + i[:, None] * B + i[None, :], tl.dot(a, tl.trans(a)), mask=(i < m)[:, None] & (i < m)[None, :])
    tl.store(c_ptr + i[:, None] * B + i[None, :], tl.dot(a, tl.trans(a)), mask=(i < m)[:, None])  # F004


def product_with_a_tail(a_ptr: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    i = tl.arange(0, B)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :], mask=(i < k)[None, :])
    tl.store(c_ptr + i[:, None] * B + i[None, :], tl.dot(a, tl.trans(a)))  # F007


def scaled_product(
    a_ptr: tl.Ptr[tl.u8],
    s_ptr: tl.Ptr[tl.u8],
    c_ptr: tl.Ptr[tl.f32],
    m: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    B: tl.Const[int],
) -> None:
    """Bytes of 0 are elements of 0, whatever their scales are but NaN."""
    i, j = tl.arange(0, B), tl.arange(0, B // 32)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :], mask=(i < m)[:, None] & (i < k)[None, :], other=0)
    s = tl.load(s_ptr + i[:, None] * (B // 32) + j[None, :], mask=(i < m)[:, None] & (j * 32 < k)[None, :], other=127)
    c = tl.dot_scaled(a, s, "e4m3", tl.trans(a), s, "e4m3")
    tl.store(c_ptr + i[:, None] * B + i[None, :], c, mask=(i < m)[:, None] & (i < m)[None, :])


def scales_that_are_undefined(
    a_ptr: tl.Ptr[tl.u8], s_ptr: tl.Ptr[tl.u8], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    i, j = tl.arange(0, B), tl.arange(0, B // 32)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :], mask=(i < k)[None, :], other=0)
    s = tl.load(s_ptr + i[:, None] * (B // 32) + j[None, :], mask=(j * 32 < k)[None, :])
    tl.store(c_ptr + i[:, None] * B + i[None, :], tl.dot_scaled(a, s, "e4m3", tl.trans(a), None, "e4m3"))  # F007


def scales_that_are_nan(
    a_ptr: tl.Ptr[tl.u8], s_ptr: tl.Ptr[tl.u8], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    i, j = tl.arange(0, B), tl.arange(0, B // 32)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :], mask=(i < k)[None, :], other=0)
    s = tl.load(s_ptr + i[:, None] * (B // 32) + j[None, :], mask=(j * 32 < k)[None, :], other=255)
    tl.store(c_ptr + i[:, None] * B + i[None, :], tl.dot_scaled(a, s, "e4m3", tl.trans(a), None, "e4m3"))  # F002


def scaled_rows(
    a_ptr: tl.Ptr[tl.u8], s_ptr: tl.Ptr[tl.u8], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    """Undefined scales of the second operand make columns undefined, whose rows they are."""
    i, j = tl.arange(0, B), tl.arange(0, B // 32)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :])
    s = tl.load(s_ptr + i[:, None] * (B // 32) + j[None, :], mask=(i < m)[:, None])
    c = tl.dot_scaled(a, None, "e4m3", a, s, "e4m3")
    tl.store(c_ptr + i[:, None] * B + i[None, :], c, mask=(i < m)[None, :])
    tl.store(c_ptr + i[:, None] * B + i[None, :], c, mask=(i < m)[:, None])  # F004


def packed_rows(a_ptr: tl.Ptr[tl.u8], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    """Which rows of elements are undefined is not known where two lie in a byte."""
    i, h = tl.arange(0, B), tl.arange(0, B // 2)
    a = tl.load(a_ptr + h[:, None] * B + i[None, :], mask=(h < m)[:, None])
    b = tl.load(a_ptr + h[:, None] * B + i[None, :])
    c = tl.dot_scaled(a, None, "e2m1", b, None, "e2m1", lhs_k_pack=False)
    tl.store(c_ptr + i[:, None] * B + i[None, :], c, mask=(i < 2 * m)[:, None])  # F004


def one_side_of_a_product_is_enough(
    a_ptr: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    a = tl.load(a_ptr + at, mask=(i < k)[None, :], other=0.0)
    b = tl.load(a_ptr + at, mask=(i < k)[:, None], other=1.0)
    tl.store(c_ptr + at, tl.dot(a, b))
    tl.store(c_ptr + at, tl.dot(b, tl.trans(b)))
    tl.store(c_ptr + at, tl.dot(tl.trans(b), b))  # F002


# Compile-time branches


def optional_mask(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int], EVEN: tl.Const[bool]
) -> None:
    offs = tl.arange(0, B)
    mask = offs < n
    if EVEN:
        x = tl.load(x_ptr + offs)
    else:
        x = tl.load(x_ptr + offs, mask=mask)
    y = x * 2.0
    if EVEN:
        tl.store(y_ptr + offs, y)
    else:
        tl.store(y_ptr + offs, y, mask=mask)


def two_masks_by_one_const(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int], EVEN: tl.Const[bool]
) -> None:
    offs = tl.arange(0, B)
    if EVEN:
        mask = offs < B
        x = tl.load(x_ptr + offs)
    else:
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
    tl.store(y_ptr + offs, x + 1.0, mask=mask)


def a_fill_in_one_branch(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int], FILL: tl.Const[bool]
) -> None:
    offs = tl.arange(0, B)
    if FILL:
        x = tl.load(x_ptr + offs, mask=offs < n, other=-float("inf"))
    else:
        x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr, tl.max(x, axis=0))  # F001


def bias_or_not(
    x_ptr: tl.Ptr[tl.f32],
    b_ptr: tl.Ptr[tl.f32],
    y_ptr: tl.Ptr[tl.f32],
    n: tl.Scalar[tl.i32],
    B: tl.Const[int],
    BIAS: tl.Const[bool],
) -> None:
    offs = tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    if BIAS:
        x += tl.load(b_ptr + offs, mask=mask, other=0.0)
    tl.store(y_ptr, tl.sum(x, axis=0))


# Loops


def sum_in_pieces(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    total = tl.zeros((B,), tl.f32)
    for start in tl.range(0, n, B):
        offs = start + tl.arange(0, B)
        total += tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0))


def sum_in_pieces_unfilled(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    total = tl.zeros((B,), tl.f32)
    for start in tl.range(0, n, B):
        offs = start + tl.arange(0, B)
        total += tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr, tl.sum(total, axis=0))  # F001


def scalar_total(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    total = tl.full((), 0.0, tl.f32)
    for start in tl.range(0, n, B):
        offs = start + tl.arange(0, B)
        total += tl.sum(tl.load(x_ptr + offs, mask=offs < n), axis=0)  # F001
    tl.store(y_ptr, total)


def carried_offsets(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    for _ in tl.range(0, n, B):
        x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(y_ptr + offs, x, mask=offs < n)
        offs += B


def pipelined_by_the_index(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n)
    for start in tl.range(0, n, B):
        offs = start + cols
        ahead = tl.load(x_ptr + offs + B, mask=offs + B < n)
        tl.store(y_ptr + offs, x, mask=offs < n)
        x = ahead


def pipelined_by_offsets(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    for _ in tl.range(0, n, B):
        ahead = offs + B
        following = tl.load(x_ptr + ahead, mask=ahead < n)
        tl.store(y_ptr + offs, x, mask=offs < n)
        x = following
        offs = ahead


def pipelined_with_its_mask(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask)
    for start in tl.range(0, n, B):
        tl.store(y_ptr + start + cols, x, mask=mask)
        mask = start + B + cols < n
        x = tl.load(x_ptr + start + B + cols, mask=mask)


def pipelined_one_step_off(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n)
    for start in tl.range(0, n, B):
        offs = start + cols
        ahead = tl.load(x_ptr + offs + B, mask=offs + B < n)
        x = ahead
        tl.store(y_ptr + offs, x, mask=offs < n)  # F004


def carried_out_of_the_loop(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    x = tl.zeros((B,), tl.f32)
    for start in tl.range(0, n, B):
        x = tl.load(x_ptr + start + cols, mask=start + cols < n)
    tl.store(y_ptr + cols, x, mask=cols < n)  # F004


def online_softmax(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    top = tl.full((), -float("inf"), tl.f32)
    total = tl.full((), 0.0, tl.f32)
    for start in tl.range(0, n, B):
        x = tl.load(x_ptr + start + cols, mask=start + cols < n, other=-float("inf"))
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    tl.store(y_ptr, top + tl.log(total))


def while_loop(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    start = 0
    total = tl.zeros((B,), tl.f32)
    while start < n:
        offs = start + tl.arange(0, B)
        x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)
        total += x
        start += B
    tl.store(y_ptr, tl.sum(total, axis=0))


# Run-time branches


def chosen_at_run_time(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    x = tl.zeros((B,), tl.f32)
    if k > 0:
        x = tl.load(x_ptr + cols, mask=cols < n)
    tl.store(y_ptr + cols, x, mask=cols < n)
    tl.store(y_ptr + cols, x)  # F004


def mask_and_value_chosen_together(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    cols = tl.arange(0, B)
    if k > 0:
        mask = cols < n
        x = tl.load(x_ptr + cols, mask=mask)
    else:
        mask = cols < k
        x = tl.load(y_ptr + cols, mask=mask)
    tl.store(y_ptr + cols, x, mask=mask)
    tl.store(y_ptr + cols, x, mask=cols < n)  # F004


# Helpers


def _normalised(x: tl.Tensor[D]) -> tl.Tensor[D]:
    e = tl.exp(x - tl.max(x, axis=0))  # F001
    return e / tl.sum(e, axis=0)


def through_a_helper(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    cols = tl.arange(0, B)
    x = tl.load(x_ptr + cols, mask=cols < n)
    tl.store(y_ptr + cols, _normalised(x), mask=cols < n)


# Matrix products


def product(a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    r = tl.arange(0, B)
    inside = r < k
    a = tl.load(a_ptr + (r[:, None] * k + r[None, :]), mask=inside[None, :], other=0.0)
    b = tl.load(b_ptr + (r[:, None] * B + r[None, :]), mask=inside[:, None], other=0.0)
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), tl.dot(a, b))


def product_with_an_unfilled_tail(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    r = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.f32)
    for start in tl.range(0, k, B):
        inside = start + r < k
        a = tl.load(a_ptr + (r[:, None] * k + (start + r)[None, :]), mask=inside[None, :])
        b = tl.load(b_ptr + ((start + r)[:, None] * B + r[None, :]), mask=inside[:, None], other=0.0)
        acc = tl.dot(a, b, acc)  # F007
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), acc)


def product_with_an_unfilled_second_operand(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    r = tl.arange(0, B)
    a = tl.load(a_ptr + (r[:, None] * k + r[None, :]), mask=(r < k)[None, :], other=0.0)
    b = tl.load(b_ptr + (r[:, None] * B + r[None, :]), mask=(r < k)[:, None])
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), tl.dot(a, b))  # F007


def product_turned(x_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    r = tl.arange(0, B)
    x = tl.load(x_ptr + (r[:, None] * k + r[None, :]), mask=(r < k)[None, :], other=0.0)
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), tl.dot(x, tl.trans(x)))


def product_of_rows_that_are_not_there(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32],
    B: tl.Const[int],
) -> None:  # fmt: skip
    r = tl.arange(0, B)
    a = tl.load(a_ptr + (r[:, None] * B + r[None, :]), mask=(r < m)[:, None])
    b = tl.load(b_ptr + (r[:, None] * B + r[None, :]), mask=(r < n)[None, :])
    at = c_ptr + (r[:, None] * B + r[None, :])
    tl.store(at, tl.dot(a, b), mask=(r < m)[:, None] & (r < n)[None, :])


def product_of_rows_stored_too_far(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], m: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    r = tl.arange(0, B)
    a = tl.load(a_ptr + (r[:, None] * B + r[None, :]), mask=(r < m)[:, None])
    b = tl.load(b_ptr + (r[:, None] * B + r[None, :]))
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), tl.dot(a, b))  # F004


def product_with_ones_against_zeros(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    r = tl.arange(0, B)
    a = tl.load(a_ptr + (r[:, None] * k + r[None, :]), mask=(r < k)[None, :], other=1.0)
    b = tl.load(b_ptr + (r[:, None] * B + r[None, :]), mask=(r < k)[:, None], other=0.0)
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), tl.dot(a, b))


def product_with_ones(
    a_ptr: tl.Ptr[D], b_ptr: tl.Ptr[D], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    r = tl.arange(0, B)
    a = tl.load(a_ptr + (r[:, None] * k + r[None, :]), mask=(r < k)[None, :], other=1.0)
    b = tl.load(b_ptr + (r[:, None] * B + r[None, :]))
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), tl.dot(a, b))  # F002


def product_of_what_was_computed(
    a_ptr: tl.Ptr[tl.f32], b_ptr: tl.Ptr[tl.f32], c_ptr: tl.Ptr[tl.f32], k: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    r = tl.arange(0, B)
    a = tl.load(a_ptr + (r[:, None] * k + r[None, :]), mask=(r < k)[None, :], other=0.0)
    b = tl.load(b_ptr + (r[:, None] * B + r[None, :]))
    scale = tl.load(b_ptr + r)
    tl.store(c_ptr + (r[:, None] * B + r[None, :]), tl.dot(tl.exp(a - scale[:, None]), b))  # F003


def attention(
    q_ptr: tl.Ptr[D], k_ptr: tl.Ptr[D], v_ptr: tl.Ptr[D], o_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    r = tl.arange(0, B)
    q = tl.load(q_ptr + (r[:, None] * B + r[None, :]), mask=(r < n)[:, None], other=0.0)
    top = tl.full((B,), -float("inf"), tl.f32)
    total = tl.zeros((B,), tl.f32)
    acc = tl.zeros((B, B), tl.f32)
    for start in tl.range(0, n, B):
        rn = start + r
        inside = rn < n
        k = tl.load(k_ptr + (rn[:, None] * B + r[None, :]), mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + (rn[:, None] * B + r[None, :]), mask=inside[:, None], other=0.0)
        s = tl.where(inside[None, :], tl.dot(q, tl.trans(k)), -float("inf"))
        higher = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - higher[:, None])
        alpha = tl.exp(top - higher)
        total = total * alpha + tl.sum(p, axis=1)
        acc = tl.dot(p.to(v_ptr.dtype), v, acc * alpha[:, None])
        top = higher
    tl.store(o_ptr + (r[:, None] * B + r[None, :]), acc / total[:, None], mask=(r < n)[:, None])


# Maxima so far


def max_in_pieces(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    m = tl.full((B,), -float("inf"), tl.f32)
    for s in range(0, n, B):
        j = s + tl.arange(0, B)
        m = tl.maximum(m, tl.load(x_ptr + j, mask=j < n, other=0.0))
    tl.store(y_ptr, tl.max(m, axis=0))  # F002


def min_in_pieces(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    m = tl.full((B,), float("inf"), x_ptr.dtype)
    for s in range(0, n, B):
        j = s + tl.arange(0, B)
        x = tl.load(x_ptr + j, mask=j < n, other=0.0)
        m = tl.minimum(x, m, propagate_nan=True)
    tl.store(y_ptr, tl.min(m, axis=0))  # F002


def max_of_integers_in_pieces(
    x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    m = tl.full((B,), tl.lowest(tl.i32), tl.i32)
    s = 0
    while s < n:
        j = s + tl.arange(0, B)
        m = tl.maximum(m, tl.load(x_ptr + j, mask=j < n, other=0))
        s += B
    tl.store(y_ptr, tl.max(m, axis=0))  # F002


def max_of_two_tiles(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    j = tl.arange(0, B)
    m = tl.maximum(tl.load(y_ptr + j), tl.load(x_ptr + j, mask=j < n, other=0.0))
    tl.store(y_ptr, tl.max(m, axis=0))  # F002


def max_in_pieces_of_what_leaves_it(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    m = tl.full((B,), -float("inf"), tl.f32)
    low = tl.full((B,), float("inf"), tl.f32)
    top = tl.zeros((B,), tl.f32)
    size = tl.full((B,), -float("inf"), tl.f32)
    for s in range(0, n, B):
        j = s + tl.arange(0, B)
        x = tl.load(x_ptr + j, mask=j < n, other=-float("inf"))
        m = tl.maximum(m, x)
        low = tl.minimum(low, tl.load(x_ptr + j, mask=j < n, other=float("inf")))
        y = tl.load(x_ptr + j, mask=j < n, other=0.0)
        top = tl.maximum(top, y)
        size = tl.maximum(size, tl.abs(y))
    tl.store(y_ptr, tl.max(m, axis=0))
    tl.store(y_ptr + 1, tl.min(low, axis=0))
    tl.store(y_ptr + 2, tl.max(top, axis=0))
    tl.store(y_ptr + 3, tl.max(size, axis=0))


def max_in_pieces_refilled(
    x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    m = tl.full((B,), -float("inf"), tl.f32)
    k = tl.full((B,), -float("inf"), tl.f32)
    for s in range(0, n, B):
        j = s + tl.arange(0, B)
        x = tl.load(x_ptr + j, mask=j < n, other=0.0)
        m = tl.maximum(m, tl.where(j < n, x, -float("inf")))
        k = tl.where(j < n, tl.maximum(k, x), k)
    tl.store(y_ptr, tl.max(m, axis=0))
    tl.store(y_ptr + 1, tl.max(k, axis=0))


def max_of_unsigned_in_pieces(x_ptr: tl.Ptr[U], y_ptr: tl.Ptr[U], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    m = tl.zeros((B,), x_ptr.dtype)
    for s in range(0, n, B):
        j = s + tl.arange(0, B)
        m = tl.maximum(m, tl.load(x_ptr + j, mask=j < n, other=0))
    tl.store(y_ptr, tl.max(m, axis=0))


# Scans, and where an extreme is


def running_sum(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.cumsum(x), mask=offs < n)


def running_sum_stored_whole(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.cumsum(x))  # F004


def running_sum_in_reverse(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, tl.cumsum(x, reverse=True), mask=offs < n)  # F001
    tl.store(y_ptr + offs, tl.cumsum(tl.load(x_ptr + offs, mask=offs < n, other=0), reverse=True), mask=offs < n)
    tl.store(y_ptr + offs, tl.cumprod(tl.load(x_ptr + offs, mask=offs < n, other=0), reverse=True))  # F002
    tl.store(y_ptr + offs, tl.cumsum(tl.exp(tl.load(x_ptr + offs, offs < n, 0)), reverse=True))  # F002


def running_sum_of_a_late_start(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    inside = offs >= m
    x = tl.load(x_ptr + offs, mask=inside)
    tl.store(y_ptr + offs, tl.cumsum(x), mask=inside)  # F001
    tl.store(y_ptr + offs, tl.cumsum(x, 0, reverse=True), mask=inside)
    filled = tl.cumsum(tl.load(x_ptr + offs, mask=inside, other=0))
    tl.store(y_ptr, tl.sum(filled))


def running_sum_of_holes(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    even = offs % 2 == 0
    tl.store(y_ptr + offs, tl.cumsum(tl.load(x_ptr + offs, mask=even)), mask=even)  # F001
    tl.store(y_ptr + offs, tl.cumsum(tl.load(x_ptr + offs, mask=even, other=0)))


def running_sums_of_rows(
    x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]
) -> None:
    rows, cols = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    inside = (rows < m) & (cols < n)
    at = rows * n + cols
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(y_ptr + at, tl.cumsum(x, 1), mask=inside)
    tl.store(y_ptr + at, tl.cumsum(x, 0), mask=inside)
    totals = tl.sum(tl.cumsum(x, 1), 1)  # F001
    tl.store(y_ptr + tl.arange(0, B), totals, mask=tl.arange(0, B) < m)


def where_the_largest_is(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    tl.store(y_ptr, tl.argmax(tl.load(x_ptr + offs, mask=offs < n), 0))  # F001
    tl.store(y_ptr, tl.argmax(tl.load(x_ptr + offs, mask=offs < n, other=0), 0))  # F002
    tl.store(y_ptr, tl.argmax(tl.load(x_ptr + offs, mask=offs < n, other=-float("inf")), 0))
    tl.store(y_ptr, tl.argmin(tl.load(x_ptr + offs, mask=offs < n, other=float("inf")), 0))
    smallest, at = tl.min(tl.load(x_ptr + offs, mask=offs < n), 0, return_indices=True)  # F001
    tl.store(y_ptr, tl.where(smallest < 0, at, 0))


# Atomic operations


def added_at(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    place = tl.load(z_ptr + at, mask=at < n)
    tl.atomic_add(z_ptr + place, 1, mask=at < n)
    tl.atomic_add(z_ptr + place, 1)  # F005


def added_and_used(z_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    x = tl.load(z_ptr + at, mask=at < n)
    tl.atomic_add(z_ptr + at, x)  # F004
    old = tl.atomic_add(z_ptr + at, x, mask=at < n)
    tl.store(z_ptr + at, old, mask=at < n)
    tl.store(z_ptr, tl.sum(tl.where(at < n, old, 0)))
    tl.store(z_ptr, tl.sum(old))  # F001


def stored_and_swapped(z_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    old = tl.atomic_max(z_ptr + at, at, mask=at < n)
    tl.store(z_ptr + at, old)  # F004
    tl.atomic_cas(z_ptr + at, old, at)  # F004
    tl.atomic_cas(z_ptr + at, tl.where(at < n, old, 0), at)
    first = tl.atomic_xchg(z_ptr, 1, mask=n > 0)
    if first > 0:  # F006
        tl.store(z_ptr, 1)


# Tiles put together and taken apart


def halves(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], m: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    rows = tl.arange(0, B)
    inside = (rows < m)[:, None]
    pair = tl.load(x_ptr + rows[:, None] * 2 + tl.arange(0, 2)[None, :], mask=inside)
    left, right = tl.split(pair)
    tl.store(y_ptr + rows, left * right, mask=rows < m)
    both = tl.join(right, left)
    tl.store(y_ptr + rows[:, None] * 2 + tl.arange(0, 2)[None, :], both, mask=inside)
    tl.store(y_ptr + rows, tl.sum(tl.join(left, tl.zeros_like(left)), 1), mask=rows < m)
    tl.store(y_ptr + tl.arange(0, 2), tl.sum(both, 0))  # F001
    tl.store(y_ptr + tl.arange(0, 2 * B), tl.interleave(left, right))  # F004


def one_after_the_other(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.store(y_ptr, tl.sum(tl.cat(x, x, can_reorder=True)))
    tl.store(y_ptr, tl.max(tl.cat(x, x, can_reorder=True)))  # F002
    y = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr, tl.sum(tl.cat(x, y, can_reorder=True)))  # F001


def turned_round(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    x = tl.flip(tl.load(x_ptr + offs, mask=offs < n))
    tl.store(y_ptr + offs, x, mask=B - 1 - offs < n)
    tl.store(y_ptr + offs, tl.cumsum(x, reverse=True), mask=tl.flip(offs) < n)
    tl.store(y_ptr + offs, tl.flip(x), mask=offs < n)
    tl.store(y_ptr + offs, x, mask=offs < n)  # F004


# Sorts and counts


def sorted_with_a_tail(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    inside = offs < n
    tl.store(y_ptr + offs, tl.sort(tl.load(x_ptr + offs, mask=inside)), mask=inside)  # F001
    tl.store(y_ptr + offs, tl.sort(tl.load(x_ptr + offs, mask=inside, other=0)), mask=inside)  # F002
    last = tl.sort(tl.load(x_ptr + offs, mask=inside, other=float("inf")))
    tl.store(y_ptr + offs, last, mask=inside)
    tl.store(y_ptr, tl.sum(last))  # F002
    tl.store(y_ptr + offs, tl.sort(tl.load(x_ptr + offs, inside, -float("inf")), descending=True), mask=inside)


def sorted_after_a_computation(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n, other=100)
    tl.store(y_ptr + offs, tl.sort(x * 16 + offs), mask=offs < n)


def the_largest_with_a_tail(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    best = tl.topk(tl.load(x_ptr + offs, mask=offs < n, other=-float("inf")), 4)
    tl.store(y_ptr + tl.arange(0, 4), best)
    least = tl.topk(tl.load(x_ptr + offs, mask=offs < n, other=-float("inf")), 4, descending=False)  # F002
    tl.store(y_ptr + tl.arange(0, 4), least)


def counted_numbers(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    offs = tl.arange(0, B)
    inside, bins = offs < n, tl.arange(0, 8)
    tl.store(y_ptr + bins, tl.histogram(tl.load(x_ptr + offs, mask=inside), 8, inside))
    tl.store(y_ptr + bins, tl.histogram(tl.load(x_ptr + offs, mask=inside, other=-1), 8))
    tl.store(y_ptr + bins, tl.histogram(tl.load(x_ptr + offs, mask=inside, other=8), 8))
    tl.store(y_ptr + bins, tl.histogram(tl.load(x_ptr + offs, mask=inside, other=0), 8))  # F002
    tl.store(y_ptr + bins, tl.histogram(tl.load(x_ptr + offs, mask=inside), 8))  # F005
    tl.store(y_ptr + bins, tl.histogram(tl.load(x_ptr + offs, mask=inside), 8, offs < n + 1))  # F005


# Picked elements


def picked(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], i_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    at = tl.arange(0, B)
    whole = tl.load(x_ptr + at, mask=at < n, other=0.0)
    index = tl.load(i_ptr + at, mask=at < n)
    tl.store(z_ptr + at, tl.gather(whole, index, 0), mask=at < n)
    tl.store(z_ptr + at, tl.gather(whole, index, 0))  # F004
    tl.store(z_ptr, tl.sum(tl.gather(whole, at, 0)))
    part = tl.load(x_ptr + at, mask=at < n)
    tl.store(z_ptr + at, tl.gather(part, at, 0))  # F004
    tl.store(z_ptr, tl.sum(tl.gather(part, at, 0)))  # F004


def picked_in_rows(x_ptr: tl.Ptr[D], z_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    rows, cols = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + (rows * B + cols), mask=rows < n)
    tl.store(z_ptr + (rows * B + cols), tl.gather(x, rows * 0 + cols, 1), mask=rows < n)
    tl.store(z_ptr + (rows * B + cols), tl.gather(x, rows * 0 + cols, 1))  # F004
