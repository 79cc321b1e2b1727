"""The matrix has no hole without a reason, and its recorded outcomes are fresh and good."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.language import cover, matrix, outcomes, workers
from tests.language.cells import cells
from tests.language.records import COMMANDS, FOLDER, NEWEST, OLDEST, PARTS, Part, read
from tests.language.test_matrix import ELSEWHERE

SHARDS = 8
LABELS = tuple(cells())


def test_every_function_and_dtype_has_a_cell_or_a_reason() -> None:
    missing = cover.missing()
    assert not missing, (
        "no cell of the matrix has these functions with these dtypes, which their signatures take; add cells, or a "
        f"reason to tests/language/cover.py: {', '.join(missing)}"
    )


def test_reasons_are_about_what_there_is() -> None:
    assert not [name for name in ELSEWHERE if name not in cover.written()]
    lines = {(row.function, row.dtype) for row in cover.rows() if row.cells}
    assert not [pair for pair in cover.LACKING if pair in lines or pair[0] not in cover.written()]


@pytest.mark.parametrize("name", PARTS)
def test_no_recorded_outcome_is_a_failure(name: str) -> None:
    part = read(name)
    failed = part.failures(LABELS)
    assert not failed, f"{len(failed)} cells failed ({COMMANDS[name]}):\n" + "\n".join(failed[:40])
    refused = [said for cell in part.cells.values() for said in cell.get("not", {}).values()]
    assert all(said.startswith("refused: ") and len(said) > 30 for said in refused), "a refusal says why"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_recorded_outcomes_are_about_the_kernels_as_they_are(shard: int) -> None:
    """A change of the text that a cell's kernel has makes its results stale."""
    labels = tuple(label for label in LABELS if zlib.crc32(label.encode()) % SHARDS == shard)
    told: list[str] = []
    for name in PARTS:
        found = matrix.stale(read(name), labels)
        if found:
            shown = ", ".join(found[:12]) + (", ..." if len(found) > 12 else "")
            told.append(f"{len(found)} stale or missing in {name}.json: {shown}\n  refresh them: {COMMANDS[name]}")
            if name == "gpu":
                told.append('  without a GPU: python -m tests.language.matrix accept "what changed"')
    assert not told, "\n".join(told)


def test_the_records_name_their_versions() -> None:
    assert read(OLDEST).about["triton"].startswith(OLDEST)
    assert read(NEWEST).about["triton"].startswith(NEWEST)


def test_files_of_records_are_those_of_the_parts() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} <= {*PARTS, "agreement"}


def test_a_part_is_kept_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.language.records.FOLDER", tmp_path)
    part = Part("gpu", {"device": "one"})
    part.note("a", {"hash": "1", "outcomes": {"cuda": "ok"}, "error": 1.5})
    part.note("b", {"hash": "2", "outcomes": {"cuda": "failed: lanes"}})
    part.note("c", {"died": "its process ended with status -11"})
    part.note("gone", {"hash": "4", "outcomes": {"cuda": "ok"}})
    part.accepted = {"a": "later", "gone": "later"}
    part.keep(["a", "b", "c"])
    found = read("gpu")
    assert set(found.cells) == {"a", "b", "c"}
    assert (found.about, found.accepted) == ({"device": "one"}, {"a": "later"})
    assert [found.outcome(label, "cuda") for label in "abcd"] == [
        "ok", "failed: lanes", "failed: its process ended with status -11", "",
    ]  # fmt: skip
    assert found.good("a", "1")
    assert not found.good("a", "2")
    assert not found.good("b", "2")
    assert [line.split(" on ")[0] for line in found.failures(["a", "b", "c", "d"])] == ["b", "c"]


def job(label: str, folder: Path, argument: str) -> dict[str, Any]:
    """For the test of workers: does what its label says."""
    import os
    import time

    if label == "ends":
        os._exit(7)
    if label == "hangs":
        time.sleep(60)
    if label == "raises":
        raise ValueError("no such thing")
    print("noise")
    return {"said": argument + label, "last": label == "last"}


def test_a_job_that_dies_is_a_result() -> None:
    labels = ["one", "ends", "two", "raises", "last", "hangs", "three"]
    found = dict(workers.run("tests.language.test_records:job", labels, argument="+", jobs=1, seconds=6))
    assert [found[label].get("said") for label in ("one", "two", "last", "three")] == [
        "+one",
        "+two",
        "+last",
        "+three",
    ]
    assert found["ends"]["died"].startswith("its process ended with status 7")
    assert "took more than" in found["hangs"]["died"]
    assert found["raises"]["died"].endswith("no such thing")


def test_a_recorded_compilation_is_repeated(tmp_path: Path) -> None:
    """A few cells, another target each: what the records say is what the installed Triton does."""
    installed = ".".join(outcomes.installed().split(".")[:2])
    if installed not in (OLDEST, NEWEST):
        pytest.skip("records are of the oldest and the newest supported Triton")
    part = read(installed)
    for at, label in enumerate(LABELS[:: max(len(LABELS) // 12, 1)]):
        if part.outcome(label, "sm_90"):
            target = outcomes.TARGETS[at % len(outcomes.TARGETS)]
            kernel = outcomes.kernels(outcomes.sheet_of(label), tmp_path)[0]
            assert outcomes.compiled(kernel, target) == part.outcome(label, target), (label, target)


class Device:
    """A stand-in for a CUDA device."""

    architecture = "sm_75"


@pytest.mark.parametrize(("label", "off"), [("exp-f32", 0.0), ("exp-f32", 1.0), ("truediv-f16", 0.0), ("sum-f32", 0.0)])
def test_the_job_of_a_gpu(label: str, off: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the CPU in its place: right results are, wrong ones are not."""

    def run(kernel: Any, arguments: Any, grid: Any, constants: Any) -> None:
        kernel[grid](*arguments, **constants)
        if off:
            arguments[-1][40] += off

    monkeypatch.setattr("tests.language.executors._on_cuda", run)

    def device(at: int) -> Device:
        return Device()

    def synchronize(device: Device) -> None:
        pass

    monkeypatch.setattr("teeny.runtime.cuda.cuda_device", device)
    monkeypatch.setattr("teeny.runtime.cuda.synchronize", synchronize)
    found = outcomes.gpu_cell(label, tmp_path, "*")
    assert found["outcomes"]["cuda"].startswith("failed: cuda: tl.exp(x1)" if off else "ok")
    assert off or found["error"] <= 2
