"""`gather`: wrong uses, places that the tile does not have, undefined lanes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import teeny as tn
from teeny.backends.cpu.kernel import compile_module
from teeny.backends.cpu.lower.state import Options
from teeny.backends.cpu.target import supported_levels
from teeny.backends.reference import run
from tests.language.executors import kernel_of, module_of


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("tl.gather(t, t, 2)", "S003", "axis"),
        ("tl.gather(t, i, 0)", "S005", "as many axes"),
        ("tl.gather(i, tl.load(p), 0)", "S005", "as many axes"),
        ("tl.gather(t, tl.reshape(i, (2, 4)), 1)", "S004", "differ along axis 0"),
        ("tl.gather(i, i * 0.5, 0)", "T006", ""),
        ("tl.gather(i, i > 3, 0)", "T001", "needs Int"),
        ("tl.gather(i, i, tl.load(p))", "E008", "axis"),
    ],
)
def test_wrong_uses_are_told(line: str, code: str, said: str, tmp_path: Path) -> None:
    text = f"""@tn.kernel
def kernel(p: tl.Ptr[tl.i32]) -> None:
    i = tl.load(p + tl.arange(0, 8))
    t = tl.load(p + (tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]))
    {line}
"""
    with pytest.raises(tn.KernelError) as caught:
        module_of(text, tmp_path)
    assert [one.code for one in caught.value.diagnostics] == [code]
    assert said in str(caught.value)


def test_places_that_are_not_there_touch_nothing(tmp_path: Path) -> None:
    """They are undefined on the reference; the CPU gives some element of the tile, and does not fault."""
    text = """@tn.kernel
def kernel(p: tl.Ptr[tl.i32], q: tl.Ptr[tl.i64]) -> None:
    at = tl.arange(0, 16)
    tl.store(p + at, tl.gather(tl.load(p + at), tl.load(q + at), 0))
"""
    module = kernel_of(text, tmp_path).specialize().module
    q = np.array([0, -1, 16, 15, 2**62, -(2**63), 7, 2**31, *range(8)], np.int64)
    inside = (q >= 0) & (q < 16)
    wanted = np.arange(16, dtype=np.int32)
    run(module, [wanted, q], (1, 1, 1))
    assert (wanted[inside] == q[inside]).all()
    for level in supported_levels():
        for options in (Options(), Options(exact=True)):
            found = np.arange(16, dtype=np.int32)
            code = compile_module(module, level, options=options)
            code.launch([found.ctypes.data, q.ctypes.data], (1, 1, 1))
            assert (found[inside] == q[inside]).all()
            assert ((found >= 0) & (found < 16)).all()
