"""Symbolic dims against Python's integers: random expressions, all small assignments."""

from __future__ import annotations

import copy
import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teeny.ir import poly
from teeny.ir.int_ops import int_power
from teeny.ir.poly import Dim, Poly, cdiv, evaluate, floordiv, maximum, minimum, mod, names, power, substitute, symbol

Tree = int | str | tuple[str, "Tree", "Tree"]

NAMES = ("A", "B", "C")
VALUES = (-3, -1, 0, 1, 2, 4, 5)
DIM_OPS = {
    "+": poly.add,
    "-": poly.sub,
    "*": poly.mul,
    "//": poly.floordiv,
    "%": poly.mod,
    "cdiv": poly.cdiv,
    "min": poly.minimum,
    "max": poly.maximum,
    "**": poly.power,
}
INT_OPS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "cdiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
    "**": int_power,
}
LEAVES = st.one_of(st.sampled_from(NAMES), st.integers(-9, 12))


def grow(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    plain = st.tuples(
        st.sampled_from(["+", "-", "*", "//", "%", "+", "-", "*", "//", "%", "cdiv", "min", "max"]), children, children
    )
    two_to = st.tuples(st.just("**"), st.just(2), children)
    squared = st.tuples(st.just("**"), children, st.integers(0, 3))
    return st.one_of(plain, plain, plain, two_to, squared)


TREES = st.recursive(LEAVES, grow, max_leaves=7)
ASSIGNMENTS = [dict(zip(NAMES, row, strict=True)) for row in itertools.product(VALUES, repeat=len(NAMES))]


def to_dim(tree: Tree) -> Dim:
    if isinstance(tree, int):
        return tree
    return symbol(tree) if isinstance(tree, str) else DIM_OPS[tree[0]](to_dim(tree[1]), to_dim(tree[2]))


def to_int(tree: Tree, values: dict[str, int]) -> int:
    if isinstance(tree, int):
        return tree
    return values[tree] if isinstance(tree, str) else INT_OPS[tree[0]](to_int(tree[1], values), to_int(tree[2], values))


def python_value(text: str, values: dict[str, int]) -> int:
    return eval(text, {"cdiv": lambda a, b: -(-a // b), "min": min, "max": max}, values)


def built(tree: Tree) -> Dim | None:
    try:
        return to_dim(tree)
    except ArithmeticError:
        return None


@settings(max_examples=600, deadline=None)
@given(TREES)
def test_every_normal_form_has_the_value_of_its_expression(tree: Tree) -> None:
    dim = built(tree)
    for values in ASSIGNMENTS:
        try:
            expected = to_int(tree, values)
        except ArithmeticError:
            continue
        assert dim is not None
        try:
            found = evaluate(dim, values)
        except OverflowError:
            continue
        assert found == expected, (str(dim), values)


@settings(max_examples=300, deadline=None)
@given(TREES)
def test_text_is_a_python_expression_of_the_same_value(tree: Tree) -> None:
    dim = built(tree)
    if dim is None:
        return
    for values in ASSIGNMENTS[::7]:
        try:
            expected = evaluate(dim, values)
        except ArithmeticError:
            continue
        assert python_value(str(dim), values) == expected, (str(dim), values)


@settings(max_examples=300, deadline=None)
@given(TREES, TREES)
def test_substitution_then_evaluation_is_evaluation(tree: Tree, replacement: Tree) -> None:
    dim, inner = built(tree), built(replacement)
    if dim is None or inner is None:
        return
    for values in ASSIGNMENTS[::11]:
        try:
            expected = evaluate(dim, {**values, "A": evaluate(inner, values)})
        except ArithmeticError:
            continue
        try:
            found = evaluate(substitute(dim, {"A": inner}), values)
        except OverflowError:
            continue
        assert found == expected
        assert substitute(dim, {**values, "A": evaluate(inner, values)}) == expected


@settings(max_examples=300, deadline=None)
@given(TREES, TREES)
def test_interning_equal_polynomials_are_one_object(left: Tree, right: Tree) -> None:
    a, b = built(left), built(right)
    if a is None or b is None:
        return
    assert poly.sub(poly.add(a, b), b) is a or poly.sub(poly.add(a, b), b) == a
    forth, back = poly.mul(a, b), poly.mul(b, a)
    assert forth is back or forth == back
    assert not isinstance(forth, Poly) or forth.names == names(back)


A, B, N = symbol("A"), symbol("B"), symbol("N")
SAME: list[tuple[Dim, Dim]] = [
    (N * 4 // 2, 2 * N),
    ((N + 128) // 128, N // 128 + 1),
    ((N + 127) // 128, cdiv(N, 128)),
    (N * 6 % 4, N % 2 * 2),
    ((8 * N + 3) % 4, 3),
    ((4 * N + 3) // 8, N // 2),
    (N // 4 // 8, N // 32),
    (N // 4 // B // 1, N // 4 // B),
    (N // -3, -N // 3),
    (N % 12 % 4, N % 4),
    (N % (4 * B) % 4, N % 4),
    (4**N, 2 ** (2 * N)),
    (N * 2**A // 2**A, N),
    (N * 2**A % 2**A, 0),
    ((N * 2**A + 2**B) // (2 * 2**A), (N * 2**A + 2**B) // (2**A * 2)),
    (N**2 - 1, (N - 1) * (N + 1)),
    (minimum(N, N + 2), N),
    (minimum(minimum(A, B), minimum(B, N)), minimum(N, minimum(B, A))),
    (maximum(maximum(N, 3), 5), maximum(5, N)),
    (power(A * B, 3), A * A * A * B * B * B),
    (N**0, 1),
    (N - N, 0),
    (0 * N, 0),
]


@pytest.mark.parametrize(("left", "right"), SAME, ids=lambda dim: str(dim))
def test_normal_forms_meet(left: Dim, right: Dim) -> None:
    assert left is right or left == right


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (2 * B + 1, "2*B + 1"),
        (1 - N, "1 - N"),
        (N - B, "N - B"),
        (-N - 3, "-N - 3"),
        (A * B * B - 4, "A*B**2 - 4"),
        (N // 128, "N // 128"),
        (2 * (N // 128), "2*(N // 128)"),
        ((N + B - 1) // B, "(B + N - 1) // B"),
        (-(N // 3), "-(N // 3)"),
        (2 ** (N + 1), "2**(N + 1)"),
        (cdiv(N, B), "cdiv(N, B)"),
        (minimum(4, N), "min(N, 4)"),
        (N % 16, "N % 16"),
    ],
)
def test_text(dim: Dim, text: str) -> None:
    assert str(dim) == text


def test_a_possible_division_by_zero_does_not_cancel() -> None:
    assert isinstance(N // N, Poly)
    assert isinstance((A * B) // B, Poly)
    with pytest.raises(ZeroDivisionError):
        evaluate(N // N, {"N": 0})


def test_undefined_operations_raise() -> None:
    for operation in (floordiv, mod, cdiv):
        with pytest.raises(ZeroDivisionError):
            operation(N, 0)
        with pytest.raises(ZeroDivisionError):
            substitute(operation(5, N), {"N": 0})
    with pytest.raises(ArithmeticError):
        power(2, -1)
    with pytest.raises(ArithmeticError):
        evaluate(2**N, {"N": -1})
    with pytest.raises(OverflowError):
        evaluate(2**N, {"N": 10**9})
    with pytest.raises(KeyError):
        evaluate(N + B, {"N": 1})


def test_equality_is_identity_and_survives_copies() -> None:
    dim = (N * N + A // B) % 7
    assert N != A
    assert symbol("N") is N
    assert len({N, symbol("N"), N + 0, N * 1}) == 1
    assert copy.deepcopy(dim) is dim
    assert pickle.loads(pickle.dumps(dim)) is dim


def test_names() -> None:
    assert names(7) == frozenset()
    assert names((N - N) * B + A // 2) == {"A"}
    assert names(2 ** (N // B)) == {"B", "N"}
