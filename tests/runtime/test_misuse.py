"""Values of Consts that look alike, and arguments of the API that are of another kind."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.frontend.params import RESERVED as NAMES
from teeny.runtime.arguments import const_key
from teeny.runtime.options import RESERVED

D = TypeVar("D", bound=tl.Float)


def _generic(x_ptr: tl.Ptr[D]) -> None:
    tl.store(x_ptr, 1.0)


@tn.kernel
def scale(x_ptr: tl.Ptr[tl.f32], factor: tl.Const[float]) -> None:
    tl.store(x_ptr, 1.0 / (tl.load(x_ptr) * factor))


@tn.kernel
def nothing(BLOCK: tl.Const[int]) -> None:
    tl.static_assert(BLOCK > 0)


@tn.kernel
def anything(x_ptr: tl.Ptr[tl.f32], value: tl.Const[Any]) -> None:
    tl.store(x_ptr, 1.0)


def one() -> Any:
    return np.ones(1, np.float32)


def test_zero_and_minus_zero_are_two_consts() -> None:
    for factor, expected in ((0.0, np.inf), (-0.0, -np.inf), (0.0, np.inf)):
        x = one()
        scale[1](x, factor)
        assert x[0] == expected
    assert scale.specialize(factor=-0.0).id != scale.specialize(factor=0.0).id


def test_nan_is_one_const() -> None:
    assert scale.specialize(factor=float("nan")) is scale.specialize(factor=float("nan"))


def test_keys_tell_types_apart_inside_tuples() -> None:
    keys = {const_key(v) for v in ((1,), (True,), (1.0,), 1, True, 1.0, "1", None, (0.0,), (-0.0,))}
    assert len(keys) == 10


def test_a_kernel_without_run_time_arguments() -> None:
    for _ in range(2):
        nothing[4](4)


def test_names_of_parameters_and_keywords_of_launches_agree() -> None:
    assert set(RESERVED) < set(NAMES)
    for name in NAMES:
        scope: dict[str, Any] = {"tl": tl}
        text = f"def k({name}: tl.Scalar[tl.i32]) -> None:\n    pass\n"
        linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(True), f"<{name}>")
        exec(compile(text, f"<{name}>", "exec"), scope)
        with pytest.raises(tn.KernelError) as caught:
            tn.kernel(scope["k"])
        assert [d.code for d in caught.value.diagnostics] == ["E006"]


MISUSE: dict[str, tuple[str, Callable[[], Any]]] = {
    "a kernel for a specialisation": ("L002", lambda: tn.compile(scale, "cpu")),
    "no target": ("X007", lambda: tn.compile(scale.specialize(factor=1.0), "None")),
    "a kernel for a program": ("L002", lambda: tn.device("cpu").launch(scale, grid=1, x_ptr=one())),
    "a specialisation for a program": (
        "L002",
        lambda: tn.device("cpu").launch(scale.specialize(factor=1.0), grid=1, x_ptr=one()),
    ),
    "a dict for a Const": ("L009", lambda: anything[1](one(), {})),
    "a list in a tuple": ("L009", lambda: anything[1](one(), ([],))),
    "a grid function without an argument": ("L008", lambda: scale[lambda: (1,)](one(), 1.0)),
    "dtypes that are no list": ("T010", lambda: tn.kernel(dtypes=3)(_generic)),
    "dtypes as text": ("T010", lambda: tn.kernel(dtypes="f32")(_generic)),
    "no dtypes": ("T010", lambda: tn.kernel(dtypes={"D": []})(_generic)),
}


class Bare:
    """An array that describes itself incompletely."""

    __cuda_array_interface__ = {"shape": (3,)}


def test_an_array_that_describes_itself_incompletely() -> None:
    with pytest.raises(tn.LaunchError) as caught:
        scale[1](Bare(), 1.0)
    assert "typestr" in str(caught.value)


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_refused_in_words(name: str) -> None:
    code, run = MISUSE[name]
    with pytest.raises(tn.TeenyError) as caught:
        run()
    assert [d.code for d in caught.value.diagnostics] == [code]
