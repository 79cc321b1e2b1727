"""Language functions with several results, chosen by the value of a flag, and with tuples of tensors as arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.ops.arith import ADD, MUL
from teeny.ops.extend import Builder, Operand, Shapes, Value, language
from teeny.ops.shape import expand_dims_

if TYPE_CHECKING:
    from teeny.language.typing import Const, D, E, N, Tensor


def _both_shapes(s: Shapes, x: Operand, y: Operand) -> Any:
    return (1, *x.shape), y.shape


def _emit_both(b: Builder, shapes: Any, dtypes: Any, x: Operand, y: Operand) -> tuple[Value, Value]:
    assert len(shapes) == len(dtypes) == 2
    return b.create(expand_dims_, x.value, axis=0), y.value


@language(_emit_both, shape=_both_shapes)
def both(x: Tensor[D], y: Tensor[E]) -> tuple[Tensor[D], Tensor[E]]:
    """x with a new axis, and y."""
    raise NotImplementedError


def _pick_shape(s: Shapes, x: Operand, twice: bool) -> Any:
    return (x.shape, x.shape) if twice else x.shape


def _emit_pick(b: Builder, shape: Any, dtype: Any, x: Operand, twice: bool) -> Any:
    square = b.create(MUL.pick(dtype[0] if twice else dtype), x.value, x.value)
    return (x.value, square) if twice else square


@overload
def pick(x: Tensor[N], twice: Const[Literal[False]] = False) -> Tensor[N]: ...
@overload
def pick(x: Tensor[N], twice: Const[Literal[True]]) -> tuple[Tensor[N], Tensor[N]]: ...
@language(_emit_pick, shape=_pick_shape)
def pick(x: Any, twice: Any = False) -> Any:
    """The square of x, or x and its square."""
    raise NotImplementedError


def _sum_shape(s: Shapes, parts: tuple[Operand, ...]) -> Any:
    return s.broadcast(*(p.shape for p in parts))


def _emit_sum(b: Builder, shape: Any, dtype: Any, parts: tuple[Operand, ...]) -> Value:
    value = parts[0].value
    for part in parts[1:]:
        value = b.create(ADD.pick(dtype), value, part.value)
    return value


@language(_emit_sum, shape=_sum_shape)
def total(parts: tuple[Tensor[N], ...]) -> Tensor[N]:
    """The sum of tensors."""
    raise NotImplementedError


def _emit_squared(b: Builder, shapes: Any, dtypes: Any, x: Operand) -> tuple[Value, Value]:
    assert shapes == (x.shape, x.shape)
    return b.create(MUL.pick(dtypes[0]), x.value, x.value), x.value


@language(_emit_squared, elementwise=True)
def squared(x: Tensor[N]) -> tuple[Tensor[N], Tensor[N]]:
    """The square of x, and x."""
    raise NotImplementedError


@tn.kernel
def uses_both(x_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32]) -> None:
    offs = tl.arange(0, 4)
    x, i = both(tl.load(x_ptr + offs), tl.load(i_ptr + offs))
    tl.store(x_ptr + offs[None, :], x * 2.0)
    tl.store(i_ptr + offs, i + 1)


def test_two_results() -> None:
    x, i = np.arange(4, dtype=np.float32), np.arange(4, dtype=np.int32)
    uses_both[1](x, i)
    assert list(x) == [0, 2, 4, 6]
    assert list(i) == [1, 2, 3, 4]


@tn.kernel
def picks(x_ptr: tl.Ptr[tl.f32], TWICE: tl.Const[bool]) -> None:
    offs = tl.arange(0, 4)
    x = tl.load(x_ptr + offs)
    if TWICE:
        a, b = pick(x, True)
        y = a + b
    else:
        y = pick(x)
    tl.store(x_ptr + offs, y)


@pytest.mark.parametrize("twice", [False, True])
def test_a_flag_picks_the_overload(twice: bool) -> None:
    x = np.arange(4, dtype=np.float32)
    picks[1](x, twice)
    assert list(x) == ([0, 2, 6, 12] if twice else [0, 1, 4, 9])


@tn.kernel
def picks_by_const(x_ptr: tl.Ptr[tl.f32], TWICE: tl.Const[bool]) -> None:
    offs = tl.arange(0, 4)
    found: Any = pick(tl.load(x_ptr + offs), twice=TWICE)
    if TWICE:
        tl.store(x_ptr + offs, found[1])
    else:
        tl.store(x_ptr + offs, found)


@pytest.mark.parametrize("twice", [False, True])
def test_a_const_that_is_not_known_yet_picks_case_by_case(twice: bool) -> None:
    x = np.arange(4, dtype=np.float32)
    picks_by_const[1](x, twice)
    assert list(x) == [0, 1, 4, 9]


@tn.kernel
def sums(x_ptr: tl.Ptr[tl.f32], y_ptr: tl.Ptr[tl.f32]) -> None:
    offs = tl.arange(0, 4)
    x, y = tl.load(x_ptr + offs), tl.load(y_ptr + offs)
    parts = (x, y, x)
    s, _ = squared(total(parts))
    tl.store(y_ptr + offs, s)


def test_a_tuple_of_tensors() -> None:
    x, y = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    sums[1](x, y)
    assert list(y) == [1, 9, 25, 49]


@tn.kernel
def modes(x_ptr: tl.Ptr[tl.f32], MODE: tl.Const[Literal["one", "two"]], K: tl.Const[Literal[3, 4]]) -> None:
    if MODE == "one":
        tl.store(x_ptr, 1.0 * K)
    else:
        tl.store(x_ptr, 2.0 * K)


def test_literals_of_a_const() -> None:
    x = np.zeros(1, np.float32)
    modes[1](x, "two", 4)
    assert x[0] == 8
    for wrong in (("three", 4), ("one", 5), ("one", True)):
        with pytest.raises(tn.LaunchError, match="L009"):
            modes[1](x, *wrong)


def mixed(x_ptr: tl.Ptr[tl.f32], i_ptr: tl.Ptr[tl.i32]) -> None:
    offs = tl.arange(0, 4)
    parts: Any = (tl.load(x_ptr + offs), tl.load(i_ptr + offs))
    tl.store(x_ptr + offs, total(parts))


def stored(x_ptr: tl.Ptr[tl.f32]) -> None:
    offs = tl.arange(0, 4)
    found: Any = pick(tl.load(x_ptr + offs), twice=True)
    tl.store(x_ptr + offs, found)


@pytest.mark.parametrize(
    ("fn", "text"),
    [(mixed, "needs a tuple of tensors for `parts`"), (stored, "needs a tensor for `value`; `found` is a tuple")],
)
def test_faults(fn: Any, text: str) -> None:
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(fn)
    assert [one.code for one in caught.value.diagnostics] == ["T010"]
    assert text in caught.value.diagnostics[0].message
