"""The canonical order of scans, against one written out element by element; and their text."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import teeny.language
from teeny.backends.reference import run
from teeny.backends.reference.run import Event
from teeny.ir.core import Module
from teeny.ir.dtype import F32, I32
from teeny.ir.text import parse_module, print_module
from teeny.ir.verify import verify
from teeny.ops.arith import addf, mulf, subf
from teeny.ops.compare import cmpf
from tests.drafts import Draft

assert teeny.language


def scanned(shape: tuple[int, ...], axis: int, reverse: bool, schema: Any) -> Module:
    d = Draft()
    d.pointer("x", F32)
    (x,) = d.begin()
    size = int(np.prod(shape))
    at = d.at(x, d.range(size))
    tile = d.reshape(d.load(at), shape) if len(shape) > 1 else d.load(at)
    found = d.scan(tile, axis, schema, reverse=reverse)
    d.store(at, d.reshape(found, (size,)) if len(shape) > 1 else found)
    return d.end()


def written_out(x: Any, axis: int, reverse: bool, f: Any) -> Any:
    """Element i is `f(result i - 1, element i)`; in reverse the last is the first."""
    rows = np.moveaxis(x.copy(), axis, 0)
    order = range(rows.shape[0])[:: -1 if reverse else 1]
    for before, at in pairwise(order):
        rows[at] = f(rows[before], rows[at])
    return np.moveaxis(rows, 0, axis)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((1,), 0), ((128,), 0), ((8, 16), 0), ((8, 16), 1), ((2, 8, 4), 1)])
@pytest.mark.parametrize(("schema", "f"), [(addf, np.add), (subf, np.subtract)])
def test_each_element_joins_the_result_before_it(
    shape: tuple[int, ...], axis: int, reverse: bool, schema: Any, f: Any
) -> None:
    module = scanned(shape, axis, reverse, schema)
    verify(module, concrete=True)
    x = (np.random.default_rng(len(shape)).standard_normal(shape) * 1e3).astype(np.float32)
    found = x.copy()
    run(module, [found], (1, 1, 1))
    assert np.array_equal(found, written_out(x, axis, reverse, f))


def test_text_there_and_back() -> None:
    text = print_module(scanned((8, 16), 1, True, addf))
    assert '"tt.scan"(' in text
    assert "<{axis = 1 : i32, reverse = true}>" in text
    assert "tt.scan.return" in text
    assert print_module(parse_module(text)) == text


def recurrence() -> Module:
    """`h = a * h + b` for each element: a scan of the pairs (a, b), whose combiner branches on a sign."""
    d = Draft()
    d.pointer("a", F32)
    d.pointer("b", F32)
    d.pointer("y", F32)
    a, b, y = d.begin()
    at = d.range(32)

    def join(a1: Any, b1: Any, a2: Any, b2: Any) -> Any:
        positive = d.apply(cmpf, a2, d.const(0.0, F32), predicate="ogt")
        carried = d.branch(positive, lambda: (d.apply(mulf, a2, b1),), lambda: (d.const(0.0, F32),))[0]
        return d.apply(mulf, a1, a2), d.apply(addf, carried, b2)

    found = d.combine("tt.scan", (d.load(d.at(a, at)), d.load(d.at(b, at))), {"axis": 0, "reverse": False}, join)
    d.store(d.at(y, at), found[1])
    return d.end()


def test_several_operands_and_a_branch() -> None:
    module = recurrence()
    verify(module, concrete=True)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 32)).astype(np.float32)
    y = np.zeros(32, np.float32)
    run(module, [a, b, y], (1, 1, 1))
    h = np.float32(0)
    for t in range(32):
        h = b[t] if t == 0 else (a[t] * h if a[t] > 0 else np.float32(0)) + b[t]
        assert y[t] == h


@pytest.mark.parametrize("reverse", [False, True])
def test_what_follows_an_undefined_element_is_undefined(reverse: bool) -> None:
    d = Draft()
    d.pointer("x", F32)
    (x,) = d.begin()
    at = d.range(8)
    tile = d.load(d.at(x, at), d.compare("ne", at, d.fill(d.const(3, I32), (8,))))
    found = d.scan(tile, 0, addf, reverse=reverse)
    d.store(d.at(x, at), found)
    seen: list[Event] = []
    run(d.end(), [np.ones(8, np.float32)], (1, 1, 1), trace=seen.append)
    (event,) = [e for e in seen if e.op.name == "tt.scan"]
    undefined = np.arange(8) <= 3 if reverse else np.arange(8) >= 3
    assert np.array_equal(event.results[0].mask, undefined)
