"""The same small kernels in Triton and here agree, by Triton's interpreter where it is right, and on a GPU."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.agreement import sides
from tests.language import outcomes
from tests.language.records import read

PAIRS = sides.PAIRS
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEENY_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Triton's interpreter gives, in a process of its own."""
    if find_spec("triton") is None or find_spec("torch") is None:
        pytest.skip("needs Triton and torch")
    path = tmp_path_factory.mktemp("triton") / "found"
    command = [sys.executable, "-m", "tests.agreement.sides", str(path)]
    paths = os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", ""))).rstrip(os.pathsep)
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": paths})
    return pickle.loads(path.read_bytes())


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if not pair.apart])
def test_the_interpreter_agrees(name: str, interpreted: dict[str, Any], tmp_path: Path) -> None:
    pair, wanted = PAIRS[name], interpreted[name]
    assert not isinstance(wanted, str), wanted
    for executor in ("reference", "cpu"):
        assert not sides.faults(pair, sides.here(pair, executor, tmp_path), wanted)


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair.apart])
def test_where_it_does_not(name: str, interpreted: dict[str, Any], tmp_path: Path) -> None:
    """It still differs, as the reason says; and native code does what the reference does."""
    pair, theirs = PAIRS[name], interpreted[name]
    mine = sides.here(pair, "reference", tmp_path)
    assert not sides.faults(pair, sides.here(pair, "cpu", tmp_path), mine)
    assert isinstance(theirs, str) or sides.faults(pair, mine, theirs), "it agrees: take the reason away"


@pytest.mark.parametrize("name", PAIRS)
def test_a_gpu_agreed(name: str, tmp_path: Path) -> None:
    """As recorded by `python -m bench.gpu`, for the kernel as it is."""
    part = read("agreement")
    if name in part.accepted:
        return
    said = part.outcome(name, "cuda") or "no result"
    assert said == "ok", f"{said}; run python -m bench.gpu on a machine with a CUDA device"
    kernel = sides.executors.kernel_of(PAIRS[name].in_teeny(), tmp_path).specialize()
    stale = "the kernel has changed: run python -m bench.gpu, or python -m tests.language.matrix accept WHY"
    assert part.cells[name]["hash"] == outcomes.hash_of([kernel]), stale
