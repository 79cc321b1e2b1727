"""Random kernels: their meaning in NumPy, the reference and the CPU agree bit for bit, and nothing else is written.

`python -m tests.language.fuzz 0 10000` runs as many as one likes, each in a process of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.language.author import program
from tests.language.description import Expr, If, Store, While
from tests.language.fuzz import Seeded, apart, report, trial
from tests.language.interpret import UnfitError
from tests.language.shrink import nodes
from tests.language.trial import arguments, build, check

T = TypeVar("T")
EXAMPLES = 1000 if os.environ.get("TEENY_FULL") else 25


class Drawn:
    """Choices that hypothesis makes, and makes simpler after a fault."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def number(self, low: int, high: int) -> int:
        found = self.draw(st.integers(low, high))
        assert isinstance(found, int)
        return found


@given(data=st.data())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_drawn_kernels(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    c = Drawn(data.draw)
    made = program(c)
    first = arguments(c, made, data.draw(st.integers(0, 1000)))
    chosen = [first, arguments(c, made, data.draw(st.integers(0, 1000)), first)]
    built = build(made, tmp_path_factory.mktemp("drawn"))
    for one in chosen:
        try:
            check(built, one)
        except UnfitError:
            assume(False)


@pytest.mark.parametrize("first", range(0, 1000 if os.environ.get("TEENY_FULL") else 80, 10))
def test_seeded_kernels(first: int, tmp_path: Path) -> None:
    """The same kernels in each run."""
    for seed in range(first, first + 10):
        trial(seed, tmp_path)


@pytest.mark.parametrize("seed", [80003, 80023, 200366])
def test_kernels_that_went_wrong(seed: int, tmp_path: Path) -> None:
    """In order: reads outside of masked loops (twice); a tile that was turned while it was being turned."""
    assert apart(lambda: report(seed, tmp_path)).split(" ", 2)[2] == ""


def test_the_kernels_are_varied() -> None:
    """A hundred kernels have every construct in them, so that the tests above test it."""
    seen: set[str] = set()
    for seed in range(150):
        made = program(Seeded(seed))
        seen |= {"generic"} if made.variables else set()
        seen |= {"early return of a helper" for h in made.helpers if h.early is not None}
        for _, node in nodes(made):
            kind = type(node).__name__
            seen.add(kind)
            if isinstance(node, Expr):
                seen |= {
                    node.op,
                    f"{node.op} {node.at}" if node.op in ("binary", "unary", "call", "compare", "cast") else node.op,
                }
                seen |= {f"fill {len(node.args)}"} if node.op == "load" else set()
            if isinstance(node, If):
                seen.add("Const-if" if isinstance(node.condition, str) else "run-time if")
            if isinstance(node, Store):
                seen.add("masked store" if node.mask is not None else "plain store")
            if isinstance(node, While):
                seen.add("while and" if node.condition is not None else "while")
            loop = getattr(node, "loop", None)
            seen |= {loop} if loop else set()
    wanted = {
        "generic", "early return of a helper", "Let", "Store", "For", "While", "If", "Leave", "Helper", "Const-if",
        "run-time if", "masked store", "plain store", "while", "while and", "tl.range", "range", "tl.static_range",
        "fill 1", "fill 2", "fill 3", "var", "const", "literal", "chain", "logic", "not", "helper", "where", "ternary",
        "reduce", "index", "Pair",
        "broadcast", "reshape", "trans", "full", "program_id", "num_programs", "move", "pointer", "cast None",
        *(f"binary {s}" for s in ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>")),
        *(f"compare {s}" for s in ("<", "<=", ">", ">=", "==", "!=")), *(f"unary {s}" for s in "-+~"),
        *(f"call {s}" for s in ("abs", "sqrt", "floor", "ceil", "fma", "maximum", "minimum", "exp", "log")),
    }  # fmt: skip
    assert not wanted - seen, f"never made: {sorted(wanted - seen)}"
