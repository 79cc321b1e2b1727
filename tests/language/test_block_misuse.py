"""What is said about block pointers that are made or used wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

import teeny as tn
from tests.language.executors import module_of

CASES = [
    (
        "tl.make_block_ptr(x, (n, n), (n,), (0, 0), (8, 8), (1, 0))",
        "S005",
        "`strides` of `tl.make_block_ptr` has 1 element",
    ),
    (
        "tl.make_block_ptr(x, (n,), (1,), (0,), (n,), (0,))",
        "E008",
        "`block_shape` of `tl.make_block_ptr` must be known",
    ),
    ("tl.make_block_ptr(x, (n,), (1,), (0,), (12,), (0,))", "S002", "must be a power of two, found 12"),
    ("tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (8, 8), (1, 1))", "S003", "must name each axis once"),
    ("tl.make_block_ptr(x, (), (), (), (), ())", "S005", "has one axis or more"),
    ("tl.make_block_ptr(x + tl.arange(0, 8), (n,), (1,), (0,), (8,), (0,))", "S005", "starts from one pointer"),
    ("tl.make_block_ptr(x, (n,), (1,), (tl.arange(0, 8),), (8,), (0,))", "T010", "each a scalar of i32"),
    (
        "tl.make_block_ptr(x, (1.5,), (1,), (0,), (8,), (0,))",
        "T010",
        "each a scalar of i32 or a scalar of i64 or an int",
    ),
    ("tl.make_block_ptr(x, (n,), (1,), (0,), (2097152,), (0,))", "S007", "at most"),
    ("tl.load(p, boundary_check=(2,))", "S003", "`boundary_check` names axis 2: the axes of the block are 0 to 1"),
    ("tl.load(p, boundary_check=(-1,))", "S003", "names axis -1"),
    ("tl.store(p, 0.0, boundary_check=(0, 5))", "S003", "names axis 5"),
    ("tl.load(p, padding_option='zeros')", "T010", '"zero", "nan" or "", found \'zeros\''),
    ("tl.load(q, boundary_check=(0,), padding_option='nan')", "T001", "needs a float, and the elements are i32"),
    ("tl.load(p, mask=n > 3)", "T010", "takes no `mask` with a block pointer"),
    ("tl.load(x, boundary_check=(0,))", "E005", "takes `boundary_check` only together with other arguments"),
    ("tl.load(p + 1)", "T005", "needs a pointer"),
    ("p[:, None]", "T005", "cannot be indexed"),
    ("p.shape", "E001", "has no attribute `shape`"),
    ("tl.advance(p, (8,))", "S005", "needs 2 offsets, one an axis, found 1"),
    ("tl.store(p, tl.zeros((16, 8), tl.f32))", "S006", "do not broadcast"),
    ("tl.store(p, tl.zeros((8, 8), tl.f16))", "T003", "is f16 and `p` points at f32"),
    ("tl.store(p, tl.zeros((2, 8, 8), tl.f32))", "S006", "has rank 3 and the block has rank 2"),
]


@pytest.mark.parametrize(("line", "code", "said"), CASES)
def test_is_refused(line: str, code: str, said: str, tmp_path: Path) -> None:
    text = (
        "@tn.kernel\ndef kernel(x: tl.Ptr[tl.f32], i: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:\n"
        "    p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (8, 8), (1, 0))\n"
        "    q = tl.make_block_ptr(i, (n,), (1,), (0,), (8,), (0,))\n"
        f"    {line}\n"
    )
    with pytest.raises(tn.KernelError) as caught:
        module_of(text, tmp_path)
    (found,) = caught.value.diagnostics
    assert (found.code, said in found.message) == (code, True), found.message


def test_help_says_how_to_move_it(tmp_path: Path) -> None:
    text = (
        "@tn.kernel\ndef kernel(x: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:\n"
        "    p = tl.make_block_ptr(x, (n,), (1,), (0,), (8,), (0,))\n    p = p + 8\n"
    )
    with pytest.raises(tn.KernelError) as caught:
        module_of(text, tmp_path)
    assert caught.value.diagnostics[0].help == ("move it with tl.advance(p, offsets), read it with tl.load(p)",)
