"""Hints, assumptions, barriers, inline assembly: no value changes; what Triton's text says; what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny as tn
from teeny.backends.reference import ExecutionError
from teeny.ir.text import parse_module, print_module
from tests.language.executors import EXECUTORS, kernel_of, launch

HINTED = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    tl.assume(n > 0)
    tl.assume(B % 2 == 0)
    tl.multiple_of(n, 4)
    at = tl.max_contiguous(tl.multiple_of(tl.arange(0, B), B), B)
    square = tl.multiple_of(at[:, None] * n + at[None, :], [1, 4])
    for i in tl.range(0, n, 4):
        i = tl.multiple_of(i, 4)
        v = tl.max_constancy(tl.load(x + at + i), 2)
        tl.debug_barrier()
        tl.store(tl.multiple_of(x + at + i, 4), v * 2.0)
    tl.store(x + square, 1.0, mask=square < 0)
"""


def test_nothing_changes(tmp_path: Path) -> None:
    kernel = kernel_of(HINTED, tmp_path)
    for executor in EXECUTORS:
        x = np.arange(16, dtype=np.float32)
        launch(kernel, executor, [x, 16], (1,), {"B": 4})
        assert np.array_equal(x, 2 * np.arange(16, dtype=np.float32))


def test_attributes_in_the_text(tmp_path: Path) -> None:
    kernel = kernel_of(HINTED, tmp_path)
    text = kernel.specialize(B=4).mlir
    one = "dense<4> : tensor<1xi32>"
    assert "%n: i32 {tt.divisibility = 4 : i32}" in text
    assert f"tt.make_range {{end = 4 : i32, start = 0 : i32, tt.contiguity = {one}, tt.divisibility = {one}}}" in text
    assert "tt.divisibility = dense<[1, 4]> : tensor<2xi32>" in text
    assert "tt.constancy = dense<2> : tensor<1xi32>" in text
    assert "llvm.intr.assume %" in text
    assert "gpu.barrier\n" in text
    assert "teeny.hint" not in text
    assert print_module(parse_module(text)) == text
    plain = print_module(kernel.specialize(B=4).module)
    assert 'teeny.hint %n {kind = "divisibility", values = array<i32: 4>} : i32' in plain
    assert print_module(parse_module(plain)) == plain


def test_what_is_false_is_reported(tmp_path: Path) -> None:
    kernel = kernel_of(HINTED, tmp_path)
    for n, said in ((-4, "the assumption is false"), (6, "6 is no multiple of 4")):
        with pytest.raises(ExecutionError, match=said) as caught:
            launch(kernel, "reference", [np.zeros(16, np.float32), n], (1,), {"B": 4})
        assert caught.value.op.loc is not None
    with pytest.raises(tn.KernelError, match="E013"):
        kernel.specialize(B=1)


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("tl.multiple_of(n, 3)", {"S002"}),
        ("tl.multiple_of(n, [4, 4])", {"S005"}),
        ("tl.max_contiguous(at[:, None], 4)", {"S005"}),
        ("tl.multiple_of(tl.load(x), 4)", {"T001"}),
        ("tl.multiple_of(n, n)", {"E008"}),
        ("tl.debug_barrier(1)", {"E005"}),
        ('tl.inline_asm_elementwise("", "=r", [at], tl.i32, True)', {"E005"}),
        ('tl.inline_asm_elementwise("", "=r", at, tl.i32, True, 1)', {"T010"}),
        ('tl.inline_asm_elementwise("", "=r", [at], 3, True, 1)', {"T010"}),
        ('tl.inline_asm_elementwise(n, "=r", [at], tl.i32, True, 1)', {"T010"}),
        ('tl.inline_asm_elementwise("", "=r", [at, tl.arange(0, 8)], tl.i32, True, 1)', {"S001"}),
    ],
)
def test_wrong_use(line: str, codes: set[str], tmp_path: Path) -> None:
    text = "@tn.kernel\ndef kernel(x: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:\n    at = tl.arange(0, 4)\n"
    with pytest.raises(tn.KernelError) as caught:
        kernel_of(f"{text}    {line}\n", tmp_path)
    assert {one.code for one in caught.value.diagnostics} == codes


ASSEMBLY = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32]) -> None:
    at = tl.arange(0, 128)
    v = tl.load(x + at)
    a = tl.inline_asm_elementwise("add.u32 $0, $1, $2;", "=r,r,r", [v, n], dtype=tl.i32, is_pure=True, pack=1)
    b, c = tl.inline_asm_elementwise(
        "{ mov.b32 $0, $2; mov.b32 $1, $3; }", "=r,=f,r,r", [v, n], dtype=(tl.i32, tl.f32), is_pure=False, pack=1)
    clock = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.i64, is_pure=False, pack=1)
    tl.store(x + at, a + b + c.to(tl.i32) + clock.to(tl.i32))
"""


def test_inline_assembly(tmp_path: Path) -> None:
    made: Any = kernel_of(ASSEMBLY, tmp_path).specialize()
    text = made.mlir
    assert (
        'tt.elementwise_inline_asm "add.u32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, '
        "pure = true} %v, %2 : tensor<128xi32>, tensor<128xi32> -> tensor<128xi32>" in text
    )
    assert print_module(parse_module(text)) == text
    with pytest.raises(tn.CompileError, match=r"the CPU cannot run tl\.inline_asm_elementwise") as caught:
        tn.compile(made, "cpu")
    assert caught.value.diagnostics[0].code == "X008"
    assert caught.value.diagnostics[0].primary is not None
    with pytest.raises(ExecutionError, match="assembly is written for one kind of GPU"):
        launch(kernel_of(ASSEMBLY, tmp_path), "reference", [np.zeros(128, np.int32), 1])


def test_barriers_of_newer_versions_are_read() -> None:
    text = "module {\n  tt.func public @k() {\n    ttg.barrier all\n    tt.return\n  }\n}\n"
    assert print_module(parse_module(text)) == text
