"""What dtypes say of themselves, at definition (type variables) and at specialisation; and what follows from it."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language.executors import EXECUTORS, launch

D = TypeVar("D", bound=tl.Dtype)
N = TypeVar("N", bound=tl.Num)
both = pytest.mark.parametrize("executor", EXECUTORS)
LEAVES: dict[str, Any] = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
    "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
QUESTIONS = [
    "is_floating", "is_standard_floating", "is_int", "is_int_signed", "is_int_unsigned", "is_bool", "is_int1",
    "is_int8", "is_int16", "is_int32", "is_int64", "is_uint8", "is_uint16", "is_uint32", "is_uint64", "is_fp16",
    "is_bf16", "is_fp32", "is_fp64", "is_fp8",
]  # fmt: skip


@tn.kernel
def questions(x_ptr: tl.Ptr[D], out_ptr: tl.Ptr[tl.bool_]) -> None:
    x = tl.load(x_ptr)
    tl.store(out_ptr, x.dtype.is_floating())
    tl.store(out_ptr + 1, x_ptr.dtype.element_ty.is_standard_floating())
    tl.store(out_ptr + 2, x.type.scalar.is_int())
    tl.store(out_ptr + 3, x_ptr.type.element_ty.is_int_signed())
    tl.store(out_ptr + 4, x.dtype.is_int_unsigned())
    tl.store(out_ptr + 5, x.dtype.is_bool())
    tl.store(out_ptr + 6, x.dtype.is_fp16() or x.dtype.is_int8())
    tl.store(out_ptr + 7, x.dtype.is_fp8())
    tl.store(out_ptr + 8, x_ptr.dtype.is_ptr() and not x.dtype.is_ptr() and (x_ptr + tl.arange(0, 2)).type.is_block())


@both
@pytest.mark.parametrize("dtype", LEAVES)
def test_questions(executor: str, dtype: str) -> None:
    out = np.zeros(9, np.bool_)
    launch(questions, executor, [np.zeros(1, LEAVES[dtype]), out], dtypes={"D": dtype})
    is_float, signed, whole = kind(dtype) == "float", kind(dtype) == "signed", kind(dtype) != "float"
    wanted = [is_float, is_float, whole, signed, whole and not signed, dtype == "bool", dtype in ("f16", "i8"), False]
    assert list(out) == [*wanted, True]


@tn.kernel
def widths(x_ptr: tl.Ptr[N], out_ptr: tl.Ptr[tl.i32], BLOCK: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, x.dtype.primitive_bitwidth)
    tl.store(out_ptr + 1, x_ptr.dtype.itemsize * x.numel + x.shape[0])
    if x.dtype.primitive_bitwidth == 64:
        tl.store(out_ptr + 2, 1)
    for i in tl.static_range(128 // x.dtype.primitive_bitwidth):
        tl.store(out_ptr + 3, i)


@both
@pytest.mark.parametrize("dtype", ["i8", "f16", "u32", "f64"])
def test_widths(executor: str, dtype: str) -> None:
    x, out = np.zeros(4, LEAVES[dtype]), np.zeros(4, np.int32)
    launch(widths, executor, [x, out], constants={"BLOCK": 4}, dtypes={"N": dtype})
    size = x.itemsize
    assert list(out) == [8 * size, size * 4 + 4, size == 8, 16 // size - 1]


@tn.kernel
def roots(x_ptr: tl.Ptr[N]) -> None:
    """What a condition leaves of a type variable decides which operations there are."""
    x = tl.load(x_ptr)
    if x.dtype.is_floating():
        y = tl.sqrt(x)
    elif x.dtype.is_int_unsigned():
        y = x >> 1
    else:
        y = -x
    tl.store(x_ptr, y + x)
    if not x.dtype.is_int():
        tl.store(x_ptr, tl.floor(tl.load(x_ptr)))


@both
@pytest.mark.parametrize(("dtype", "wanted"), [("f32", 20), ("f64", 20), ("u8", 24), ("i16", 0), ("i64", 0)])
def test_a_condition_narrows_a_type_variable(executor: str, dtype: str, wanted: int) -> None:
    x = np.full(1, 16, LEAVES[dtype])
    launch(roots, executor, [x], dtypes={"N": dtype})
    assert x[0] == wanted


def widest(x_ptr: tl.Ptr[N]) -> None:
    x = tl.load(x_ptr)
    if x.dtype.is_int():
        tl.store(x_ptr, tl.sqrt(x))  # type checkers do not narrow


def unknown(x_ptr: tl.Ptr[N]) -> None:
    dtype: Any = x_ptr.dtype
    if dtype.is_wide():
        tl.store(x_ptr, 1)


def called(x_ptr: tl.Ptr[N]) -> None:
    dtype: Any = x_ptr.dtype
    if dtype.is_fp16(1):
        tl.store(x_ptr, 1)


@pytest.mark.parametrize(
    ("fn", "code", "text"),
    [
        (widest, "T001", "`tl.sqrt` needs Float; `x` is N"),
        (unknown, "E001", "the dtype N has no attribute `is_wide`"),
        (called, "E005", "`dtype.is_fp16` takes no arguments"),
    ],
)
def test_faults(fn: Any, code: str, text: str) -> None:
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(fn)
    assert [one.code for one in caught.value.diagnostics] == [code]
    assert text in caught.value.diagnostics[0].message


def kind(dtype: str) -> str:
    return {"b": "bool", "i": "signed", "u": "unsigned", "f": "float"}[dtype[0]]


@pytest.mark.parametrize("dtype", LEAVES)
def test_outside_of_kernels(dtype: str) -> None:
    leaf: Any = getattr(tl, "bool_" if dtype == "bool" else dtype)
    assert leaf.is_floating() == leaf.is_standard_floating() == (kind(dtype) == "float")
    assert leaf.is_int() == (kind(dtype) != "float")
    assert leaf.is_int_signed() == (kind(dtype) == "signed")
    assert leaf.itemsize == np.dtype(LEAVES[dtype]).itemsize
    assert leaf.primitive_bitwidth == (1 if dtype == "bool" else 8 * leaf.itemsize)
    assert leaf.element_ty is leaf.scalar is leaf
    assert sum(getattr(leaf, q)() for q in QUESTIONS if any(c.isdigit() for c in q)) == 1
