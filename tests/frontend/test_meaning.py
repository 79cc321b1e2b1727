"""Control flow means what it means in Python: branches, loops, returns, helpers, and the same under Const conditions.

A program runs in Python, as its specialisation, and as its generic IR at the same Consts; all leave the same memory.
"""

from __future__ import annotations
import __future__

import linecache
import random
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import teeny.language as tl
from teeny.backends.reference import bind, run
from teeny.frontend.lower import define, lower_concrete, lower_generic
from teeny.ir.core import Module
from teeny.ir.verify import verify
from tests.frontend import programs, rows

FLAGS = [(f, g, k) for f in (False, True) for g in (False, True) for k in (1, 3)]


def compiled(text: str) -> Any:
    name = f"<program {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return compile(text, name, "exec", __future__.annotations.compiler_flag, dont_inherit=True)


def in_python(code: Any, a: int, b: int, constants: dict[str, Any]) -> Any:
    """Raises OverflowError where a number leaves 32 bits."""
    scope: dict[str, Any] = {"tl": programs.stand_in(), "Number": programs.Number}
    exec(code, scope)
    memory = np.zeros(16, np.int32)
    scope["k"](programs.Pointer(memory), programs.Number(a), programs.Number(b), **constants)
    return memory


def on_reference(module: Module, a: int, b: int) -> Any:
    memory = np.zeros(16, np.int32)
    run(module, bind([memory, a, b]), (1, 1, 1))
    return memory


def agree(text: str, symbolic: bool) -> None:
    code, plain = compiled(text), programs.checked(text)
    scope: dict[str, Any] = {"tl": tl}
    exec(code, scope)
    definition, faults = define(scope["k"])
    assert not faults
    generic = lower_generic(definition)
    # a Const that an unrolled loop makes a run-time value, and too many returns
    assert {f.code for f in generic.faults} <= {"T008", "E010"}, text
    assume(not generic.faults)
    verify(generic.module, concrete=False)
    for f, g, k in FLAGS:
        constants = {"F": f, "G": g, "K": k}
        made = lower_concrete(definition, {}, constants)
        verify(made, concrete=True)
        modules = [made] if symbolic or generic.partial else [made, rows.at(generic, constants)]
        for a, b in ((2, 5), (7, -3)):
            try:
                expected = in_python(plain, a, b, constants)
            except OverflowError:
                continue
            for module in modules:
                assert list(on_reference(module, a, b)) == list(expected), (constants, a, b, text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.integers(0, 1 << 30))
def test_generic_and_concrete_code_mean_the_same_as_python(seed: int) -> None:
    agree(programs.Writer(random.Random(seed), symbolic=False).program(), symbolic=False)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.integers(0, 1 << 30))
def test_unrolled_loops_with_const_bounds(seed: int) -> None:
    agree(programs.Writer(random.Random(seed), symbolic=True).program(), symbolic=True)
