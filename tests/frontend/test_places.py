"""Where faults are shown: in the user's own file, through the calls that lead there, with edits that mend them."""

from __future__ import annotations

import linecache
from types import FunctionType
from typing import Any, TypeVar

import pytest

import teeny.language as tl
from teeny.diag import Diagnostic
from teeny.diag.edits import apply
from teeny.frontend.lower import define, lower_concrete, lower_generic
from teeny.ir.core import Op, walk_function
from tests.frontend import corpus

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)


def exponential(x: tl.Tensor[N]) -> tl.Tensor[N]:
    return tl.exp(x)


def outer(x: tl.Tensor[N]) -> tl.Tensor[N]:
    y = x + 1
    return exponential(y)


def through_helpers(x_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, outer(tl.load(x_ptr + offs)))
    tl.store(x_ptr + offs + 1, outer(tl.load(x_ptr + offs)))


def softmax(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    top = tl.max(x, axis=0)
    if n > 3:
        x = x - top
    for _ in tl.range(n):
        x += 1.0
    tl.store(x_ptr + cols, outer_of(x), mask=cols < n)


def outer_of(x: tl.Tensor[D]) -> tl.Tensor[D]:
    scaled = x * 2.0
    return scaled + 1.0


def divided(x_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32]) -> None:
    tl.store(x_ptr + tl.cdiv(n, 0 - 0 + tl.program_id(0) * 1.5), 0.0)


def faults_of(fn: FunctionType) -> list[Diagnostic]:
    definition, faults = define(fn)
    return [*faults, *lower_generic(definition).faults]


def test_a_fault_in_a_helper_is_reported_once_with_the_calls_that_lead_there() -> None:
    (fault,) = faults_of(through_helpers)
    assert fault.primary is not None
    place = fault.primary.location
    assert (place.span.text, place.span.source.name) == ("x", __file__)
    assert [frame.span.text for frame in place.frames[1:]] == ["exponential(y)", "outer(tl.load(x_ptr + offs))"]
    assert [frame.name for frame in place.frames[1:]] == ["exponential", "outer"]


def test_a_fault_in_a_library_function_is_shown_at_the_users_call() -> None:
    found = faults_of(divided)
    for fault in found:
        assert fault.primary is not None
        assert fault.primary.location.span.source.name == __file__
        assert all(label.location.span.source.name == __file__ for label in fault.labels)
    assert found


def test_operations_know_their_place_and_the_function_called() -> None:
    definition, _ = define(softmax)
    generic = lower_generic(definition)
    operations = list(walk_function(generic.module.kernel))

    def named(name: str) -> list[Op]:
        return [op for op in operations if op.loc is not None and op.loc.name == name]

    assert [op.name for op in named("tl.max") if op.regions] == ["tt.reduce"]
    (load,) = [op for op in named("tl.load") if op.name == "tt.load"]
    assert load.loc is not None
    assert load.loc.span.text == "tl.load(x_ptr + cols, mask=cols < n, other=0.0)"
    (product,) = [op for op in operations if op.name == "num.mul"]
    assert product.loc is not None
    assert (product.loc.span.text, product.loc.frames[-1].span.text) == ("x * 2.0", "outer_of(x)")
    assert all(op.loc is not None for op in operations)


def test_values_have_the_names_of_the_source() -> None:
    definition, _ = define(softmax)
    module = lower_generic(definition).module
    names = {r.name for op in walk_function(module.kernel) for r in op.results}
    assert {"cols", "x", "top", "scaled"} <= names
    assert [a.name for a in module.kernel.args] == ["x_ptr", "n"]
    (loop,) = [op for op in walk_function(module.kernel) if op.name == "scf.for"]
    assert [a.name for a in loop.regions[0].block.args] == ["_", "x"]


def test_an_obligation_fails_at_its_line() -> None:
    from teeny.diag import KernelError
    from teeny.ir.dtype import F32

    definition, faults = define(softmax)
    assert not faults
    generic = lower_generic(definition)
    assert {(code, place.span.text) for _, code, _, place in generic.obligations} >= {("S002", "tl.arange(0, BLOCK)")}
    with pytest.raises(KernelError) as raised:
        lower_concrete(definition, {definition.variables[0]: F32}, {"BLOCK": 100})
    (fault,) = raised.value.diagnostics
    assert fault.code == "S002"
    assert fault.primary is not None
    assert fault.primary.location.span.text == "tl.arange(0, BLOCK)"
    assert "found 100" in fault.message


def narrow(x_ptr: tl.Ptr[N], BLOCK: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.sum(x, axis=0))


def narrow_with_care(x_ptr: tl.Ptr[N], out_ptr: tl.Ptr[tl.i64], BLOCK: tl.Const[int]) -> None:
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if x_ptr.dtype == tl.i8:
        tl.store(out_ptr, tl.sum(x, axis=0, dtype=tl.i64))
    else:
        tl.store(x_ptr, tl.sum(x, axis=0))


def test_dtypes_that_an_operation_lacks_are_excluded_where_it_is_reached() -> None:
    assert lower_generic(define(narrow)[0]).exclusions == {"N": {"i8", "i16", "u8", "u16"}}
    assert lower_generic(define(narrow_with_care)[0]).exclusions == {"N": {"i16", "u8", "u16"}}


FIXED = corpus.files(faulty=True)


@pytest.mark.parametrize("path", FIXED, ids=lambda p: p.stem)
def test_edits_mend_what_they_are_offered_for(path: Any) -> None:
    """Each edit, made alone, leaves no such fault at its line."""
    text = path.read_text()
    _, found = corpus.load(path)
    offered = [(one, fix) for one in found if one.code[0] in "ETS" for fix in one.fixes]
    assert offered or path.stem in ("faulty_shapes", "faulty_312")
    for number, (fault, fix) in enumerate(offered):
        assert fault.primary is not None
        mended = apply(fix.edits, text)
        name = f"<{path.stem} mended {number}>"
        linecache.cache[name] = (len(mended), None, mended.splitlines(keepends=True), name)
        again = corpus.run_text(mended, name)
        line = fault.primary.location.span.line
        places = {(d.primary.location.span.line, d.code) for d in again if d.primary is not None}
        assert (line, fault.code) not in places, f"line {line}: {fault.message} -> {fix.title}"
