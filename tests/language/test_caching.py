"""Loads and stores with words about caches: wrong words, text for each version, what NVIDIA excludes; volatile."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import teeny as tn
from teeny.backends.cpu.lower.entry import lower
from teeny.backends.triton.goal import goal
from teeny.backends.triton.limits import limits
from teeny.backends.triton.older import for_version
from teeny.ir.text import parse_module, print_module
from tests.language.executors import EXECUTORS, kernel_of, launch, module_of

TEXT = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32], y: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    at = tl.arange(0, 64)
    {line}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('tl.load(x, cache_modifier=".wb")', "'', '.ca', '.cg', '.cs', '.cv'"),
        ('tl.load(x + at, at < n, 0.0, cache_modifier="cg")', "found 'cg'"),
        ('tl.store(x, 1.0, cache_modifier=".ca")', "'', '.wb', '.cg', '.cs', '.wt'"),
        ('tl.load(x, eviction_policy="evict_normal")', "'', 'evict_first', 'evict_last'"),
        ('tl.store(x + at, 1, at < n, eviction_policy="last")', "found 'last'"),
    ],
)
def test_wrong_words_are_told_with_the_choices(line: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(tn.KernelError) as caught:
        module_of(TEXT.format(line=line), tmp_path)
    assert [one.code for one in caught.value.diagnostics] == ["E005"]
    assert said in caught.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("line", "newest", "oldest"),
    [
        (
            'tl.store(y + at, tl.load(x + at, cache_modifier=".cg", eviction_policy="evict_last", volatile=True))',
            "{cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, isVolatile = true} :",
            "cacheModifier = cg evictionPolicy = evict_last {isVolatile = true} :",
        ),
        (
            'tl.store(y + at, 1.0, at < n, eviction_policy="evict_first")',
            "{cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} :",
            "evictionPolicy = evict_first :",
        ),
        (
            'tl.store(y + at, 1.0, cache_modifier=".wt")',
            "{cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_normal>} :",
            "cacheModifier = wt :",
        ),
        ("tl.store(y, tl.load(x, volatile=True))", "{isVolatile = true} :", "{isVolatile = true} :"),
    ],
)
def test_both_spellings_are_written_and_read(line: str, newest: str, oldest: str, tmp_path: Path) -> None:
    module = kernel_of(TEXT.format(line=line), tmp_path).specialize().module
    text = print_module(module)
    for version, wanted in (("3.9.0", newest), ("3.8.0", oldest), ("3.6.0", oldest)):
        made = for_version(text, version)
        assert wanted in made
        assert print_module(parse_module(made)) == text


def test_nvidia_takes_one_word_an_access(tmp_path: Path) -> None:
    lines = (
        ('tl.load(x, cache_modifier=".cg", eviction_policy="evict_last")', 1),
        ('tl.load(x, cache_modifier=".cg", volatile=True)', 1),
        ('tl.store(x, 1.0, cache_modifier=".cs", eviction_policy="evict_first")', 1),
        ('tl.store(x, tl.load(x, volatile=True), cache_modifier=".cs")', 0),
    )
    for line, wrong in lines:
        module = kernel_of(TEXT.format(line=line), tmp_path).specialize().module
        found = limits(module, goal(90))
        assert len(found) == wrong
        assert not limits(module, goal("gfx942"))
        if wrong:
            assert "for sm_90" in found[0].message
            assert found[0].labels


def test_volatile_loads_are_neither_merged_nor_moved(tmp_path: Path) -> None:
    line = """a, b = tl.load(x, volatile=True), tl.load(x, volatile=True)
    for i in tl.range(0, n):
        b += tl.load(x, volatile=True)
    p = tl.load(x + at, volatile=True)
    q = tl.load(x + at, volatile=True)
    tl.store(x + at, 7.0)
    tl.store(y, a + b)
    tl.store(y + at, p + q, at > 0)
    tl.load(x, volatile=True)
"""
    kernel = kernel_of(TEXT.format(line=line), tmp_path)
    for executor in EXECUTORS:
        x, y = np.arange(64, dtype=np.float32) + 1, np.zeros(64, np.float32)
        launch(kernel, executor, [x, y, 3])
        assert y.tolist() == [5.0, *(2.0 * (at + 1) for at in range(1, 64))]
        assert (x == 7).all()
    text = lower(kernel.specialize().module, level="x86-64-v3").ir_text
    assert len(re.findall(r"load volatile float", text)) == 4


def test_words_come_by_a_constant(tmp_path: Path) -> None:
    text = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32], y: tl.Ptr[tl.f32], CACHE: tl.Const[str], KEEP: tl.Const[bool]) -> None:
    at = tl.arange(0, 64)
    v = tl.load(x + at, cache_modifier=CACHE, volatile=KEEP)
    tl.store(y + at, v, eviction_policy="evict_last" if KEEP else "")
"""
    kernel = kernel_of(text, tmp_path)
    text = print_module(kernel.specialize(CACHE=".ca", KEEP=True).module)
    assert "isVolatile = true" in text
    assert "cache_modifier = ca" in text
    assert "evict_last" in text
    assert "cachePolicy" not in print_module(kernel.specialize(CACHE="", KEEP=False).module)
    with pytest.raises(tn.KernelError, match="E005"):
        kernel.specialize(CACHE=".xx", KEEP=True)
