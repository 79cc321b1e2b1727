"""Arguments bound to constants: the copy means the same for those values, and the original is left alone."""

from __future__ import annotations

import numpy as np

import teeny as tn
import teeny.language as tl
from teeny.backends.reference.run import run
from teeny.ir.core import Module
from teeny.ir.text import print_module
from teeny.ir.verify import verify
from teeny.passes.bind import bind


@tn.kernel
def rows(x_ptr: tl.Ptr[tl.i32], y_ptr: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], step: tl.Scalar[tl.i32]) -> None:
    at = tl.arange(0, 8)
    total = tl.zeros((8,), tl.i32)
    for i in tl.range(0, n):
        if i > 1:
            total += tl.load(x_ptr + (i * 8 + at) * step)
        else:
            total -= tl.load(x_ptr + (i * 8 + at) * step)
    tl.store(y_ptr + at, total)


def test_a_bound_stride_means_the_same() -> None:
    made = rows.specialize()
    before = print_module(made.module)
    bound = Module([bind(made.module.kernel, {3: 1})])
    verify(bound, concrete=True)
    assert print_module(made.module) == before
    assert "arith.constant 1 : i32" in print_module(bound).split("tt.make_range")[0]
    x = np.arange(40, dtype=np.int32) ** 2
    results = []
    for module in (made.module, bound):
        y = np.zeros(8, np.int32)
        run(module, [x, y, 5, 1], (1, 1, 1))
        results.append(y.copy())
    table = x.reshape(5, 8)
    assert np.array_equal(results[0], table[2:].sum(0) - table[:2].sum(0))
    assert np.array_equal(results[0], results[1])
