"""Random control flow: nested loops that jump, branches, returns, tuples, functions of two results. See `fuzz`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.language.description import Expr, For, If, Jump, Spin
from tests.language.fuzz import FLOW, Seeded, made_of, trial
from tests.language.shrink import nodes

COUNT = 1000 if os.environ.get("TEENY_FULL") else 120


@pytest.mark.parametrize("first", range(0, COUNT, 10))
def test_seeded_kernels(first: int, tmp_path: Path) -> None:
    """The same kernels in each run."""
    for seed in range(first, first + 10):
        trial(FLOW + seed, tmp_path)


@pytest.mark.parametrize("seed", [550, 702, 5749, 7049])
def test_kernels_that_went_wrong(seed: int, tmp_path: Path) -> None:
    """Returns in the `else` of a loop inside a branch; a load at a comparison, which is decided where no lane is."""
    trial(FLOW + seed, tmp_path)


def test_the_kernels_are_varied() -> None:
    """Sixty kernels have every jump in every kind of loop."""
    seen: set[str] = set()
    for seed in range(FLOW, FLOW + 60):
        made = made_of(Seeded(seed), seed)
        for _, node in nodes(made):
            seen.add(node.word if isinstance(node, Jump) else type(node).__name__)
            if isinstance(node, For | Spin):
                where = node.loop if isinstance(node, For) else "while True" if node.forever else "while"
                seen |= {where} | ({f"else of {where}"} if node.other else set())
                seen |= {f"{j.word} in {where}" for _, j in nodes(node.body) if isinstance(j, Jump)}
            if isinstance(node, If):
                seen.add("Const-if" if isinstance(node.condition, str) else "run-time if")
            if isinstance(node, Expr):
                seen.add(node.op)
        seen |= {"two results"} if any(h.second is not None for h in made.helpers) else set()
    loops = ("while", "while True", "tl.range", "range", "tl.static_range")
    wanted = {
        "Tuple",
        "Unpack",
        "item",
        "two results",
        "Const-if",
        "run-time if",
        "Leave",
        "return",
        "chain",
        "ternary",
    }
    wanted |= {*loops, *(f"else of {x}" for x in loops), *(f"{j} in {x}" for j in ("continue", "break") for x in loops)}
    assert not wanted - seen, f"never made: {sorted(wanted - seen)}"
