"""Verdicts on symbolic dims: random facts and questions against brute force, and the questions kernels ask."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from teeny.ir import poly
from teeny.ir.facts import SHAPE_LIMIT, Facts, Op, Predicate, decide, evaluate_predicate
from teeny.ir.poly import Dim, cdiv, maximum, minimum, symbol
from teeny.ir.predicate import NEGATED

Tree = int | str | tuple[str, "Tree", "Tree"]
Question = tuple[Op, Tree, Tree]

NAMES = ("A", "B", "C")
VALUES = (-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64)
OPS: tuple[Op, ...] = ("eq", "ne", "lt", "le", "gt", "ge", "pow2", "divides")
DIM_OPS: dict[str, Callable[[Dim, Dim], Dim]] = {
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
PYTHON = {
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "le": "{} <= {}",
    "gt": "{} > {}",
    "ge": "{} >= {}",
    "pow2": "is_power({})",
    "divides": "divides({}, {})",
}


def two_to(exponent: int) -> int:
    if not 0 <= exponent <= 200:
        raise ArithmeticError
    return 2**exponent


FUNCTIONS = {
    "two_to": two_to,
    "cdiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
    "is_power": lambda a: a in {2**n for n in range(210)},
    "divides": lambda a, b: a != 0 and b % a == 0,
}


def python_text(tree: Tree) -> str:
    if not isinstance(tree, tuple):
        return f"({tree})"
    op, a, b = tree
    if op == "**":
        return f"two_to({python_text(b)})"
    if op in ("min", "max", "cdiv"):
        return f"{op}({python_text(a)}, {python_text(b)})"
    return f"({python_text(a)} {op} {python_text(b)})"


def to_dim(tree: Tree) -> Dim:
    if isinstance(tree, int):
        return tree
    return symbol(tree) if isinstance(tree, str) else DIM_OPS[tree[0]](to_dim(tree[1]), to_dim(tree[2]))


def python_function(question: Question) -> Callable[..., bool]:
    op, a, b = question
    return eval("lambda A, B, C: " + PYTHON[op].format(python_text(a), python_text(b)), FUNCTIONS)


def value_at(function: Callable[..., bool], row: tuple[int, ...]) -> bool | None:
    try:
        return function(*row)
    except ArithmeticError:
        return None


class Draw:
    """Random facts that hold for a random assignment, so that they never contradict each other."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = NAMES[: self.random.choice([1, 2, 2, 3])]

    def tree(self, leaves: int) -> Tree:
        choose = self.random
        if leaves <= 1:
            number = choose.choice([-3, -2, -1, 0, 1, 1, 2, 2, 3, 4, 4, 5, 7, 8, 16])
            return choose.choice(self.names) if choose.random() < 0.65 else number
        if choose.random() < 0.12:
            return ("**", 2, self.tree(leaves - 1))
        left = choose.randrange(1, leaves)
        op = choose.choice(["+", "-", "*", "+", "-", "*", "//", "%", "//", "%", "cdiv", "min", "max"])
        return (op, self.tree(left), self.tree(leaves - left))

    def question(self, leaves: int) -> Question:
        op = self.random.choice((*OPS, "eq", "ge", "lt"))
        return op, self.tree(self.random.randint(1, leaves)), self.tree(self.random.randint(1, leaves))

    def simple_facts(self) -> list[Question]:
        choose = self.random
        facts: list[Question] = []
        for name in self.names:
            if choose.random() < 0.4:
                facts += [("pow2", name, 0), ("le", name, SHAPE_LIMIT)]
            if choose.random() < 0.5:
                facts.append(("ge", name, choose.choice([-2, 0, 0, 1, 1, 2, 3, 8])))
            if choose.random() < 0.4:
                facts.append(("le", name, choose.choice([0, 3, 7, 8, 10, 15, 20, 64])))
        return facts

    def facts(self) -> list[Question]:
        witness = tuple(self.random.choice(VALUES) for _ in NAMES)
        extra = [self.question(4) for _ in range(self.random.choice([0, 0, 1, 1, 2, 3]))]
        kept: list[Question] = []
        for op, a, b in self.simple_facts() + extra:
            holds = value_at(python_function((op, a, b)), witness)
            if holds:
                kept.append((op, a, b))
            elif holds is False and op in NEGATED:
                kept.append((NEGATED[op], a, b))
        return kept

    def rows(self, facts: list[Question]) -> list[tuple[int, ...]]:
        functions = [python_function(fact) for fact in facts]
        values = VALUES if len(self.names) < 3 else VALUES[2::2]
        every = itertools.product(*(values if name in self.names else (0,) for name in NAMES))
        rows = [row for row in every if all(value_at(function, row) for function in functions)]
        return self.random.sample(rows, min(len(rows), 400))


