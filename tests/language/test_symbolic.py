"""Every function that knows shapes, with sizes that are Consts and dtypes that are variables: checked at the definition
for all of them, then run at several sizes and dtypes, where native code and the reference agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.language.executors import fresh, kernel_of, launch
from tests.language.rounding import DTYPES
from tests.language.same import different

HEAD = """
D = TypeVar("D", bound=tl.{bound})


def larger(a: tl.Tensor[D], b: tl.Tensor[D]) -> tl.Tensor[D]:
    return tl.where(a > b, a, b)


def both(
    a: tl.Tensor[D], m: tl.Tensor[tl.i32], b: tl.Tensor[D], n: tl.Tensor[tl.i32]
) -> tuple[tl.Tensor[D], tl.Tensor[tl.i32]]:
    return larger(a, b), m + n


def turned(a: tl.Tensor[D], b: tl.Tensor[D]) -> tl.Tensor[D]:
    if a > b:
        return b
    return a


@tn.kernel
def kernel(x: tl.Ptr[D], out: tl.Ptr[D], places: tl.Ptr[tl.i32], M: tl.Const[int], N: tl.Const[int]) -> None:
    r, c = tl.arange(0, M), tl.arange(0, N)
    at = r[:, None] * N + c[None, :]
    t = tl.load(x + at)
    row = tl.load(x + c)
    flat = tl.arange(0, M * N)
