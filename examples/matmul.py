"""Matrix product, one tile of the result a program: `python matmul.py` checks it against NumPy and says how fast it is.

Any strides will do: a transposed view costs nothing. Products add up in f32 whatever the operands are.
"""

import time
from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def matmul(
    a_ptr: tl.Ptr[D],
    b_ptr: tl.Ptr[D],
    c_ptr: tl.Ptr[D],
    m: tl.Scalar[tl.i32],
    n: tl.Scalar[tl.i32],
    k: tl.Scalar[tl.i32],
    stride_am: tl.Scalar[tl.i32],
    stride_ak: tl.Scalar[tl.i32],
    stride_bk: tl.Scalar[tl.i32],
    stride_bn: tl.Scalar[tl.i32],
    stride_cm: tl.Scalar[tl.i32],
    stride_cn: tl.Scalar[tl.i32],
    BM: tl.Const[int],
    BN: tl.Const[int],
    BK: tl.Const[int],
    GROUP: tl.Const[int],
) -> None:
    """c = a @ b for an (m, k) and a (k, n) matrix; one program a tile of BM x BN.

    Programs go down the columns of the tiles in groups of GROUP rows, so that those that run together read the same
    parts of a and b.
    """
    tl.extent(a_ptr, (m, k), strides=(stride_am, stride_ak))
    tl.extent(b_ptr, (k, n), strides=(stride_bk, stride_bn))
    tl.extent(c_ptr, (m, n), strides=(stride_cm, stride_cn))
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    first = program // (GROUP * tiles_n) * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    within = program % (GROUP * tiles_n)
    rows = (first + within % height) * BM + tl.arange(0, BM)
    cols = within // height * BN + tl.arange(0, BN)
    row_mask = (rows < m)[:, None]
    col_mask = (cols < n)[None, :]

    acc = tl.zeros((BM, BN), tl.f32)
    for start in tl.range(0, k, BK):
        inner = start + tl.arange(0, BK)
        inside = inner < k
        a = tl.load(
            a_ptr + (rows[:, None] * stride_am + inner[None, :] * stride_ak),
            mask=row_mask & inside[None, :],
            other=0.0,
        )
        b = tl.load(
            b_ptr + (inner[:, None] * stride_bk + cols[None, :] * stride_bn),
            mask=inside[:, None] & col_mask,
            other=0.0,
        )
        acc = tl.dot(a, b, acc)
    at = rows[:, None] * stride_cm + cols[None, :] * stride_cn
    tl.store(c_ptr + at, acc.to(c_ptr.dtype), mask=row_mask & col_mask)


def main() -> None:
    """1024 x 1024 in f32."""
    import numpy as np

    size, BM, BN, BK = 1024, 128, 64, 64
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    c = np.empty_like(a)
    grid = (-(-size // BM) * -(-size // BN),)

    def launch() -> float:
        start = time.perf_counter()
        matmul[grid](a, b, c, size, size, size, size, 1, size, 1, size, 1, BM, BN, BK, 4)
        return time.perf_counter() - start

    launch()
    seconds = min(launch() for _ in range(5))
    error = float(np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max())
    print(f"{size} x {size} f32: {seconds * 1e3:.1f} ms, {2 * size**3 / seconds / 1e9:.0f} GFLOP/s, error {error:.1e}")


if __name__ == "__main__":
    main()
