"""Random expressions of floats against exact arithmetic: each operation rounds the exact result once, in its format."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language import exactly
from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet
from tests.language.values import FLOATS, inputs

N = 32
SEEDS = 40 if os.environ.get("TEENY_FULL") else 2
EXPRESSIONS = 24
OPERATIONS: dict[str, tuple[str, int, Callable[..., float]]] = {
    "add": ("({0} + {1})", 2, exactly.add), "sub": ("({0} - {1})", 2, exactly.sub),
    "mul": ("({0} * {1})", 2, exactly.mul), "div": ("({0} / {1})", 2, exactly.div),
    "mod": ("({0} % {1})", 2, exactly.mod), "fma": ("tl.fma({0}, {1}, {2})", 3, exactly.fma),
    "sqrt": ("tl.sqrt({0})", 1, exactly.sqrt), "sqrt_rn": ("tl.sqrt_rn({0})", 1, exactly.sqrt),
    "div_rn": ("tl.div_rn({0}, {1})", 2, exactly.div), "neg": ("(-{0})", 1, lambda name, x: -x),
    "abs": ("tl.abs({0})", 1, lambda name, x: abs(x)), "floor": ("tl.floor({0})", 1, exactly.floor),
    "ceil": ("tl.ceil({0})", 1, exactly.ceil),
    "max": ("(tl.maximum({0}, {1}) + 0.0)", 2, lambda name, x, y: exactly.extreme(True, x, y) + 0.0),
    "min": ("(tl.minimum({0}, {1}) + 0.0)", 2, lambda name, x, y: exactly.extreme(False, x, y) + 0.0),
    "where": ("tl.where({0} < {1}, {2}, {0})", 3, lambda name, x, y, z: z if x < y else x),
}  # fmt: skip


@dataclass(frozen=True)
class Term:
    """An expression: its text, and its value in each lane."""

    text: str
    values: list[float]


def term(rng: random.Random, dtype: str, depth: int, data: dict[str, list[float]]) -> Term:
    """A random expression of this dtype; casts bring in the others."""
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.15:
            number = rng.choice((0.5, 3.0, -2.0, 0.1, 1e-3, 100.0))
            rounded = exactly.cast(dtype, number)
            return Term(f"tl.full(({N},), {number}, tl.{dtype})", [rounded] * N)
        return Term(f"{dtype}_1", data[dtype])
    if rng.random() < 0.15:
        inner = term(rng, rng.choice(FLOATS), depth - 1, data)
        return Term(f"{inner.text}.to(tl.{dtype})", [exactly.cast(dtype, v) for v in inner.values])
    form, arity, meaning = OPERATIONS[rng.choice(list(OPERATIONS))]
    parts = [term(rng, dtype, depth - 1, data) for _ in range(arity)]
    values = [meaning(dtype, *lane) for lane in zip(*(p.values for p in parts), strict=True)]
    return Term(form.format(*(p.text for p in parts)), values)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("dtype", FLOATS)
def test_expressions(dtype: str, seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"{dtype} {seed}")
    sheet = Sheet()
    data: dict[str, list[float]] = {}
    for at, name in enumerate(FLOATS):
        values = inputs(name, 256, 10 * seed + at)
        values = np.concatenate([np.roll(values[:32], at + seed)[:16], values[32 : 32 + N - 16]])
        sheet.array(name, name, values)
        sheet.line(f"{name}_1 = tl.load({name} + tl.arange(0, {N}))")
        data[name] = [float(v) for v in values.astype(np.float64)]
    for _ in range(EXPRESSIONS):
        found = term(rng, dtype, rng.randint(1, 4), data)
        with np.errstate(all="ignore"):
            sheet.put(found.text, dtype, np.array(found.values, np.float64).astype(DTYPES[dtype]))
    sheet.check(tmp_path)


@given(st.sampled_from(FLOATS), st.floats(), st.floats(), st.floats())
def test_the_oracle_itself(name: str, x: float, y: float, z: float) -> None:
    """In f64 Python's own arithmetic, and in f32 NumPy's, are rounded correctly too."""
    if name not in ("f32", "f64"):
        return
    kind = DTYPES[name].type
    with np.errstate(all="ignore"):
        a, b = kind(x), kind(y)
        wanted = {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b, "sqrt": np.sqrt(a), "mod": np.fmod(a, b)}
    for operation, value in wanted.items():
        arguments = (float(a),) if operation == "sqrt" else (float(a), float(b))
        got = getattr(exactly, operation)(name, *arguments)
        same = got == value and math.copysign(1.0, got) == math.copysign(1.0, value)
        assert same or (math.isnan(got) and np.isnan(value)), f"{operation}: {got} for {value}"
