"""Loops that jump, and hints of loops, through the whole of Triton's compiler."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

import pytest

import teeny as tn
from teeny.ir.text import parse_module, print_module
from tests.language.constructs import CONSTRUCTS
from tests.language.executors import kernel_of
from tests.language.test_constructs import DEFAULTS
from tests.triton_text import through_triton

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
SOME = ("tl.range hints", "while, any condition", "while True", "break with steps", "break from nested loops")
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "gfx942")
HINTED = """@tn.kernel
def kernel(x: tl.Ptr[tl.f16], y: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], STAGES: tl.Const[int]) -> None:
    at = tl.arange(0, 64)
    square = at[:, None] * 64 + at[None, :]
    acc = tl.zeros((64, 64), tl.f32)
    for i in tl.range(0, n, num_stages=STAGES, disallow_acc_multi_buffer=True, flatten=True, disable_licm=True):
        a = tl.load(x + i * 4096 + square)
        acc = tl.dot(a, a, acc)
    for i in tl.range(0, n, loop_unroll_factor=2):
        acc += tl.load(y + i)
    tl.store(y + square, acc)
"""


@pytest.mark.parametrize("name", list(CONSTRUCTS) if os.environ.get("TEENY_FULL") else SOME)
def test_compiles(name: str, tmp_path: Path) -> None:
    construct = CONSTRUCTS[name]
    kernel = kernel_of(construct.text, tmp_path)
    for given in construct.consts:
        tn.compile(kernel.specialize(**{**DEFAULTS, **given}), "sm_90", debug=True)


@pytest.mark.parametrize("target", TARGETS)
def test_hints_of_loops(target: str, tmp_path: Path) -> None:
    made = kernel_of(HINTED, tmp_path).specialize(STAGES=2)
    still = "llvm.loop_annotation = #llvm.loop_annotation<licm = <disable = true, versioningDisable = true>>"
    assert f"{{{still}, tt.disallow_acc_multi_buffer, tt.flatten, tt.num_stages = 2 : i32}}" in made.mlir
    tn.compile(made, target)


def test_hints_survive_the_way_through_triton(tmp_path: Path) -> None:
    """Triton prints the attribute of a loop by an alias; what we read of that can be printed again."""
    text = kernel_of(HINTED, tmp_path).specialize(STAGES=2).mlir
    printed = through_triton(text, locations=False)
    assert "#loop_annotation = " in printed
    again = through_triton(print_module(parse_module(printed)), locations=False)
    assert again.count("llvm.loop_annotation") == printed.count("llvm.loop_annotation")
    assert "tt.num_stages = 2 : i32" in again
