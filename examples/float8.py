"""Rows as 8-bit floats with a scale each, and back. `python float8.py` quantises a matrix and says what that costs."""

from typing import TypeVar

import teeny as tn
import teeny.language as tl

F = TypeVar("F", bound=tl.Float)
Q = TypeVar("Q", bound=tl.Float8)


@tn.kernel
def quantise(
    x_ptr: tl.Ptr[F], y_ptr: tl.Ptr[Q], scale_ptr: tl.Ptr[tl.f32], n_cols: tl.Scalar[tl.i32],
    LARGEST: tl.Const[float], BLOCK_SIZE: tl.Const[int],
) -> None:  # fmt: skip
    """y = x / scale of each row, where the scale brings the largest size to LARGEST; one program a row."""
    tl.require(n_cols <= BLOCK_SIZE, "a row must fit in one block")
    tl.extent(x_ptr, tl.num_programs(0) * n_cols)
    tl.extent(y_ptr, tl.num_programs(0) * n_cols)
    tl.extent(scale_ptr, tl.num_programs(0))
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.f32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-30) / LARGEST
    tl.store(y_ptr + row * n_cols + cols, (x / scale).to(y_ptr.dtype), mask=mask)
    tl.store(scale_ptr + row, scale)


@tn.kernel
def dequantise(
    y_ptr: tl.Ptr[Q], scale_ptr: tl.Ptr[tl.f32], x_ptr: tl.Ptr[F], n_cols: tl.Scalar[tl.i32], BLOCK_SIZE: tl.Const[int]
) -> None:
    """x = y * scale of each row."""
    tl.require(n_cols <= BLOCK_SIZE, "a row must fit in one block")
    tl.extent(x_ptr, tl.num_programs(0) * n_cols)
    tl.extent(y_ptr, tl.num_programs(0) * n_cols)
    tl.extent(scale_ptr, tl.num_programs(0))
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    y = tl.load(y_ptr + row * n_cols + cols, mask=mask)
    x = y.to(tl.f32) * tl.load(scale_ptr + row)
    tl.store(x_ptr + row * n_cols + cols, x.to(x_ptr.dtype), mask=mask)


def main() -> None:
    """Quantise a matrix in both formats and print the largest error of a row over its largest number."""
    import ml_dtypes
    import numpy as np

    x = np.random.default_rng(0).standard_normal((64, 1000)).astype(np.float32)
    for name, dtype, largest in (
        ("f8e4m3", ml_dtypes.float8_e4m3fn, 448.0),
        ("f8e5m2", ml_dtypes.float8_e5m2, 57344.0),
    ):
        y, scale, back = np.zeros(x.shape, dtype), np.zeros(64, np.float32), np.zeros_like(x)
        quantise[(64,)](x, y, scale, 1000, LARGEST=largest, BLOCK_SIZE=1024)
        dequantise[(64,)](y, scale, back, 1000, BLOCK_SIZE=1024)
        error = np.abs(back - x).max(axis=1) / np.abs(x).max(axis=1)
        print(f"{name}: {x.nbytes / (y.nbytes + scale.nbytes):.2f} times smaller, off by {error.max():.3f} at most")


if __name__ == "__main__":
    main()
