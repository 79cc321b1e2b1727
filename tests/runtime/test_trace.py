"""`kernel.trace`: one program on the reference, named values by line, undefined lanes marked."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Float)


@tn.kernel
def shift(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x_ptr + at, mask=mask)
    w = v + 1.0
    tl.store(y_ptr + at, w, mask=mask)


def test_values_at_their_lines_with_undefined_lanes() -> None:
    x = np.arange(6, dtype=np.float32)
    y = np.zeros(6, np.float32)
    found = shift.trace((2,), x, y, 6, BLOCK=4, program=1)
    text = str(found)
    assert "shift, program (1, 0, 0)" in text
    assert "v = tl.load(x_ptr + at, mask=mask)" in text
    assert "v: f32 (4,) = [4 5 ? ?]" in text
    assert "w: f32 (4,) = [5 6 ? ?]" in text
    assert found["v"].line + 1 == found["w"].line
    assert found["w"].undefined.tolist() == [False, False, True, True]
    assert not y.any(), "a trace leaves the arrays alone"


def test_arrays_that_share_memory_share_their_copy() -> None:
    x = np.arange(8, dtype=np.float32)
    found = shift.trace((1,), x, x, 4, BLOCK=4, program=0)
    assert found["w"].value.tolist() == [1, 2, 3, 4]
    assert x.tolist() == list(range(8))


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch", reason="no torch")
    x = torch.arange(4, dtype=torch.bfloat16)
    assert shift.trace(1, x, torch.zeros_like(x), 4, BLOCK=4)["v"].value.astype(np.float32).tolist() == [0, 1, 2, 3]


def test_an_access_outside_stops_the_program_and_is_told() -> None:
    x = np.ones(3, np.float32)
    found = shift.trace(1, x, x, 4, BLOCK=4)
    assert "lane (3,)" in found.fault
    assert "stopped" in str(found)


@pytest.mark.parametrize("program", [2, (0, 1), -1, "x", (0, 0, 0, 0)])
def test_a_program_outside_the_grid_is_refused(program: object) -> None:
    x = np.ones(8, np.float32)
    with pytest.raises(tn.LaunchError) as caught:
        shift.trace((2,), x, x, 8, BLOCK=4, program=program)
    assert caught.value.diagnostics[0].code == "L008"
