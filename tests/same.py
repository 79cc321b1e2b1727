"""Running a sample and comparing memories, element by element where they are defined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference import bind, run

if TYPE_CHECKING:
    from teeny.ir.core import Module
    from tests.strategies import Sample


def reference(sample: Sample, module: Module | None = None, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """The arguments after a run, and for each which elements are undefined (None for scalars)."""
    arguments = sample.arguments(seed)
    bound = bind(arguments)
    run(module or sample.module, bound, sample.grid)
    undefined = [b.undefined(a) if isinstance(a, np.ndarray) else None for a, b in zip(arguments, bound, strict=True)]
    return arguments, undefined


def assert_same(found: list[Any], expected: list[Any], undefined: list[Any]) -> None:
    """Arrays are equal bit for bit, but that all NaNs are one, and that undefined elements may hold anything."""
    for at, (x, y, skip) in enumerate(zip(found, expected, undefined, strict=True)):
        if not isinstance(y, np.ndarray):
            continue
        bits = np.dtype(f"u{y.itemsize}")
        same = x.view(bits) == y.view(bits)
        if y.dtype.kind not in "iub":
            same |= np.isnan(x) & np.isnan(y)
        wrong = ~same & ~skip
        assert not wrong.any(), (
            f"argument {at} differs at {np.flatnonzero(wrong)[:8]}: {x[wrong][:8]} for {y[wrong][:8]}"
        )
