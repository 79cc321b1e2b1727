"""Products of other dtypes than those of the example, 512 cubed on one thread, beside torch.

f16 and f64 are beside `torch.mm`, i8 beside `torch._int_mm`; 8-bit floats and scaled products, of which torch has none
here, beside `torch.mm` of the same numbers in bf16. `python -m bench.products` measures in a process of its own and
prints JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import teeny as tn
import teeny.language as tl
from bench.table import Row, duration

SIZE = 512
BM: tl.Const[int] = 128
BN: tl.Const[int] = 128
BK: tl.Const[int] = 64
_SECONDS = 2.0  # for each dtype
F = TypeVar("F", bound=tl.Float)
P = TypeVar("P", bound=tl.Float8)


@tn.kernel
def halves(a_ptr: tl.Ptr[F], b_ptr: tl.Ptr[F], c_ptr: tl.Ptr[tl.f32], S: tl.Const[int]) -> None:
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.f32)
    for k in tl.range(0, S, BK):
        a = tl.load(a_ptr + (rm[:, None] * S + (k + rk)[None, :]))
        b = tl.load(b_ptr + ((k + rk)[:, None] * S + rn[None, :]))
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (rm[:, None] * S + rn[None, :]), acc)


@tn.kernel
def doubles(a_ptr: tl.Ptr[tl.f64], b_ptr: tl.Ptr[tl.f64], c_ptr: tl.Ptr[tl.f64], S: tl.Const[int]) -> None:
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.f64)
    for k in tl.range(0, S, BK):
        a = tl.load(a_ptr + (rm[:, None] * S + (k + rk)[None, :]))
        b = tl.load(b_ptr + ((k + rk)[:, None] * S + rn[None, :]))
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (rm[:, None] * S + rn[None, :]), acc)


@tn.kernel
def bytes_(a_ptr: tl.Ptr[tl.i8], b_ptr: tl.Ptr[tl.i8], c_ptr: tl.Ptr[tl.i32], S: tl.Const[int]) -> None:
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.i32)
    for k in tl.range(0, S, BK):
        a = tl.load(a_ptr + (rm[:, None] * S + (k + rk)[None, :]))
        b = tl.load(b_ptr + ((k + rk)[:, None] * S + rn[None, :]))
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (rm[:, None] * S + rn[None, :]), acc)


@tn.kernel
def small(a_ptr: tl.Ptr[P], b_ptr: tl.Ptr[P], c_ptr: tl.Ptr[tl.f32], S: tl.Const[int]) -> None:
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.f32)
    for k in tl.range(0, S, BK):
        a = tl.load(a_ptr + (rm[:, None] * S + (k + rk)[None, :]))
        b = tl.load(b_ptr + ((k + rk)[:, None] * S + rn[None, :]))
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + (rm[:, None] * S + rn[None, :]), acc)


@tn.kernel
def scaled(
    a_ptr: tl.Ptr[tl.u8],
    b_ptr: tl.Ptr[tl.u8],
    s_ptr: tl.Ptr[tl.u8],
    c_ptr: tl.Ptr[tl.f32],
    S: tl.Const[int],
    FORMAT: tl.Const[str],
    EACH: tl.Const[int],
) -> None:
    """`EACH` elements lie in a byte; both operands have the same scales."""
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    rk, rs = tl.arange(0, BK // EACH), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.f32)
    for k in tl.range(0, S, BK):
        at, block = k // EACH + rk, k // 32 + rs
        a = tl.load(a_ptr + (rm[:, None] * (S // EACH) + at[None, :]))
        b = tl.load(b_ptr + (at[:, None] * S + rn[None, :]))
        s = tl.load(s_ptr + (rm[:, None] * (S // 32) + block[None, :]))
        t = tl.load(s_ptr + (rn[:, None] * (S // 32) + block[None, :]))
        acc = tl.dot_scaled(a, s, FORMAT, b, t, FORMAT, acc)
    tl.store(c_ptr + (rm[:, None] * S + rn[None, :]), acc)


def rows() -> list[Row]:
    """One row for each dtype."""
    if find_spec("torch") is None:
        return []
    done = subprocess.run(
        [sys.executable, "-m", "bench.products"],
        stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "TEENY_NUM_THREADS": "1"},
    )  # fmt: skip
    return [_row(dtype, times) for dtype, times in json.loads(done.stdout).items()]


def _row(dtype: str, times: dict[str, float]) -> Row:
    mine, other = times["teeny"], times["torch"]
    rate = 2 * SIZE**3 / mine / 1e9
    cells = (duration(mine), f"{rate:.0f} GFLOP/s", f"torch {duration(other)}, {other / mine:.2f}x")
    return Row(f"product {SIZE} cubed, {dtype}, 1 thread", cells)


def measure(names: list[str]) -> dict[str, dict[str, float]]:
    """Median seconds of teeny and torch by dtype. Stops the program where a product is wrong."""
    import numpy as np

    from teeny.cli.measure import medians

    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    grid = (SIZE // BM, SIZE // BN)
    normal = [torch.randn(SIZE, SIZE, dtype=torch.float64) for _ in range(2)]
    whole = [torch.randint(-128, 128, (SIZE, SIZE), dtype=torch.int8) for _ in range(2)]
    packs = {"mxfp8": ("e4m3", 1), "mxfp4": ("e2m1", 2)}
    found: dict[str, dict[str, float]] = {}
    for name in names or ["bf16", "f16", "f64", "i8", "f8e4m3", "f8e5m2", *packs]:
        kind = {"f16": torch.float16, "f64": torch.float64, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
        a, b = whole if name == "i8" else [v.to(kind.get(name, torch.bfloat16)) for v in normal]
        out = torch.zeros(SIZE, SIZE, dtype={"i8": torch.int32, "f64": torch.float64}.get(name, torch.float32))
        kernel, extra = {"i8": bytes_, "f64": doubles, "f16": halves, "bf16": halves}.get(name, small), (SIZE,)
        x, y, given = a, b, (a, b)
        if name in packs:
            form, each = packs[name]
            raw = [
                np.random.default_rng(at).integers(0, 120, (SIZE * SIZE // each,)).astype(np.uint8) for at in range(2)
            ]
            scales = np.full((SIZE, SIZE // 32), 127, np.uint8)
            given = (raw[0].reshape(SIZE, -1), raw[1].reshape(-1, SIZE), scales)
            kernel, extra = scaled, (SIZE, form, each)
        elif name.startswith("f8"):
            x, y = a.to(torch.bfloat16), b.to(torch.bfloat16)
        there = torch.zeros(SIZE, SIZE, dtype=torch.int32 if name == "i8" else x.dtype)

        def mine(kernel: Any = kernel, given: Any = given, out: Any = out, extra: Any = extra) -> None:
            kernel[grid](*given, out, *extra)

        def by_torch(name: str = name, x: Any = x, y: Any = y, out: Any = there) -> None:
            if name == "i8":
                torch._int_mm(x, y, out=out)
            else:
                torch.mm(x, y, out=out)

        found[name] = medians({"teeny": mine, "torch": by_torch}, _SECONDS)
        if name in packs:
            continue
        right = x.double() @ y.double()
        error = float((out.double() - right).abs().max() / right.abs().max())
        if not error <= 1e-5:
            sys.exit(f"the product in {name} is wrong: relative error {error:.1e}")
    return found


if __name__ == "__main__":
    from bench.environment import clean

    clean()
    print(json.dumps(measure(sys.argv[1:])))
