"""Each option of `tn.compile` shows in the code; what a target lacks is refused."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import teeny as tn
import teeny.language as tl
from tests.backends.triton.kernels import copy, product, scale, total

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")

COPY = copy.specialize(D=tl.f32, BLOCK=1024)
PRODUCT = product.specialize(D=tl.f16, BM=64, BN=64, BK=32)
TOTAL = total.specialize(D=tl.f32, ROWS=64, COLS=64)
SCALE = scale.specialize(D=tl.f32, BLOCK=128)
WIDE = {"a_ptr": 16, "b_ptr": 16, "k": 16}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("warps", [1, 8, 32])
def test_num_warps(warps: int) -> None:
    made = tn.compile(COPY, "sm_80", num_warps=warps)
    assert f".reqntid {32 * warps}" in made.ptx
    assert made.threads_per_block == 32 * warps
    if warps <= 16:
        amd = tn.compile(COPY, "gfx950", num_warps=warps)
        assert amd.threads_per_block == 64 * warps
        assert f".max_flat_workgroup_size: {64 * warps}" in amd.file("asm").decode()


def test_num_stages() -> None:
    made = {n: tn.compile(PRODUCT, "sm_80", num_stages=n, hints=WIDE) for n in (1, 2, 4)}
    waits = {n: [int(w) for w in re.findall(r"cp\.async\.wait_group\s+(\d)", made[n].ptx)] for n in made}
    assert waits[1] == []
    assert max(waits[2]) < max(waits[4])
    assert made[4].metadata["shared"] > made[2].metadata["shared"]
    assert [made[n].metadata["num_stages"] for n in made] == [1, 2, 4]
    default = tn.compile(PRODUCT, "sm_80", hints=WIDE), tn.compile(PRODUCT, "gfx942", hints=WIDE)
    assert [p.metadata["num_stages"] for p in default] == [3, 2]


def test_num_ctas() -> None:
    one, two = (tn.compile(TOTAL, "sm_90", num_ctas=n) for n in (1, 2))
    assert ".reqnctapercluster 2" in two.ptx
    assert "cluster" not in one.ptx
    assert (one.metadata["num_ctas"], two.metadata["num_ctas"]) == (1, 2)
    assert one.threads_per_block == two.threads_per_block


def test_maxnreg() -> None:
    free, tight = tn.compile(PRODUCT, "sm_80"), tn.compile(PRODUCT, "sm_80", maxnreg=64)
    assert ".maxnreg 64" in tight.ptx
    assert ".maxnreg" not in free.ptx
    assert free.cubin != tight.cubin


def test_ptx_version() -> None:
    made = tn.compile(COPY, "sm_80", ptx_version=75)
    assert "\n.version 7.5\n" in made.ptx
    assert made.metadata["ptx_version"] == "7.5"


@pytest.mark.parametrize(
    ("target", "fused", "apart"), [("sm_80", r"fma\.rn\.f32", "mul"), ("gfx942", r"v_(?:pk_)?fma\w*_f32", "v_mul")]
)
def test_fp_fusion(target: str, fused: str, apart: str) -> None:
    together, separate = (tn.compile(SCALE, target, fp_fusion=f).file("asm").decode() for f in (True, False))
    assert re.search(fused, together)
    assert not re.search(fused, separate)
    assert apart in separate


def test_hints() -> None:
    narrow = tn.compile(COPY, "sm_80")
    wide = tn.compile(COPY, "sm_80", hints={"x_ptr": 16, "y_ptr": 16, "n": 16})
    assert "ld.global.v4" not in narrow.ptx
    assert "ld.global.v4" in wide.ptx
    assert (narrow.hints, wide.hints) == ((0,) * 3, (16,) * 3)


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "cpu": ("cpu", {"num_warps": 8}, "it is an option for GPUs"),
    "cpu without products": ("cpu", {"fp_fusion": False}, "it is an option for GPUs"),
    "amd registers": ("gfx942", {"maxnreg": 64}, "only NVIDIA's GPUs have it"),
    "amd PTX": ("gfx942", {"ptx_version": 80}, "only NVIDIA's GPUs have it"),
    "amd clusters": ("gfx950", {"num_ctas": 2}, "clusters begin with NVIDIA's sm_90"),
    "amd warps": ("gfx950", {"num_warps": 32}, "at most 16 on gfx950"),
    "old clusters": ("sm_89", {"num_ctas": 2}, "clusters begin with NVIDIA's sm_90"),
    "old PTX": ("sm_90", {"ptx_version": 78}, "at least 80, the first version with sm_90"),
    "warps": ("sm_90", {"num_warps": 3}, "a power of two from 1 to 32"),
    "stages": ("sm_90", {"num_stages": 0}, "an int from 1 to 64"),
    "clusters": ("sm_90", {"num_ctas": 32}, "a power of two from 1 to 16"),
    "registers": ("sm_90", {"maxnreg": 8}, "an int from 16 to 255"),
    "version": ("sm_90", {"ptx_version": "8.0"}, "an int from 60 to 99"),
    "fusion": ("sm_90", {"fp_fusion": 1}, "True or False"),
    "name": ("sm_90", {"num_wraps": 4}, "num_warps, num_stages, num_ctas"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options(name: str) -> None:
    target, options, said = WRONG[name]
    with pytest.raises(tn.LaunchError) as caught:
        tn.compile(COPY, target, **options)
    (found,) = caught.value.diagnostics
    assert found.code == "L014"
    assert dict(found.facts)["argument"] == next(iter(options))
    assert said in str(caught.value)


def test_the_defaults_may_be_said_anywhere() -> None:
    said = {"num_warps": 4, "num_ctas": 1, "maxnreg": None, "ptx_version": None, "fp_fusion": True}
    for target in ("cpu", "gfx942", "sm_75"):
        assert tn.compile(COPY, target, **said).target.name == target


def test_the_cache_is_asked_unless_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    from teeny.backends.triton import compile as triton

    made: list[str] = []
    text = triton.compile_text

    def counted(*args: Any, **options: Any) -> Any:
        made.append("compiled")
        return text(*args, **options)

    monkeypatch.setattr(triton, "compile_text", counted)
    first = tn.compile(COPY, "sm_80")
    again = tn.compile(COPY, "sm_80")
    assert len(made) == 1
    assert again.files == first.files
    assert again.metadata == first.metadata
    assert tn.compile(COPY, "sm_80", force=True).files == first.files
    assert len(made) == 2
    tn.compile(COPY, tn.Target("sm_80", portable=True))
    tn.compile(COPY, "sm_80", num_warps=8)
    assert len(made) == 4
