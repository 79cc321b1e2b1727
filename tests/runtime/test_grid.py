"""Grids: what is accepted, and what each error says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny.diag.errors import LaunchError
from teeny.runtime.grid import normalise


def facts(grid: Any, **constants: Any) -> tuple[str, dict[str, str]]:
    with pytest.raises(LaunchError) as caught:
        normalise(grid, constants, "softmax")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "L008"
    assert diagnostic.kernel == "softmax"
    named = dict(diagnostic.facts)
    assert named["argument"] == "grid"
    assert named["needed"]
    assert "softmax" in str(caught.value)
    return diagnostic.message, named


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        (5, (5, 1, 1)),
        ((5,), (5, 1, 1)),
        ([2, 3], (2, 3, 1)),
        ((2, 3, 4), (2, 3, 4)),
        (np.int64(7), (7, 1, 1)),
        ((np.int32(7), np.uint8(2)), (7, 2, 1)),
        ((0,), (0, 1, 1)),
        ((4, 0), (4, 0, 1)),
        ((2**31 - 1, 65535, 65535), (2**31 - 1, 65535, 65535)),
        (lambda meta: (meta["N"] // meta["BLOCK"],), (4, 1, 1)),
        (lambda meta: meta["N"], (64, 1, 1)),
    ],
)
def test_accepted(grid: Any, expected: tuple[int, int, int]) -> None:
    result = normalise(grid, {"N": 64, "BLOCK": 16}, "softmax")
    assert result == expected
    assert all(type(axis) is int for axis in result)


def test_limits() -> None:
    assert facts((2**31,)) == (
        "axis x of the grid is too large",
        {"argument": "grid", "found": "2147483648 (int) in (2147483648,)", "needed": "at most 2147483647"},
    )
    assert facts((1, 65536))[0] == "axis y of the grid is too large"
    assert facts((1, 1, 65536))[1]["needed"] == "at most 65535"
    assert facts(-1) == (
        "axis x of the grid is negative",
        {"argument": "grid", "found": "-1 (int)", "needed": "0 to 2147483647"},
    )
    assert facts((3, np.int64(-2)))[0] == "axis y of the grid is negative"


def test_not_ints() -> None:
    message, named = facts((1000 / 16,))
    assert message == "axis x of the grid is no int"
    assert named["found"] == "62.5 (float) in (62.5,)"
    assert "tn.cdiv" in named["needed"]
    assert facts(True)[1]["found"] == "True (bool)"
    assert facts(None)[0] == "axis x of the grid is no int"
    assert facts("4")[0] == "axis x of the grid is no int"
    assert facts((np.arange(3), 1))[0] == "axis x of the grid is no int"


def test_number_of_axes() -> None:
    assert facts(())[0] == "the grid has the wrong number of axes"
    assert facts((1, 2, 3, 4))[1]["found"] == "(1, 2, 3, 4)"
    assert facts(lambda meta: (1, 2, 3, 4))[1]["found"] == "(1, 2, 3, 4)"


def test_a_grid_function_that_asks_for_another_name() -> None:
    message, named = facts(lambda meta: (meta["BLOCK_SIZE"],), BLOCK=16, N=3)
    assert message == "the grid function asks for `BLOCK_SIZE`, which is no Const parameter of the kernel"
    assert named["needed"] == "one of the Const parameters: BLOCK, N"


def test_other_errors_of_a_grid_function_pass_through() -> None:
    table = {"a": 1}
    with pytest.raises(KeyError, match="b"):
        normalise(lambda meta: (table["b"],), {}, "softmax")
    with pytest.raises(ZeroDivisionError):
        normalise(lambda meta: (1 // 0,), {}, "softmax")


def test_the_dict_of_a_grid_function_is_its_own() -> None:
    constants = {"BLOCK": 16}

    def spoil(meta: dict[str, Any]) -> int:
        meta["BLOCK"] = 0
        return 1

    normalise(spoil, constants, "softmax")
    assert constants == {"BLOCK": 16}
