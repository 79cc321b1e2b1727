"""Codes whose pages show no code, because a file, a package or a device has a part in them: each is produced here.

`ELSEWHERE` names those that need more, with the test that has it.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path

import pytest

import teeny as tn
from teeny.backends.cpu import engine
from teeny.backends.cpu.kernel import compile_module
from teeny.backends.triton.wheel import version
from teeny.cli.files import SourcePath, importing, load
from teeny.diag.codes import catalogue
from teeny.diag.errors import TeenyError
from teeny.ir.store import Store
from teeny.ir.text import parse_module

ROOT = Path(__file__).resolve().parent.parent.parent
WITHOUT = {code.id for code in catalogue().values() if "```python" not in code.text}
ELSEWHERE = {
    "B001": "tests/cli/test_record.py",
    "L013": "tests/runtime/test_device.py",
    "X002": "tests/backends/triton/test_compile.py",
    "X003": "tests/runtime/test_cuda.py",
    "X009": "tests/cli/test_check_refused.py",
    "I001": "tests/cli/test_main.py",
}


def _file(folder: Path) -> None:
    path = folder / "broken.py"
    path.write_text("import nowhere_to_be_found\n")
    with importing(folder):
        load(SourcePath.of(path))


def _triton(folder: Path) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata, "version", missing)
        version()


def _llvm(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "llvmlite.binding", None)
        inspect.unwrap(vars(engine)["_llvm"])()


def _assembly(folder: Path) -> None:
    import_module("teeny.language")  # all operations enter the registry
    attributes = '{constraints = "=r,r", packed_element = 1 : i32, pure = true}'
    assembly = f'%y = tt.elementwise_inline_asm "mov.b32 $0, $1;" {attributes} %x : i32 -> i32'
    compile_module(parse_module(f"tt.func public @k(%x: i32) {{ {assembly} tt.return }}"))


PRODUCERS: dict[str, Callable[[Path], object]] = {
    "E017": _file,
    "L004": lambda folder: tn.device("tpu"),
    "X001": _triton,
    "X005": _llvm,
    "X006": lambda folder: parse_module("tt.func @k() { tt.nothing }"),
    "X008": _assembly,
}


def test_every_code_is_produced_somewhere() -> None:
    assert set(PRODUCERS) | set(ELSEWHERE) | {"X004"} == WITHOUT
    for code, file in ELSEWHERE.items():
        assert code in (ROOT / file).read_text("utf-8")


@pytest.mark.parametrize("code", PRODUCERS)
def test_the_code_is_given(code: str, tmp_path: Path) -> None:
    with pytest.raises(TeenyError) as caught:
        PRODUCERS[code](tmp_path)
    assert {one.code for one in caught.value.diagnostics} == {code}


def test_a_cache_folder_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("teeny.ir.store._warned", set[str]())
    (tmp_path / "file").touch()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Store(tmp_path / "file")
    (one,) = caught
    assert str(one.message).startswith("warning[X004]: ")
