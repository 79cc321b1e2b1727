"""The compile matrix: a kernel of each family of operations, for each dtype that it takes, for each target.

By default each family and dtype is compiled for one target, another one each; `TEENY_FULL=1` (`make matrix`) compiles
all for all. Which Triton does it is the environment's choice: CONTRIBUTING.md says how to take the oldest.
"""

from __future__ import annotations

import os
from importlib import metadata

import pytest

from teeny.backends.triton import compile_module
from teeny.backends.triton.goal import AMD_ARCHITECTURES, ARCHITECTURES
from teeny.diag.errors import CompileError
from teeny.passes.expand import expand
from teeny.runtime.compilers import form_for
from teeny.runtime.target import Target
from tests.backends.triton.families import FAMILIES

pytestmark = pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")

FULL = bool(os.environ.get("TEENY_FULL"))
TARGETS: tuple[tuple[str, bool], ...] = (
    *((f"sm_{arch}", False) for arch in ARCHITECTURES),
    *((f"sm_{arch}", True) for arch in ARCHITECTURES),
    *((arch, False) for arch in AMD_ARCHITECTURES),
)
"""Architecture, and whether its code is portable."""
PAIRS = [(family, dtype) for family, made in FAMILIES.items() for dtype in made.dtypes]


def cells() -> list[tuple[str, str, str, bool]]:
    if FULL:
        return [(*pair, *target) for pair in PAIRS for target in TARGETS]
    return [(*pair, *TARGETS[(7 * at) % len(TARGETS)]) for at, pair in enumerate(PAIRS)]


def name(cell: tuple[str, str, str, bool]) -> str:
    family, dtype, arch, portable = cell
    return f"{family}-{dtype}-{arch}{'-portable' if portable else ''}".replace(" ", "-")


@pytest.mark.parametrize("cell", cells(), ids=name)
def test_compiles(cell: tuple[str, str, str, bool]) -> None:
    family, dtype, arch, portable = cell
    kernel = FAMILIES[family].specialize(dtype)
    if family == "whole products" and arch == "sm_75":
        with pytest.raises(CompileError, match=r"Triton has no `tl\.dot` of i8 for sm_75"):
            compile_module(kernel.module, arch, portable=portable)
        return
    made = compile_module(expand(form_for(kernel, Target(arch, portable))), arch, portable=portable)
    assert made.metadata["name"] == kernel.name
    assert made.metadata["arch"] in (arch, f"{arch}a")
    machine = "hsaco" if arch.startswith("gfx") else "cubin"
    assert portable or made.files[machine].startswith(b"\x7fELF")


def test_the_sample_has_every_family_dtype_and_target() -> None:
    found = cells()
    assert {cell[:2] for cell in found} == set(PAIRS)
    assert {cell[2:] for cell in found} == set(TARGETS)
    assert len({cell[1] for cell in found}) == 13
