"""Softmax of the rows of a matrix: one program a row, each row in one block. `python softmax.py` tells its story."""

import sys
from typing import TypeVar

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def softmax(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n_cols: tl.Scalar[tl.i32], BLOCK_SIZE: tl.Const[int]) -> None:
    """Softmax of each row; one program a row."""
    tl.require(n_cols <= BLOCK_SIZE, "a row must fit in one block")
    tl.extent(x_ptr, tl.num_programs(0) * n_cols)
    tl.extent(y_ptr, tl.num_programs(0) * n_cols)
    row = tl.program_id(0).to(tl.i64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, num / tl.sum(num, axis=0), mask=mask)


if __name__ == "__main__":
    from teeny.cli.main import main

    sys.exit(main(["demo", *sys.argv[1:]]))
