"""Which cells of the matrix try which function with which dtype, and why some pairs have none."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, get_overloads

import teeny.language as tl
from teeny.frontend.signature import LANGUAGE_VARIABLES
from teeny.ir.dtype import LEAVES, members
from teeny.language import library, random
from teeny.ops.function import functions
from tests.language.cells import cells
from tests.language.forms import SWAPPED
from tests.language.test_matrix import ELSEWHERE

DTYPES = tuple(LEAVES)
ANY = "-"
"""The dtype of functions that have none, and of cells that are of no one dtype."""
ALWAYS = ("addptr", "expand", "load", "store", "arange")
"""Functions that every cell uses, written with operators or not."""
BESIDE = ("return", "mask", "condition", "cond", "index", "indices")
"""Parameters whose dtype is not what a function is about."""
_NAMED = {**LANGUAGE_VARIABLES, **{k: v for k, v in LEAVES.items() if k != "bool"}, "bool_": LEAVES["bool"]}


@dataclass(frozen=True, slots=True)
class Row:
    """A function with a dtype: the labels of the cells that try it, or why there are none."""

    function: str
    dtype: str
    cells: tuple[str, ...] = ()
    reason: str = ""


def dtype_of_label(label: str) -> str:
    """The dtype that a cell is about: the first one in its label."""
    return next((part for part in re.split(r"[-_]", label) if part in LEAVES), ANY)


@cache
def written() -> dict[str, Any]:
    """Every function of the language: those of the dialect and those written in the language itself."""
    found: dict[str, Any] = dict(functions())
    for name in dir(tl):
        thing = getattr(tl, name)
        if isinstance(thing, types.FunctionType) and thing.__module__.startswith((library.__name__, random.__name__)):
            found.setdefault(name, thing)
    return found


def _functions(name: str) -> list[Callable[..., Any]]:
    """The overloads, or the one function."""
    thing = written()[name]
    if isinstance(thing, types.FunctionType):
        return list(get_overloads(thing)) or [thing]
    return thing.overloads


def admitted(name: str) -> tuple[str, ...]:
    """The dtypes that the signatures of a function take in any place; `ANY` alone where they take none."""
    found = set[str]()
    for function in _functions(name):
        for parameter, annotation in function.__annotations__.items():
            if parameter in BESIDE:
                continue
            for word in re.findall(r"\w+", str(annotation)):
                dtype = _NAMED.get(word)
                if dtype is not None:
                    found |= {leaf.name for leaf in members(dtype)}
    for leaves in getattr(written()[name], "exclude", {}).values():
        found -= set(leaves)
    return tuple(d for d in DTYPES if d in found) or (ANY,)


@cache
def cells_of() -> dict[str, dict[str, tuple[str, ...]]]:
    """For each function the labels of cells by dtype: cells made for it, and those whose text calls it."""
    found: dict[str, dict[str, list[str]]] = {}
    for label, (function, make) in cells().items():
        names = {function, *ALWAYS}
        if function in SWAPPED and label.endswith("-literals"):
            names.add(SWAPPED[function])
        text = make().text()
        names |= set(re.findall(r"\btl\.(?:math\.|extra\.)?(\w+)\(", text))
        names |= set(re.findall(r"\.(\w+)\(", text)) & set(written())
        for name in names & set(written()):
            found.setdefault(name, {}).setdefault(dtype_of_label(label), []).append(label)
    return {name: {d: tuple(ls) for d, ls in by.items()} for name, by in found.items()}


def rows() -> list[Row]:
    """Every function x dtype, those that are refused and those that are missing too."""
    found: list[Row] = []
    for name in sorted(written()):
        by = cells_of().get(name, {})
        takes = admitted(name)
        if takes == (ANY,):
            every = tuple(label for labels in by.values() for label in labels)
            found.append(Row(name, ANY, every, "" if every else ELSEWHERE.get(name, "")))
            continue
        if ANY in by:
            found.append(Row(name, ANY, by[ANY]))
        said = "its signature takes " + " ".join(takes)
        for dtype in DTYPES:
            if dtype in by:
                found.append(Row(name, dtype, by[dtype]))
            elif dtype not in takes:
                found.append(Row(name, dtype, (), f"refused: {said}"))
            else:
                found.append(Row(name, dtype, (), LACKING.get((name, dtype), "" if by else ELSEWHERE.get(name, ""))))
    return found


_FLOATS8 = tuple(d for d in DTYPES if LEAVES[d].kind == "float8")
_POINTERS = "not of numbers of this dtype, but pointers to it are compared: tests/language/test_pointers.py"
_SCALED = (
    "the operands are bytes, halves or 8-bit floats with scales: the cells `dot_scaled` have every pair of formats"
)
LACKING: dict[tuple[str, str], str] = {
    **{(name, dtype): _POINTERS for name in ("lt", "le", "gt", "ge") for dtype in ("bool", *_FLOATS8)},
    **{(name, dtype): _POINTERS for name in ("eq", "ne") for dtype in _FLOATS8},
    **{("dot_scaled", dtype): _SCALED for dtype in DTYPES},
    **{("philox", d): "as a seed: tests/language/test_random.py" for d in ("i8", "i16", "u8", "u16")},
    ("dot", "i32"): "the dtype of the sums of bytes, in the cells of those",
    ("condition", "bool"): "a construct: tests/language/test_constructs.py",
}
"""Functions with dtypes that signatures admit, but that have no cells, and why."""


def missing() -> list[str]:
    """Pairs without a cell and without a reason."""
    return [f"{row.function} {row.dtype}" for row in rows() if not row.cells and not row.reason]
