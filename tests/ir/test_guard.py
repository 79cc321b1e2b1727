"""Guards against Python's truth values, row by row."""

from __future__ import annotations

import itertools
from collections.abc import Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teeny.ir.guard import ATOM_LIMIT, AtomTable, Guard, holds

Formula = bool | str | tuple[str, "Formula"] | tuple[str, "Formula", "Formula"]
NAMES = ("P", "Q", "R", "S")


def table(*names: str) -> tuple[AtomTable, list[Guard]]:
    atoms = AtomTable()
    guards = [atoms.atom(name, name) for name in names]
    return atoms, [guard for guard in guards if guard is not None]


def to_guard(atoms: AtomTable, formula: Formula) -> Guard:
    if isinstance(formula, bool):
        return atoms.true if formula else atoms.false
    if isinstance(formula, str):
        guard = atoms.atom(formula, formula)
        assert guard is not None
        return guard
    parts = [to_guard(atoms, part) for part in formula[1:]]
    return {"and": atoms.and_, "or": atoms.or_, "not": atoms.not_}[formula[0]](*parts)


def truth(formula: Formula, values: dict[Hashable, bool]) -> bool:
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, str):
        return values[formula]
    parts = [truth(part, values) for part in formula[1:]]
    return {"and": all, "or": any, "not": lambda it: not it[0]}[formula[0]](parts)


FORMULAS = st.recursive(
    st.one_of(st.sampled_from(NAMES), st.booleans()),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
    ),
    max_leaves=8,
)


def assignments() -> list[dict[Hashable, bool]]:
    return [dict(zip(NAMES, row, strict=True)) for row in itertools.product((False, True), repeat=len(NAMES))]


@settings(max_examples=200, deadline=None)
@given(FORMULAS, FORMULAS, FORMULAS)
def test_guards_agree_with_python(a: Formula, b: Formula, excluded: Formula) -> None:
    atoms = AtomTable()
    left, right, gone = (to_guard(atoms, formula) for formula in (a, b, excluded))
    for name in NAMES:
        atoms.atom(name, name)
    atoms.exclude(gone)
    rows = [values for values in assignments() if not truth(excluded, values)]
    for values in assignments():
        assert atoms.evaluate(left, values) == truth(a, values)
        assert holds(left, atoms.row(values)) == truth(a, values)
    assert atoms.is_false(left) == all(not truth(a, values) for values in rows)
    assert atoms.is_true(left) == all(truth(a, values) for values in rows)
    assert atoms.implies(left, right) == all(truth(b, values) for values in rows if truth(a, values))
    assert atoms.same(left, right) == all(truth(a, values) == truth(b, values) for values in rows)


@settings(max_examples=200, deadline=None)
@given(FORMULAS, FORMULAS)
def test_a_description_means_the_guard_in_all_possible_rows(formula: Formula, excluded: Formula) -> None:
    atoms = AtomTable()
    guard = to_guard(atoms, formula)
    atoms.exclude(to_guard(atoms, excluded))
    text = atoms.describe(guard)
    rows = [values for values in assignments() if not truth(excluded, values)]
    if text in ("always", "never"):
        assert all(truth(formula, values) == (text == "always") for values in rows) or not rows
    elif "..." not in text:
        for values in rows:
            assert eval(text, {}, dict(values)) == truth(formula, values), text


@settings(max_examples=100, deadline=None)
@given(FORMULAS)
def test_support_is_what_changes_the_value(formula: Formula) -> None:
    atoms = AtomTable()
    guard = to_guard(atoms, formula)
    needed = {
        name
        for name in NAMES
        for values in assignments()
        if truth(formula, {**values, name: True}) != truth(formula, {**values, name: False})
    }
    assert set(atoms.support(guard)) == needed


