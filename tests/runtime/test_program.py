"""Programs for every kind of target: their code by kind, saved and read again; targets of devices that nobody knows."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.runtime.options import Options
from teeny.runtime.program import build
from teeny.runtime.target import NVIDIA, target_of_device

needs_triton = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
D = TypeVar("D", bound=tl.Float)


@tn.kernel
def triple(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) * 3.0)


KERNEL = triple.specialize(D=tl.f32, BLOCK=64)
FILES = {
    "sm_80": ["ttir", "ttgir", "llir", "ptx", "cubin", "asm"],
    "gfx942": ["ttir", "ttgir", "llir", "asm", "hsaco"],
    "cpu": ["llir", "asm", "object"],
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "cache"))


@needs_triton
@pytest.mark.parametrize("target", FILES)
def test_code_of_every_kind(target: str, tmp_path: Path) -> None:
    made = tn.compile(KERNEL, target)
    assert list(made.files) == FILES[target]
    assert all(made.files.values())
    assert tn.compile(KERNEL, target).files == made.files
    made.save(tmp_path / "saved")
    again = tn.Program.load(tmp_path / "saved")
    assert again.files == made.files
    assert list(again.files) == FILES[target]
    assert (again.target, again.metadata) == (made.target, made.metadata)
    assert made.threads_per_block == {"sm_80": 128, "gfx942": 256, "cpu": 1}[target]


@needs_triton
def test_portable_programs_are_ptx(tmp_path: Path) -> None:
    made = tn.compile(KERNEL, tn.Target("sm_90", portable=True))
    assert made.ptx == made.file("asm").decode()
    assert ".target sm_90\n" in made.ptx
    assert made.metadata["arch"] == "sm_90"
    with pytest.raises(tn.CompileError, match="a program for sm_90, portable has no cubin; it has ttir, ttgir,"):
        assert made.cubin
    made.save(tmp_path / "saved")
    assert tn.Program.load(tmp_path / "saved").target.portable


def test_native_code_as_text() -> None:
    made = tn.compile(KERNEL, "cpu")
    symbol = str(made.metadata["symbol"])
    assert f"@{symbol}(" in made.file("llir").decode()
    assert f"{symbol}:" in made.file("asm").decode()
    with pytest.raises(tn.CompileError, match="a program for cpu has no ttir; it has llir, asm, object"):
        made.file("ttir")


def test_a_launch_keeps_only_what_runs_and_compile_adds_the_rest() -> None:
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    triple[1](x, y, BLOCK=64)
    assert (y == 3).all()
    kernel = triple.specialize(D=tl.f64, BLOCK=64)
    assert list(build(kernel, tn.Target("cpu"), Options(), ()).files) == ["object"]
    assert list(tn.compile(kernel, "cpu").files) == FILES["cpu"]
    assert list(build(kernel, tn.Target("cpu"), Options(), ()).files) == FILES["cpu"]


@needs_triton
def test_no_device_here_runs_the_code_of_amd() -> None:
    x = np.ones(64, np.float32)
    with pytest.raises(tn.LaunchError) as caught:
        tn.device("cpu").launch(tn.compile(KERNEL, "gfx942"), 1, x_ptr=x, y_ptr=x)
    (found,) = caught.value.diagnostics
    assert found.code == "L013"
    assert dict(found.facts)["found"] == "a program for gfx942"


@pytest.mark.parametrize("name", NVIDIA)
def test_a_known_device_has_its_own_target(name: str) -> None:
    assert target_of_device(name) == tn.Target(name)


@pytest.mark.parametrize(
    ("device", "older"), [("sm_88", "sm_87"), ("sm_103", "sm_100"), ("sm_110", "sm_100"), ("sm_121", "sm_120")]
)
def test_an_unknown_device_takes_portable_code(device: str, older: str) -> None:
    assert target_of_device(device) == tn.Target(older, portable=True)


def test_a_device_that_is_too_old() -> None:
    with pytest.raises(tn.CompileError, match="'sm_70' is no target"):
        target_of_device("sm_70")


def test_the_cluster_of_a_launch_is_the_programs() -> None:
    y = np.zeros(64, np.float32)
    for cluster in (None, 1):
        tn.device("cpu").launch(tn.compile(KERNEL, "cpu"), tn.LaunchConfig(1, cluster), x_ptr=y, y_ptr=y)
    with pytest.raises(tn.LaunchError, match="was compiled for clusters of 1"):
        tn.device("cpu").launch(tn.compile(KERNEL, "cpu"), tn.LaunchConfig(1, 2), x_ptr=y, y_ptr=y)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, "the package `triton` is not installed"),
        ("3.5.1", "triton 3.5.1 is installed, and teeny works with 3.6 to 3.9"),
        ("3.10.0", "triton 3.10.0 is installed, and teeny works with 3.6 to 3.9"),
    ],
)
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_only_gpus_need_a_right_triton(
    version: str | None, said: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(name: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr("importlib.metadata.version", installed)
    with pytest.raises(tn.CompileError) as caught:
        tn.compile(KERNEL, target)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("X001", said)
    assert any("pip install" in line for line in found.help)
    assert tn.compile(KERNEL, "cpu").file("object")
