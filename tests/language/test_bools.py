"""Bool literals beside bools: in `where`, the operators and comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch


@tn.kernel
def literals(m_ptr: tl.Ptr[tl.bool_], y_ptr: tl.Ptr[tl.bool_], W: tl.Const[int], KEEP: tl.Const[bool]) -> None:
    at = tl.arange(0, W)
    m = tl.load(m_ptr + at)
    tl.store(y_ptr + at, m & True)
    tl.store(y_ptr + W + at, m | KEEP)
    tl.store(y_ptr + 2 * W + at, True ^ m)
    tl.store(y_ptr + 3 * W + at, m == (not KEEP))
    tl.store(y_ptr + 4 * W + at, KEEP != m)
    tl.store(y_ptr + 5 * W + at, tl.where(m, True, False))
    tl.store(y_ptr + 6 * W + at, tl.where(m, False, KEEP))
    tl.store(y_ptr + 7 * W + at, tl.where(m, m, True))
    tl.store(y_ptr + 8 * W + at, tl.where(m, False, m))


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("keep", [True, False])
def test_bool_literals(executor: str, keep: bool) -> None:
    m = np.array([True, False, False, True])
    y = np.zeros(36, np.bool_)
    launch(literals, executor, [m, y], (1,), {"W": 4, "KEEP": keep})
    wanted: list[Any] = [m, m | keep, ~m, m != keep, m != keep, m, ~m & keep, m | True, m & False]
    np.testing.assert_array_equal(y.reshape(9, 4), np.stack(wanted))


@pytest.mark.parametrize("text", ["x + True", "x & True", "x == True", "tl.where(x > 0, x, True)"])
def test_beside_numbers_they_are_refused(text: str) -> None:
    import linecache

    source = (
        f"def k(x_ptr: tl.Ptr[tl.i32]) -> None:\n    x = tl.load(x_ptr)\n    tl.store(x_ptr, ({text}).to(tl.i32))\n"
    )
    name = f"<bools {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"tl": tl}
    exec(compile(source, name, "exec", dont_inherit=True), scope)
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(scope["k"])
    assert [d.code for d in caught.value.diagnostics] in (["T010"], ["T006"])
