"""The same softmax written in Triton, to compare with."""

import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    """Softmax of each row; one program a row."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    num = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, num / tl.sum(num, axis=0), mask=mask)
