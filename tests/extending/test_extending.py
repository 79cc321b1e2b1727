"""An operation from outside the package: checked, run on every executor, printed, compiled for a GPU, typed, cached."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.backends.reference import run
from teeny.diag import user_location
from teeny.ir.origin import foreign
from teeny.ir.schema import registry
from teeny.ir.text import parse_module, print_module
from teeny.ops.function import functions
from teeny.runtime.definition import collecting

HERE = Path(__file__).resolve().parent
NAME = "example.softsign"
X = np.array([-1000.0, -3.0, -1.0, -0.25, -0.0, 0.0, 0.5, 7.0], np.float32)


@pytest.fixture(scope="module")
def kernels() -> Iterator[ModuleType]:
    """The operation is in the registry for these tests alone."""
    before = dict(registry())
    yield import_module("tests.extending.kernels")
    for name in set(registry()) - set(before):
        del registry()[name]
    for name in ("tests.extending.kernels", "tests.extending.softsign", "tests.extending.rejected"):
        sys.modules.pop(name, None)


def softsign(x: Any) -> Any:
    """In a wider dtype, rounded once."""
    wide = x.astype(np.float64)
    return (wide / (1 + np.abs(wide))).astype(x.dtype)


@pytest.mark.parametrize("name", ["by_operation", "by_composition"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_it_runs_on_the_cpu(name: str, dtype: Any, kernels: ModuleType) -> None:
    x = X.astype(dtype)
    y = np.full(8, 9, dtype)
    getattr(kernels, name)[(2,)](x, y, 7, BLOCK=4)
    assert y[7] == 9
    np.testing.assert_array_max_ulp(y[:7], softsign(x)[:7], 1)


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_the_reference_agrees_bit_for_bit(dtype: str, kernels: ModuleType) -> None:
    made = kernels.by_operation.specialize(D=getattr(tl, dtype), BLOCK=8)
    x = X.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype])
    native, reference = np.zeros_like(x), np.zeros_like(x)
    kernels.by_operation[(1,)](x, native, 8, BLOCK=8)
    run(made.module, [x, reference, np.int32(8)], (1, 1, 1))
    assert native.tobytes() == reference.tobytes()


def test_the_text_has_it_and_reads_back(kernels: ModuleType) -> None:
    made = kernels.by_operation.specialize(D=tl.f32, BLOCK=8)
    text = print_module(made.module)
    assert f"{NAME} %x : tensor<8xf32>" in text
    assert print_module(parse_module(text)) == text


def test_the_text_for_triton_has_what_it_stands_for(kernels: ModuleType) -> None:
    mlir = kernels.by_operation.specialize(D=tl.f32, BLOCK=8).mlir
    assert NAME not in mlir
    assert [m for m in ("math.absf %x", "arith.addf", "arith.divf %x") if m in mlir] == [
        "math.absf %x",
        "arith.addf",
        "arith.divf %x",
    ]
    x, y = X.copy(), np.zeros(8, np.float32)
    run(parse_module(mlir), [x, y, np.int32(8)], (1, 1, 1))
    assert (y == softsign(X)).all()


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.parametrize("name", ["by_operation", "by_composition"])
@pytest.mark.parametrize("dtype", [tl.f16, tl.f32])
def test_triton_compiles_it(name: str, dtype: Any, kernels: ModuleType) -> None:
    program = tn.compile(getattr(kernels, name).specialize(D=dtype, BLOCK=128), "sm_90")
    assert re.search(r"\bdiv\.full\.f32\b", program.ptx)
    assert len(program.cubin) > 500


def test_the_checks_know_its_meaning(kernels: ModuleType) -> None:
    out = np.zeros(1, np.float32)
    kernels.summed[(1,)](X[3:7].copy(), out, 4, BLOCK=8)  # no finding: softsign(0) is 0
    assert out[0] == pytest.approx(float(softsign(X[3:7]).sum()), rel=1e-6)


def test_it_stays_out_of_the_language(kernels: ModuleType) -> None:
    assert "softsign" not in functions()
    with pytest.raises(tn.KernelError, match="`softsign` is part of the kernel language"):
        import_module("tests.extending.softsign").softsign(1.0)


def marked() -> set[int]:
    lines = (HERE / "rejected.py").read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if "# BAD" in line}


def test_the_compiler_refuses_what_is_marked(kernels: ModuleType) -> None:
    with collecting() as found:
        import_module("tests.extending.rejected")
    assert {user_location(one.primary.location).span.line for one in found if one.primary is not None} == marked()
    assert any(one.message.startswith("`softsign` needs Float; `x` is i32") for one in found), [
        one.message for one in found
    ]


def test_a_type_checker_refuses_the_same() -> None:
    pytest.importorskip("pyright", reason="pyright is not installed")
    files = [str(HERE / name) for name in ("softsign.py", "kernels.py", "rejected.py")]
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent.parent)
    found = json.loads(done.stdout)["generalDiagnostics"]
    places = {(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in found}
    assert places == {("rejected.py", line) for line in marked()}


def test_where_it_comes_from_is_part_of_the_key(kernels: ModuleType) -> None:
    module = kernels.by_operation.specialize(D=tl.f32, BLOCK=8).module
    assert list(foreign(module)) == [f"operation {NAME}"]
    assert foreign(kernels.by_composition.specialize(D=tl.f32, BLOCK=8).module) == {}


SCALED = """\
from __future__ import annotations
import numpy as np
import teeny as tn
import teeny.language as tl
from teeny.language.typing import F, Tensor
from teeny.ops.extend import FLOAT, constant, elementwise, language

scaled_ = elementwise(
    "example.scaled", FLOAT, 1, lambda np, x: x * FACTOR, lambda b, x: b.fmul(x, b.const(b.type_of(x), FACTOR)),
    group="scaled",
)

@language(lambda b, shape, dtype, x: b.create(scaled_, x.value), elementwise=True)
def scaled(x: Tensor[F]) -> Tensor[F]: ...
"""
MAIN = """\
import numpy as np
import teeny as tn
import teeny.language as tl
from scaled import scaled

@tn.kernel
def kernel(x_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(x_ptr, scaled(tl.load(x_ptr)))

x = np.ones(1, np.float32)
kernel[(1,)](x)
print(x[0])
"""


def test_a_rule_that_changes_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "main.py").write_text(MAIN)
    printed: list[str] = []
    for factor in (2.0, 3.0, 2.0):
        (tmp_path / "scaled.py").write_text(SCALED.replace("FACTOR", str(factor)))
        command = [sys.executable, "-B", "main.py"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        printed.append(done.stdout.strip())
    assert printed == ["2.0", "3.0", "2.0"]