def test_descriptions_are_short() -> None:
    atoms = AtomTable()
    scale, causal = atoms.atom("SCALE", "SCALE"), atoms.atom("CAUSAL", "CAUSAL")
    f32, f16 = atoms.atom(("D", "f32"), "D is f32"), atoms.atom(("D", "f16"), "D is f16")
    assert scale is not None
    assert causal is not None
    assert f32 is not None
    assert f16 is not None
    assert atoms.describe(atoms.not_(scale)) == "not SCALE"
    assert atoms.describe(causal & f32) == "CAUSAL and D is f32"
    assert atoms.describe(atoms.not_(f32)) == "D is not f32"
    assert atoms.describe(scale & causal | scale & f32) == "(SCALE and CAUSAL) or (SCALE and D is f32)"
    assert atoms.describe(atoms.not_(scale & causal)) == "not (SCALE and CAUSAL)"
    assert atoms.describe(scale & causal | scale & atoms.not_(causal)) == "SCALE"
    atoms.exclude(f32 & f16)
    assert atoms.describe(f16 & atoms.not_(f32)) == "D is f16"
    assert atoms.describe(f16 & f32) == "never"
    assert atoms.describe(atoms.not_(f16 & f32)) == "always"
    atoms.assume(atoms.or_(f32, f16))
    assert atoms.same(f16, atoms.not_(f32))
    parity = scale ^ causal ^ f32
    assert atoms.describe(parity).count(" or ") == 3


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("SCALE", "not SCALE"),
        ("not SCALE", "SCALE"),
        ("p is None", "p is not None"),
        ("p is not None", "p is None"),
        ('MODE == "max"', 'MODE != "max"'),
        ("N < 4", "N >= 4"),
        ("N % 2 == 0", "N % 2 != 0"),
        ("a is not b and c", "not (a is not b and c)"),
        ("0 < N < 4", "not (0 < N < 4)"),
        ("f(x)", "not (f(x))"),
    ],
)
def test_negated_texts(text: str, negated: str) -> None:
    atoms = AtomTable()
    guard = atoms.atom("key", text)
    assert guard is not None
    assert atoms.describe(guard) == text
    assert atoms.describe(atoms.not_(guard)) == negated


def test_an_own_negation_is_shown() -> None:
    atoms = AtomTable()
    guard = atoms.atom("key", "HAS_BIAS", negated="without bias")
    assert guard is not None
    assert atoms.describe(atoms.not_(guard)) == "without bias"


def test_a_full_table_has_no_atom_left() -> None:
    atoms, guards = table(*(f"C{i}" for i in range(ATOM_LIMIT)))
    assert atoms.full
    assert atoms.atom("more", "more") is None
    assert atoms.atom("C3", "C3") == guards[3]
    every = atoms.and_(*guards)
    assert atoms.evaluate(every, dict.fromkeys(atoms.keys, True))
    assert not atoms.evaluate(every, dict.fromkeys(atoms.keys, True) | {"C7": False})
    assert atoms.describe(every) == " and ".join(f"C{i}" for i in range(ATOM_LIMIT))
    assert atoms.describe(atoms.not_(every)).startswith("not (C0 and")
    parity = 0
    for guard in guards:
        parity ^= guard
    assert atoms.describe(parity).endswith("or ...")


def test_a_guard_keeps_its_meaning_when_atoms_are_added() -> None:
    atoms, (p,) = table("P")
    outside = atoms.not_(p)
    q = atoms.atom("Q", "Q")
    assert q is not None
    assert atoms.implies(outside & q, outside)
    assert atoms.evaluate(outside, {"P": False, "Q": True})
    assert atoms.evaluate(outside, {"P": False})
    assert atoms.keys == ("P", "Q")


def test_a_needed_value_must_be_given() -> None:
    atoms, (p, q) = table("P", "Q")
    assert atoms.evaluate(p, {"P": True})
    with pytest.raises(KeyError):
        atoms.evaluate(p & q, {"P": True})
    with pytest.raises(KeyError):
        atoms.row({"P": True})