def built(question: Question) -> Predicate | None:
    try:
        return Predicate(question[0], to_dim(question[1]), to_dim(question[2]))
    except ArithmeticError:
        return None


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 2**40))
def test_no_verdict_is_wrong(seed: int) -> None:
    draw = Draw(seed)
    raw = draw.facts()
    predicates = [built(fact) for fact in raw]
    rows = draw.rows(raw)
    facts = Facts().assume(*(predicate for predicate in predicates if predicate is not None))
    assert not (rows and facts.contradictory), (predicates, rows[0])
    for leaves in (2, 4, 7):
        question = draw.question(leaves)
        predicate = built(question)
        if predicate is None:
            continue
        verdict = decide(facts, predicate.op, predicate.a, predicate.b)
        low, high = facts.bounds(predicate.a)
        function = python_function(question)
        value = eval(f"lambda A, B, C: {python_text(question[1])}", FUNCTIONS)
        for row in rows:
            truth = value_at(function, row)
            if truth is not None and verdict is not None:
                assert truth == verdict, ([str(fact) for fact in predicates], str(predicate), row)
            number = value_at(value, row)
            if number is not None:
                assert low is None or low <= number, (str(predicate.a), row)
                assert high is None or number <= high, (str(predicate.a), row)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**40))
def test_opposite_questions_get_opposite_answers(seed: int) -> None:
    draw = Draw(seed)
    facts = Facts().assume(*(predicate for fact in draw.facts() if (predicate := built(fact)) is not None))
    a, b = built(("eq", draw.tree(4), 0)), built(("eq", draw.tree(3), 0))
    if a is None or b is None or facts.contradictory:
        return
    for op, opposite in NEGATED.items():
        verdict, other = decide(facts, op, a.a, b.a), decide(facts, opposite, a.a, b.a)
        assert (verdict is None) == (other is None)
        assert verdict is None or verdict != other


A, B, C, E, I, K, M, N, P, R = map(symbol, "ABCEIKMNPR")
NOTHING = Facts()
SHAPES = NOTHING.shapes("B").shapes("C")
COUNT = SHAPES.at_least("N", 0)
SMALL = NOTHING.at_least("E", 0).at_most("E", 10)
GRID = NOTHING.at_least("R", 0).at_least("I", 0).at_least("N", 0).assume(Predicate("lt", R, P), Predicate("lt", I, N))


def given_that(facts: Facts, op: Op, a: Dim, b: Dim = 0) -> Facts:
    return facts.assume(Predicate(op, a, b))