"""
BODIES: dict[str, str] = {
    "reshape": "tl.store(out + flat, tl.reshape(t, (M * N,)))",
    "reshape_half": "u = tl.reshape(t, (M * N // 2, 2))\n"
    "tl.store(out + tl.arange(0, M * N // 2), tl.sum(u, 1, dtype=x.dtype))",
    "ravel": "tl.store(out + flat, tl.ravel(t))",
    "view": "tl.store(out + tl.arange(0, N), tl.max(tl.view(t, (M, N)), 0))",
    "trans": "tl.store(out + tl.trans(at), t.T)",
    "permute": "tl.store(out + flat, tl.reshape(tl.permute(t, (1, 0)), (M * N,)))",
    "broadcast": "tl.store(out + at, tl.broadcast_to(row, (M, N)))",
    "outer": "tl.store(out + at, tl.maximum(row[None, :], tl.load(x + r)[:, None]))",
    "zeros": "tl.store(out + at, t + tl.zeros((M, N), x.dtype) + tl.zeros_like(t) + tl.full((N,), 1, x.dtype))",
    "sum": "tl.store(out + r, tl.sum(t, axis=1, dtype=x.dtype))",
    "max": "tl.store(out + c, tl.max(t, 0))\ntl.store(out + N + r, tl.min(t, 1))",
    "all": "tl.store(out, tl.max(t))",
    "keep": "tl.store(out + at, t - tl.max(t, 1, keep_dims=True))",
    "argmax": "tl.store(places + r, tl.argmax(t, 1))\ntl.store(places + M + c, tl.argmin(t, 0))",
    "indices": "top, place = tl.max(t, 1, return_indices=True)\ntl.store(out + r, top)\ntl.store(places + r, place)",
    "cumsum": "tl.store(out + at, tl.cumsum(t, 1, dtype=x.dtype))",
    "cumsum_reverse": "tl.store(out + at, tl.cumsum(t, 0, reverse=True, dtype=x.dtype))",
    "cumprod": "tl.store(out + at, tl.cumprod(t, 1, dtype=x.dtype))",
    "reduce": "tl.store(out + r, tl.reduce(t, 1, larger))",
    "reduce_pairs": "a, n = tl.reduce((t, tl.zeros((M, N), tl.i32) + 1), 0, both)\n"
    "tl.store(out + c, a)\ntl.store(places + c, n)",
    "scan": "tl.store(out + at, tl.associative_scan(t, 0, larger, reverse=True))",
    "scan_pairs": "a, n = tl.associative_scan((t, tl.zeros((M, N), tl.i32) + 1), 1, both)\n"
    "tl.store(out + at, a)\ntl.store(places + at, n)",
    "map": "tl.store(out + at, tl.map_elementwise(turned, t, row[None, :]))",
    "sort": "tl.store(out + at, tl.sort(t))",
    "sort_down": "tl.store(out + at, tl.sort(t, descending=True))",
    "topk": "tl.store(out + r[:, None] * 2 + tl.arange(0, 2)[None, :], tl.topk(t, 2))",
    "flip": "tl.store(out + at, tl.flip(t, 1))",
    "flip_rows": "tl.store(out + at, tl.flip(t, 0))",
    "gather": "tl.store(out + at, tl.gather(t, (r[:, None] * 3 + c[None, :]) % M, 0))",
    "join": "tl.store(out + tl.arange(0, M * N * 2), tl.reshape(tl.join(t, t), (M * N * 2,)))",
    "split": "a, b = tl.split(tl.reshape(t, (M, N // 2, 2)))\n"
    "tl.store(out + tl.arange(0, M * (N // 2)), tl.ravel(a - b))",
    "interleave": "tl.store(out + tl.arange(0, 2 * N), tl.interleave(row, -row))",
    "cat": "tl.store(out + tl.arange(0, 2 * N), tl.cat(row, row))",
    "expand_dims": "tl.store(out + at, tl.expand_dims(row, 0) + tl.expand_dims(tl.load(x + r), -1))",
    "squeeze": "tl.store(out + c, tl.squeeze(tl.unsqueeze(row, 0), 0))",
    "histogram": "tl.store(places + c, tl.histogram((flat * 7) % N, N))",
    "atomic_add": "tl.atomic_add(out + at % 4, t, mask=at < 5)",
    "swizzle": "i, j = tl.swizzle2d(r, r % N, M, N, 2)\ntl.store(places + r, i * N + j + 1)",
    "block_pointer": "p = tl.make_block_ptr(x, (M, N), (N, 1), (0, 0), (M, N), (1, 0))\n"
    'tl.store(out + at, tl.load(p, boundary_check=(0, 1), padding_option="zero"))',
    "loop": "for k in range(0, N, 2):\n    t = tl.maximum(t, tl.load(x + at + k % 2))\ntl.store(out + at, t)",
    "static_loop": "for k in tl.static_range(3):\n    t += k\ntl.store(out + at, t)",
    "ternary": "tl.store(out + at, t if N > 4 else t + t)",
    "sizes": "tl.store(places, t.shape[0] * t.shape[1] + N // 2 - min(M, N))",
}
FLOATS: dict[str, str] = {
    "softmax": "tl.store(out + at, tl.softmax(t, 1))",
    "dot": "tl.store(out + r[:, None] * M + r[None, :], tl.dot(t, tl.trans(t)).to(x.dtype))",
    "dot_acc": "acc = tl.zeros((M, M), tl.f32)\nfor k in range(3):\n    acc = tl.dot(t, t.T, acc)\n"
    "tl.store(out + r[:, None] * M + r[None, :], acc.to(x.dtype))",
    "rand": "tl.store(out + at, tl.rand(7, at).to(x.dtype))",
    "exp": "tl.store(out + at, tl.exp(t - tl.max(t, 1)[:, None]) / tl.sum(t * 0 + 1, 1)[:, None])",
    "clamp": "tl.store(out + at, tl.clamp(t, row[None, :], 2.0))",
}
SIZES = [(4, 8), (16, 2), (1, 64)]
DTYPES_OF = {"Num": ("i32", "u8", "f32", "bf16"), "Float": ("f16", "f32")}


def text(bound: str, body: str) -> str:
    return HEAD.replace("{bound}", bound) + "".join(f"    {line}\n" for line in body.splitlines())


def check(bound: str, body: str, sizes: list[tuple[int, int]], folder: Path, skip: tuple[str, ...] = ()) -> None:
    kernel = kernel_of(text(bound, body), folder)
    random = np.random.default_rng(1)
    for dtype in DTYPES_OF[bound]:
        if dtype in skip:
            continue
        for m, n in sizes:
            count = 2 * m * n + 64
            x = random.integers(0 if dtype[0] == "u" else -4, 5, count).astype(DTYPES[dtype])
            given: list[Any] = [x, np.zeros(count, x.dtype), np.zeros(count, np.int32)]
            found: list[list[Any]] = []
            for executor in ("reference", "cpu"):
                arguments = fresh(given)
                launch(kernel, executor, arguments, constants={"M": m, "N": n}, dtypes={"D": dtype})
                found.append(arguments)
            for one, other in zip(*found, strict=True):
                assert not different(one, other, free_zero=True).any(), (dtype, m, n)
            assert any(different(a, b).any() for a, b in zip(found[0], given, strict=True)), "nothing was stored"


@pytest.mark.parametrize("name", BODIES)
def test_numbers(name: str, tmp_path: Path) -> None:
    skip = ("u8", "bf16") if name == "atomic_add" else ()
    check("Num", BODIES[name], SIZES, tmp_path, skip)


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str, tmp_path: Path) -> None:
    check("Float", FLOATS[name], [(16, 16), (4, 32)], tmp_path)
