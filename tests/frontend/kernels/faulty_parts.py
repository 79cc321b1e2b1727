"""Wrong uses of what orders, scans, joins and splits tiles; `# error[code]` stands at the line of each fault."""

from __future__ import annotations

from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Dtype)
F = TypeVar("F", bound=tl.Float)


@tn.kernel
def axes(x_ptr: tl.Ptr[F], B: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, B))
    one = tl.load(x_ptr)
    tl.cumsum(x, 1)  # error[S003]
    tl.cumsum(one)  # error[S005]
    tl.sort(x, 1)  # error[S003]
    tl.flip(x, 1)  # error[S003]
    tl.flip(one)  # error[S003]
    tl.argmax(x, 2)  # error[S003]
    tl.max(one, return_indices=True)  # error[S005]
    tl.expand_dims(x, (0, 0))  # error[S003]
    tl.unsqueeze(x, 3)  # error[S003]
    tl.squeeze(x[None, :], 2)  # error[S003]
    tl.permute(x[None, :], 0, 0)  # error[S003]
    tl.permute(x[None, :])  # error[S003]
    x.T  # error[S005]
    tl.cat(x, x, dim=1)  # error[S003]


@tn.kernel
def sizes(x_ptr: tl.Ptr[F], B: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, B))
    tile = tl.load(x_ptr + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :])
    tl.split(tile)  # error[S005]
    tl.split(tl.load(x_ptr))  # error[S005]
    tl.squeeze(tile, 0)  # error[S005]
    tl.topk(tile, 3)  # error[S002]
    tl.topk(tile, 8)  # error[S004]
    tl.cat(tile, tl.trans(tile))  # error[S005]
    tl.cat(tile, tile, can_reorder=True)  # error[S005]
    tl.cat(x, tile)  # error[S005]
    tl.join(tile, tl.zeros((2, 2), x_ptr.dtype))  # error[S001]
    tl.interleave(tile, tl.zeros((2,), x_ptr.dtype))  # error[S001]
    tl.item(tile)  # error[S005]
    tl.ravel(tile) + x  # error[S008]
    tl.histogram(tile.to(tl.i32), 8)  # error[S005]
    tl.histogram(tl.arange(0, 8), 6)  # error[S002]
    tl.histogram(tl.arange(0, 8), 8, tl.arange(0, 8)[:, None] < 3)  # error[S001]


@tn.kernel
def dtypes(x_ptr: tl.Ptr[tl.f16], c_ptr: tl.Ptr[tl.i8], b_ptr: tl.Ptr[tl.bool_], any_ptr: tl.Ptr[D]) -> None:
    at = tl.arange(0, 8)
    x, c, b = tl.load(x_ptr + at), tl.load(c_ptr + at), tl.load(b_ptr + at)
    tl.cumsum(c)  # error[T012]
    tl.prod(c)  # error[T012]
    tl.cumprod(b)  # error[T012]
    tl.sort(b)  # error[T001]
    tl.argmax(b, 0)  # error[T001]
    tl.xor_sum(x)  # error[T001]
    tl.reduce_or(x, 0)  # error[T001]
    tl.join(x, c)  # error[T002]
    tl.cat(x, c)  # error[T002]
    tl.histogram(c, 8)  # error[T002]
    tl.histogram(at, 8, at)  # error[T002]
    tl.softmax(c)  # error[T001]
    tl.topk(x, at)  # error[E008]
    tl.max(x, 0, True) + x  # error[T010]
    tl.sort(tl.load(any_ptr + at))  # error[T001]
