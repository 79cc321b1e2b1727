"""Which dtypes a kernel takes: by its bound, by its operations, by what the decorator asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl

D = TypeVar("D", bound=tl.Num)
E = TypeVar("E", bound=tl.Float)


def total(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)), axis=0))


def convert(x_ptr: tl.Ptr[E], y_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at).to(y_ptr.dtype))


def test_the_bound_less_what_an_operation_lacks() -> None:
    assert tn.kernel(total).supported_dtypes == {"D": ("i32", "i64", "u32", "u64", "f16", "bf16", "f32", "f64")}


def test_the_decorator_narrows() -> None:
    made = tn.kernel(dtypes=(tl.f32, tl.i64))(total)
    assert made.supported_dtypes == {"D": ("f32", "i64")}
    y = np.zeros(1, np.int64)
    made[1](np.arange(8), y, BLOCK=8)
    assert y[0] == 28
    with pytest.raises(tn.LaunchError) as caught:
        made[1](np.ones(8, np.float16), np.zeros(1, np.float16), BLOCK=8)
    assert caught.value.diagnostics[0].code == "L003"
    assert "f32, i64" in str(caught.value)


def test_several_variables_are_named() -> None:
    made = tn.kernel(dtypes={"D": (tl.i32,)})(convert)
    assert made.supported_dtypes == {"E": ("f16", "bf16", "f32", "f64"), "D": ("i32",)}


ROWS = [{"E": (tl.f16, tl.bf16), "D": tl.f32}, {"E": tl.f32, "D": tl.i32}]


def test_combinations() -> None:
    made = tn.kernel(dtypes=ROWS)(convert)
    assert made.supported_dtypes == {"E": ("f16", "bf16", "f32"), "D": ("f32", "i32")}
    rows = [("f16", "f32"), ("bf16", "f32"), ("f32", "i32")]
    assert made.supported_combinations == tuple({"E": e, "D": d} for e, d in rows)
    y = np.zeros(4, np.int32)
    made[1](np.arange(4, dtype=np.float32), y, BLOCK=4)
    assert list(y) == [0, 1, 2, 3]
    with pytest.raises(tn.LaunchError) as caught:
        made[1](np.arange(4, dtype=np.float32), np.zeros(4, np.float32), BLOCK=4)
    assert caught.value.diagnostics[0].code == "L003"
    assert "E = f32, D = f32" in str(caught.value)
    assert "E = f16, D = f32; E = bf16, D = f32; E = f32, D = i32" in str(caught.value)
    with pytest.raises(tn.LaunchError, match="does not take these dtypes together"):
        made.specialize(E=tl.f16, D=tl.i32, BLOCK=4)
    assert len(tn.kernel(convert).supported_combinations) == 4 * 12


WRONG: dict[str, tuple[str, Callable[[], Any]]] = {
    "outside the bound": ("T001", lambda: tn.kernel(dtypes=(tl.bool_,))(total)),
    "lacked by sum": ("T001", lambda: tn.kernel(dtypes=(tl.i8,))(total)),
    "no variable": ("E005", lambda: tn.kernel(dtypes={"F": (tl.f32,)})(total)),
    "a combination with too little": ("E005", lambda: tn.kernel(dtypes=[{"D": tl.f32}])(convert)),
    "a combination with too much": ("E005", lambda: tn.kernel(dtypes=[{"D": tl.f32, "F": tl.f32}])(convert)),
    "a combination outside the bound": ("T001", lambda: tn.kernel(dtypes=[{"D": tl.f32, "E": tl.i32}])(convert)),
    "which variable": ("E005", lambda: tn.kernel(dtypes=(tl.f32,))(convert)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused_at_the_decorator(name: str) -> None:
    code, make = WRONG[name]
    with pytest.raises(tn.KernelError) as caught:
        make()
    assert [d.code for d in caught.value.diagnostics] == [code]
