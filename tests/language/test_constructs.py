"""Every construct that kernels use works, or is refused with the way out; the meaning is Python's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny as tn
from tests.language.constructs import CONSTRUCTS, REFUSED, Construct
from tests.language.executors import EXECUTORS, kernel_of
from tests.language.plain_python import run as meaning

DEFAULTS: dict[str, Any] = {"K": 3, "FLAG": True, "NAME": "a", "O": None}


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_construct(name: str, tmp_path: Path) -> None:
    construct = CONSTRUCTS[name]
    kernel = kernel_of(construct.text, tmp_path)
    x = np.arange(1, 17, dtype=np.int32)
    for given in construct.consts:
        consts = {**DEFAULTS, **{k: v for k, v in given.items() if k != "o"}}
        for n in construct.n:
            for m in construct.m:
                wanted = _arrays(x, "o" in given)
                meaning(construct.text, wanted, [n, m], consts)
                for executor in EXECUTORS:
                    found = _arrays(x, "o" in given)
                    _launch(kernel, executor, found, [n, m], consts)
                    for a, b in zip(wanted, found, strict=True):
                        assert a is b is None or np.array_equal(a, b), f"{executor}, {given}, n={n}, m={m}: {a} {b}"


def _arrays(x: Any, absent: bool) -> list[Any]:
    return [x.copy(), np.full(8, -1, np.int32), None if absent else np.full(4, 40, np.int32)]


def _launch(kernel: Any, executor: str, arrays: list[Any], scalars: list[int], consts: dict[str, Any]) -> None:
    if executor == "cpu":
        kernel[(1,)](*arrays, *scalars, **consts)
        return
    from teeny.backends.reference import run

    absent = {"o": None} if arrays[2] is None else {}
    made = kernel.specialize(**consts, **absent)
    run(made.module, [a for a in arrays if a is not None] + scalars, (1, 1, 1))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    body, code, help = REFUSED[name]
    with pytest.raises(tn.KernelError) as caught:
        kernel_of(Construct(body).text, tmp_path)
    found = caught.value.diagnostics[0]
    assert found.code == code
    assert help in " ".join(found.help), found.help
    assert len({one.code for one in caught.value.diagnostics}) == 1
