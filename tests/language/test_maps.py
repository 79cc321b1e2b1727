"""`map_elementwise` of random functions with branches, loops and returns: each element as Python itself computes it."""

from __future__ import annotations
import __future__

import linecache
import random
from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.runtime.definition import collecting
from tests.frontend import programs
from tests.language.executors import EXECUTORS, launch

SIZE = 16
RESULT = "return x + (a - a), y + (a - a), z + (a - a)"
HEAD = """
def f(
    a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32], F: tl.Const[bool], G: tl.Const[bool], K: tl.Const[int]
) -> tuple[tl.Scalar[tl.i32], tl.Scalar[tl.i32], tl.Scalar[tl.i32]]:
    x = a
    y = b
    z = a - b
"""
KERNEL = """

def k(
    a_ptr: tl.Ptr[tl.i32], b_ptr: tl.Ptr[tl.i32], out_ptr: tl.Ptr[tl.i32],
    F: tl.Const[bool], G: tl.Const[bool], K: tl.Const[int],
) -> None:
    lanes = tl.arange(0, 16)
    x, y, z = tl.map_elementwise(f, tl.load(a_ptr + lanes), tl.load(b_ptr + lanes), F, G, K)
    tl.store(out_ptr + lanes, x)
    tl.store(out_ptr + 16 + lanes, y)
    tl.store(out_ptr + 32 + lanes, z)
"""


class Writer(programs.Writer):
    """Writes the body of a function of scalars, which has no memory."""

    def line(self, depth: int, text: str) -> None:
        if text.startswith("tl.store("):
            text = "z = z + 1"
        super().line(depth, RESULT if text == "return" else text)

    def program(self) -> str:
        for _ in range(self.rng.randint(2, 5)):
            self.statement(1, 3)
        return programs.HELPERS + HEAD + "\n".join(self.lines) + f"\n    {RESULT}\n" + KERNEL


def compiled(text: str) -> Any:
    name = f"<map {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec", __future__.annotations.compiler_flag, dont_inherit=True)


def wanted(code: Any, a: list[int], b: list[int], constants: dict[str, Any]) -> Any:
    scope: dict[str, Any] = {"tl": programs.stand_in()}
    exec(code, scope)
    return np.array([scope["f"](p, q, **constants) for p, q in zip(a, b, strict=True)], np.int64).T


@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed: int) -> None:
    rng = random.Random(seed)
    text = Writer(rng, symbolic=False).program()
    code = compiled(text)
    scope: dict[str, Any] = {"tl": tl}
    exec(code, scope)
    a, b = ([rng.randint(-3, 9) for _ in range(SIZE)] for _ in range(2))
    constants = {"F": rng.random() < 0.5, "G": rng.random() < 0.5, "K": rng.randint(1, 4)}
    with collecting() as faults:
        kernel = tn.kernel(scope["k"])
    # a Const that a loop makes a run-time value, and too many returns
    assert {one.code for one in faults} <= {"T008", "E010"}, text
    if faults:
        pytest.skip("the language refuses it")
    right = wanted(code, a, b, constants)
    for executor in EXECUTORS if seed % 5 == 0 else ("reference",):
        found = np.zeros((3, SIZE), np.int32)
        launch(kernel, executor, [np.array(a, np.int32), np.array(b, np.int32), found], constants=constants)
        fits = np.abs(right) < 2**31
        assert np.array_equal(found[fits], right[fits]), (executor, text)
