"""`teeny check` on files of Triton: kernels are found without running the file, types are stated, seen or assumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teeny.cli.main import main

pytest.importorskip("triton")

FILE = """\
import os, missing_package
import triton
import triton.language as tl
from missing_package.tools import decorate, WIDTH
try:
    import also_missing
    HAVE = True
except ImportError:
    HAVE = False
os.environ["RAN"] = "yes"

CHUNK = tl.constexpr(16)


def configs():
    return [triton.Config({"BLOCK": b}) for b in (64, 128)]


@triton.jit
def helper(x):
    return x * CHUNK


@decorate(width=WIDTH)
@triton.autotune(configs=configs(), key=["n"])
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, helper(x), mask=i < n)


@triton.jit
def row_max(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr, tl.max(x, axis=0))


def run(x):
    import torch
    y = torch.empty(10, dtype=torch.float16)
    row_max[(1,)](torch.randn(10).half(), y, 10, BLOCK=16)
"""


def checked(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    status = main(["check", str(path), *options])
    return status, capsys.readouterr().out


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.py"
    path.write_text(FILE)
    return path


def test_findings_and_what_was_assumed(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAN", raising=False)
    status, out = checked(file, capsys)
    assert status == 1
    assert out.count("error[F002]") == 1
    line = FILE[: FILE.index("    row_max[(1,)]")].count("\n") + 1
    assert f"`row_max`: launch at line {line}: x_ptr=*fp16, y_ptr=*fp16, n=10, BLOCK=16" in out
    assert "`scale`: assumed: x_ptr=*fp32, y_ptr=*fp32, n=i32" in out
    assert "not imported: os, missing_package" in out
    assert "left out: decorate(width=WIDTH)" in out
    assert "helper" not in out.replace("helper(x)", "")
    assert "RAN" not in __import__("os").environ


def test_stated_signatures(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = checked(file, capsys, "--signature", "row_max: x_ptr=*bf16, y_ptr=*bf16, n=i64, BLOCK=32")
    assert "`row_max`: as stated: x_ptr=*bf16, y_ptr=*bf16, n=i64, BLOCK=32" in out


def test_signatures_of_the_project(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "pyproject.toml").write_text(
        '[tool.teeny.signatures]\nscale = "x_ptr=*i32, y_ptr=*i32, n=i32, BLOCK=64"\n'
    )
    _, out = checked(file, capsys)
    assert "`scale`: as stated: x_ptr=*i32" in out


@pytest.mark.parametrize("text", ["row_max", "row_max: x_ptr", "row_max: x_ptr=tl.nothing"])
def test_signatures_that_cannot_be_read(file: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["check", str(file), "--signature", text]) == 2
    assert "signature" in capsys.readouterr().err or text


def test_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = checked(file, capsys, "--format", "json")
    data = json.loads(out)
    assert [one["code"] for one in data["findings"]] == ["F002"]
    assert any("assumed" in note for note in data["notes"])
    assert data["unchecked"] == []


def test_missing_modules_that_kernels_need_are_stubbed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import triton\nimport triton.language as tl\nimport nowhere\n"
        "@triton.heuristics({'B': lambda args: nowhere.best(args)})\n@triton.jit\n"
        "def k(x_ptr, n, B: tl.constexpr):\n    i = tl.arange(0, 64)\n"
        "    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)\n"
    )
    status, out = checked(path, capsys)
    assert "missing, stubbed: nowhere" in out
    assert status == 0, out


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.py").write_text(FILE)
    (tmp_path / "other.py").write_text("print('no kernels here')\n")
    status, out = checked(tmp_path, capsys)
    assert status == 1
    assert "a.py" in out
    assert "other.py" not in out


INNER = """\
import triton
import triton.language as tl


class Operations(Missing):
    WIDTH = 4

    @staticmethod
    @triton.jit
    def held(x_ptr, n, B: tl.constexpr):
        i = tl.arange(0, B)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(x_ptr, tl.max(x, 0))


def make(act, width):
    @triton.jit
    def closure(x_ptr, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x_ptr + i, act(tl.load(x_ptr + i)))

    @triton.jit
    def free(x_ptr, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)

    return closure, free
"""


def test_kernels_in_classes_and_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "inner.py"
    path.write_text(INNER)
    status, out = checked(path, capsys)
    assert status == 1
    assert "tl.store(x_ptr, tl.max(x, 0))" in out
    assert "inner.py:13:25" in out
    assert "`free`: assumed" in out
    assert "not checked: `closure`: it is made by `make` with values of its own: `act`" in out