CASES: list[tuple[Facts, Op, Dim, Dim, bool | None]] = [
    # equal shapes
    (SHAPES, "eq", B, C, None),
    (given_that(SHAPES, "eq", B, C), "eq", B * N, N * C, True),
    (given_that(SHAPES, "eq", B, 2 * C), "eq", B // 2, C, True),
    (given_that(SHAPES, "lt", B, C), "eq", B, C, False),
    (given_that(SHAPES, "lt", B, C), "le", 2 * B, C, True),
    (given_that(SHAPES, "ne", B, C), "eq", C, B, False),
    (given_that(SHAPES, "eq", minimum(B, C), C), "le", C, B, True),
    (SHAPES, "eq", 2 * B, 3 * C, False),
    (NOTHING, "eq", 2 * N + 1, 2 * M, False),
    # powers of two
    (SHAPES, "pow2", B * C, 0, True),
    (SHAPES, "pow2", 3 * B, 0, False),
    (SHAPES, "pow2", B // 2, 0, None),
    (SHAPES.at_least("B", 2), "pow2", B // 2, 0, True),
    (given_that(SHAPES, "ge", B, C), "pow2", B // C, 0, True),
    (SHAPES, "pow2", B // C, 0, None),
    (SHAPES, "pow2", cdiv(B, C), 0, True),
    (SHAPES, "pow2", minimum(B, maximum(C, 16)), 0, True),
    (SMALL, "pow2", 2**E, 0, True),
    (given_that(SHAPES, "eq", 2**E, B), "pow2", B, 0, True),
    (given_that(COUNT, "pow2", N), "pow2", N * B, 0, True),
    (NOTHING, "pow2", N, 0, None),
    (NOTHING.at_most("N", 0), "pow2", N, 0, False),
    # exponents
    (SMALL, "le", 2**E, 1024, True),
    (SMALL, "eq", 2 ** (E + 1), 2 * 2**E, True),
    (NOTHING, "eq", 2 ** (E + 1), 2 * 2**E, None),
    (SMALL.at_least("E", 1), "eq", 2**E // 2 * 2, 2**E, True),
    # divisibility
    (SHAPES, "divides", 16, B, None),
    (SHAPES.at_least("B", 9), "divides", 16, B, True),
    (SHAPES, "divides", B, B * C, True),
    (SHAPES, "divides", C, B, None),
    (given_that(SHAPES, "ge", B, C), "divides", C, B, True),
    (given_that(SHAPES, "eq", B % 2), "ge", B, 2, True),
    (given_that(COUNT, "eq", N % 16), "eq", N // 16 * 16, N, True),
    (given_that(COUNT, "eq", N % B), "eq", N // B * B, N, True),
    (given_that(COUNT, "divides", B, N), "eq", cdiv(N, B), N // B, True),
    (COUNT, "eq", N // B * B, N, None),
    (COUNT, "eq", N // B * B + N % B, N, True),
    (NOTHING, "divides", 0, N, False),
    # rounding up
    (COUNT, "ge", cdiv(N, B) * B, N, True),
    (COUNT, "ge", (N + B - 1) // B * B, N, True),
    (COUNT, "eq", (N + B - 1) // B, cdiv(N, B), True),
    (COUNT, "lt", (cdiv(N, B) - 1) * B, N, True),
    (COUNT, "le", N // B * B, N, True),
    (NOTHING.at_least("N", 1), "eq", (N - 1) // N, 0, True),
    # bounds and loops
    (SHAPES, "ge", B, 1, True),
    (SHAPES, "le", B, SHAPE_LIMIT, True),
    (SHAPES, "ge", B * C, B, True),
    (SHAPES.at_most("B", 1024).at_most("C", 1024), "le", B * C, 1 << 20, True),
    (given_that(SHAPES, "eq", B * C, 64), "eq", 64 // B, C, True),
    (given_that(SHAPES, "le", B * C, 4096), "le", B, 4096, True),
    (given_that(COUNT, "ne", N), "ge", N, 1, True),
    (given_that(SHAPES.at_least("I", 0), "lt", I, N), "le", I * B + B, N * B, True),
    (GRID, "lt", R * N + I, P * N, True),
    (GRID, "ge", R * N + I, 0, True),
    (NOTHING, "lt", N % 2, 2, True),
    (NOTHING, "ge", N * N, 0, True),
    (NOTHING, "ge", N, 0, None),
    # nothing is enumerated past a division by zero
    (NOTHING.at_least("N", 0).at_most("N", 5), "ge", 7 // N + N, 0, None),
    (NOTHING.at_least("N", 1).at_most("N", 5), "ge", 7 // N + N, 5, True),
    (NOTHING.at_least("N", 0).at_most("N", 5), "eq", N % N, 0, None),
    # constants
    (NOTHING, "lt", N, N + 1, True),
    (NOTHING, "eq", N + 2, N + 1, False),
    (NOTHING, "eq", 4, 4, True),
    (NOTHING, "pow2", 12, 0, False),
    (NOTHING, "divides", 4, 12, True),
]


@pytest.mark.parametrize(
    ("facts", "op", "a", "b", "expected"), CASES, ids=[f"{Predicate(op, a, b)}:{v}" for _, op, a, b, v in CASES]
)
def test_questions_of_kernels(facts: Facts, op: Op, a: Dim, b: Dim, expected: bool | None) -> None:
    assert decide(facts, op, a, b) is expected


def test_facts_are_scoped_by_value() -> None:
    inner = given_that(SHAPES, "eq", B, C)
    assert decide(inner, "eq", B, C) is True
    assert decide(SHAPES, "eq", B, C) is None
    assert inner.assume(Predicate("eq", B, C)) is inner


def test_contradictions_are_seen_and_make_everything_true() -> None:
    for facts in (
        NOTHING.at_least("N", 5).at_most("N", 3),
        given_that(SHAPES.at_least("B", 65), "le", B, 127),
        given_that(given_that(NOTHING, "eq", N, 4), "eq", N % 3),
        given_that(SHAPES, "divides", 3, B),
    ):
        assert facts.contradictory
        assert decide(facts, "eq", N * B, 12345) is True
        assert decide(facts, "ne", N * B, 12345) is True
    assert not SHAPES.contradictory


def test_a_stored_obligation_is_a_fact_from_then_on() -> None:
    for op in OPS:
        for a, b in ((B, N), (N * B, C + 1), (N // 4, M), (2 * N, M * M)):
            assert decide(given_that(COUNT, op, a, b), op, a, b) is True, (op, str(a), str(b))


def test_bounds() -> None:
    assert SHAPES.bounds(B * C) == (1, 1 << 40)
    assert COUNT.bounds(N + 3) == (3, None)
    assert COUNT.bounds(N % 8) == (0, 7)
    assert SMALL.bounds(2**E - E) == (-9, 1024)
    assert given_that(NOTHING, "eq", N, 7).bounds(N * N) == (49, 49)
    assert NOTHING.bounds(N) == (None, None)
    assert NOTHING.bounds(5) == (5, 5)


def test_a_predicate_with_values() -> None:
    assert evaluate_predicate("pow2", B * 2, None, {"B": 8})
    assert not evaluate_predicate("pow2", B - 8, None, {"B": 8})
    assert evaluate_predicate("divides", B, N, {"B": 8, "N": 24})
    assert not evaluate_predicate("divides", B, N, {"B": 0, "N": 0})
    assert evaluate_predicate("lt", B, N, {"B": 8, "N": 9})
    with pytest.raises(ZeroDivisionError):
        evaluate_predicate("eq", N // B, 1, {"B": 0, "N": 0})
    assert str(Predicate("le", B, N)) == "B <= N"
    assert str(Predicate("pow2", B)) == "B is a power of two"
    assert str(Predicate("divides", B, N)) == "B divides N"


def test_verdicts_do_not_depend_on_what_was_built_before() -> None:
    expected = [verdict for *_, verdict in CASES]
    forward = [decide(Facts(facts.predicates), op, a, b) for facts, op, a, b, _ in CASES]
    backward = [decide(Facts(facts.predicates), op, a, b) for facts, op, a, b, _ in reversed(CASES)]
    assert forward == expected
    assert backward[::-1] == expected


@pytest.mark.parametrize(
    "rule",
    [
        # teeny.ir.poly: floor division and remainder by a positive c, split of multiples, common factors
        lambda a, q, c, g: ((c * q + a) / c == q + a / c, c > 0),
        lambda a, q, c, g: ((g * a) / (g * c) == a / c, z3.And(c > 0, g > 0)),
        lambda a, q, c, g: ((c * q + a) % c == a % c, c > 0),
        lambda a, q, c, g: ((g * a) % (g * c) == g * (a % c), z3.And(c > 0, g > 0)),
        lambda a, q, c, g: (-((-a) / c) == (a + c - 1) / c, c > 0),
    ],
    ids=["quotient-split", "quotient-cancel", "remainder-split", "remainder-cancel", "rounding-up"],
)
@pytest.mark.parametrize("divisor", [1, 3, 8])
def test_rules_of_division_are_theorems(rule: Callable[..., tuple[z3.BoolRef, z3.BoolRef]], divisor: int) -> None:
    a, q = z3.Ints("a q")
    c = z3.IntVal(divisor)
    claim, condition = rule(a, q, c, z3.IntVal(6))
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(condition, z3.Not(claim))
    assert solver.check() == z3.unsat
