"""The language against plain Python: random kernels as source text, run natively and on the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from teeny.backends.cpu.kernel import compile_module
from teeny.backends.reference import run
from teeny.frontend.lower import lower_concrete
from teeny.passes.widen import widen
from tests.oracle import word
from tests.sources import Written, defined, written

pytest.importorskip("llvmlite")

MANY = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


def same(x: Any, y: Any) -> Any:
    bits = np.dtype(f"u{y.itemsize}")
    equal = x.view(bits) == y.view(bits)
    return equal if y.dtype.kind in "iub" else equal | (np.isnan(x) & np.isnan(y))


@MANY
@given(written())
def test_source_text_means_what_plain_python_says(folder: Path, kernel: Written) -> None:
    expected = kernel.expected()
    fn = defined(kernel.source, folder)
    module = lower_concrete(fn.definition, {}, kernel.consts)
    widen(module)
    grid = (kernel.programs, 1, 1)
    for executor in ("reference", "cpu"):
        arrays = {name: a.copy() for name, a in kernel.arrays.items()}
        arguments = [*arrays.values(), *kernel.scalars.values()]
        if executor == "reference":
            run(module, arguments, grid)
        else:
            compile_module(module).launch([word(a) for a in arguments], grid)
        found = arrays[kernel.output]
        wrong = ~same(found, expected)
        assert not wrong.any(), (executor, np.flatnonzero(wrong)[:5], found[wrong][:5], expected[wrong][:5])
