"""Literals beside floats: what would become infinite is a fault, at the definition or where the dtype is chosen."""

from __future__ import annotations

import linecache
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.ir.dtype import LEAVES, holds, largest

D = TypeVar("D", bound=tl.Float)
N = TypeVar("N", bound=tl.Num)
NUMPY: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
FITS = {
    "f16": ["65504", "-65519", "65519.9", "1e4", "-float('inf')", "float('nan')"],
    "bf16": ["3.3895e38", "float('inf')"],
    "f32": ["3.4028235e38", "-3.4028235e38", "1e6", "16777217"],
    "f64": ["1e308", "10**308", "-float('inf')"],
}
TOO_LARGE = {
    "f16": ["1e6", "70000", "-70000", "65520", "1e30", "10**400"],
    "bf16": ["3.4e38", "10**39"],
    "f32": ["1e39", "-1e39", "3.4028236e38", "10**400"],
    "f64": ["10**309", "10**400", "-(10**400)"],
}
PLACES = [
    "tl.store(x_ptr, {})", "tl.store(x_ptr, tl.load(x_ptr) + {})", "tl.store(x_ptr, {} * tl.load(x_ptr))",
    "tl.store(x_ptr, tl.load(x_ptr, mask=n < 1, other={}))", "tl.store(x_ptr, tl.full((), {}, x_ptr.dtype))",
    "tl.store(x_ptr, tl.where(n < 1, tl.load(x_ptr), {}))", "tl.store(x_ptr, tl.maximum(tl.load(x_ptr), {}))",
    "tl.store(x_ptr + 1, tl.load(x_ptr), mask=tl.load(x_ptr) < {})",
]  # fmt: skip


def made(dtype: str, line: str) -> Any:
    annotation = dtype if dtype in ("D", "N") else f"tl.{dtype}"
    text = f"def k(x_ptr: tl.Ptr[{annotation}], n: tl.Scalar[tl.i32]) -> None:\n    {line}\n"
    name = f"<literal {dtype} {line}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"tl": tl, "D": D, "N": N}
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    return tn.kernel(scope["k"])


def codes(error: tn.KernelError) -> list[tuple[str, int]]:
    found = [(d.code, d.primary.location.span.line) for d in error.diagnostics if d.primary is not None]
    assert len(found) == len(error.diagnostics)
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("dtype", "literal"), [(d, x) for d, many in TOO_LARGE.items() for x in many])
def test_a_literal_that_would_be_infinite(dtype: str, literal: str, place: str) -> None:
    with pytest.raises(tn.KernelError) as caught:
        made(dtype, place.format(literal))
    assert codes(caught.value) == [("T006", 2)]


@pytest.mark.parametrize(("dtype", "literal"), [(d, x) for d, many in FITS.items() for x in many])
def test_a_literal_that_fits(dtype: str, literal: str) -> None:
    x = np.zeros(2, NUMPY[dtype])
    made(dtype, PLACES[0].format(literal))[1](x, 1)
    np.testing.assert_equal(float(x[0]), float(NUMPY[dtype](eval(literal))))
    for place in PLACES[1:]:
        made(dtype, place.format(literal))


@pytest.mark.parametrize(("dtype", "literal"), [(d, x) for d, many in TOO_LARGE.items() for x in many if "**" not in x])
def test_generic_code_is_told_where_the_dtype_is_chosen(dtype: str, literal: str) -> None:
    kernel = made("D", f"tl.store(x_ptr, {literal})")
    kernel.specialize(D=tl.f64)
    with pytest.raises(tn.KernelError) as caught:
        kernel.specialize(D=getattr(tl, dtype))
    assert codes(caught.value) == [("T006", 2)]


def test_no_dtype_that_the_variable_may_be_holds_it() -> None:
    with pytest.raises(tn.KernelError) as caught:
        made("N", "tl.store(x_ptr, 10**309)")
    assert codes(caught.value) == [("T006", 2)]


@tn.kernel
def plus(x_ptr: tl.Ptr[D], C: tl.Const[float]) -> None:
    tl.store(x_ptr, tl.load(x_ptr) + C)


@pytest.mark.parametrize("value", [1e6, 70000, -1e5, 10**400])
def test_a_const_that_would_be_infinite(value: float) -> None:
    with pytest.raises(tn.KernelError) as caught:
        plus[1](np.zeros(1, np.float16), value)
    assert [d.code for d in caught.value.diagnostics] == ["T006"]


@pytest.mark.parametrize("value", [65504.0, float("inf"), -float("inf")])
def test_a_const_that_fits(value: float) -> None:
    x = np.zeros(1, np.float16)
    plus[1](x, value)
    assert x[0] == value


def test_a_const_of_thousands_of_digits() -> None:
    with pytest.raises(tn.LaunchError) as caught:
        plus[1](np.zeros(1, np.float64), 10**5000)
    assert [d.code for d in caught.value.diagnostics] == ["L009"]


@pytest.mark.parametrize("name", NUMPY)
def test_the_limit_is_where_rounding_gives_infinity(name: str) -> None:
    leaf, kind = LEAVES[name], NUMPY[name]
    info: Any = ml_dtypes.finfo(kind)
    assert largest(leaf) == float(info.max)
    if name != "f64":
        unit = largest(leaf) - float(np.nextafter(kind(largest(leaf)), kind(0)))
        edge = largest(leaf) + unit / 2
        below = float(np.nextafter(np.float32(edge), np.float32(0))) if name == "bf16" else np.nextafter(edge, 0.0)
        assert not holds(leaf, edge)
        assert holds(leaf, below)
        with np.errstate(over="ignore"):
            assert np.isinf(kind(edge))
            assert kind(below) == largest(leaf)
