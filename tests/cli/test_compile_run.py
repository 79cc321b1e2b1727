"""`teeny compile` and `teeny run`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from teeny.cli.main import main
from teeny.cli.target import value_of
from teeny.language import f32

SOFTMAX = str(Path(__file__).resolve().parent.parent.parent / "examples" / "softmax.py")
CHOICES = ["-s", "D=f32", "-s", "BLOCK_SIZE=16"]
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")


def test_mlir(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["compile", f"{SOFTMAX}:softmax", *CHOICES]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert text.startswith("module {\n  tt.func public @softmax(%x_ptr: !tt.ptr<f32>")
    assert "tensor<16xf32>" in text


def test_choices_that_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    for choices, code in (
        (["-s", "D=f32"], "error[L001]"),
        (["-s", "D=i32", "-s", "BLOCK_SIZE=16"], "error[L003]"),
        (["-s", "D=f32", "-s", "BLOCK_SIZE=x"], "error[L009]"),
        (["-s", "D=f32", "-s", "BLOCK_SIZE=12"], "error[S002]"),
        ([*CHOICES, "-s", "BLOK=1"], "error[L001]"),
    ):
        assert main(["compile", SOFTMAX, *choices]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(code)


@needs_triton
def test_ptx_and_cubin(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["compile", SOFTMAX, *CHOICES, "--emit", "ptx", "--target", "sm_80", "--num-warps", "2"]) == 0
    ptx = capsysbinary.readouterr().out.decode()
    assert ".target sm_80" in ptx
    assert ".reqntid 64" in ptx
    cubin = tmp_path / "softmax.cubin"
    assert main(["compile", SOFTMAX, *CHOICES, "--emit", "cubin", "-o", str(cubin)]) == 0
    assert cubin.read_bytes().startswith(b"\x7fELF")
    assert main(["compile", SOFTMAX, *CHOICES, "--emit", "cubin", "-o", str(tmp_path / "no" / "x")]) == 2


@needs_triton
def test_a_target_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    for target in ("sm_91", "sm90x", "x86"):
        assert main(["compile", SOFTMAX, *CHOICES, "--emit", "ptx", "--target", target]) == 1
        assert "error[X00" in capsys.readouterr().err


def test_native_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "softmax.o"
    assert main(["compile", SOFTMAX, *CHOICES, "--emit", "object", "-o", str(file)]) == 0
    assert len(file.read_bytes()) > 500
    assert main(["compile", SOFTMAX, *CHOICES, "--emit", "ptx", "--target", "cpu"]) == 2
    assert "there is no ptx for cpu; there is llir, asm, object" in capsys.readouterr().err


def test_a_faulty_file_shows_its_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faulty = tmp_path / "faulty.py"
    faulty.write_text(Path(SOFTMAX).read_text().replace("mask=mask, other", "mask=cols, other"))
    for words in (["compile", str(faulty)], ["run", str(faulty)]):
        assert main(words) == 1
        assert "error[T004]" in capsys.readouterr().err


def test_a_safety_finding_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unfilled = tmp_path / "unfilled.py"
    unfilled.write_text(Path(SOFTMAX).read_text().replace(', other=-float("inf")', ""))
    assert main(["compile", str(unfilled), *CHOICES]) == 1
    assert capsys.readouterr().err.count("error[F001]") == 1


def test_run_prints_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "y.npy"
    words = ["x_ptr=f32[4,7]", "y_ptr=f32[4,7]", "n_cols=7", "BLOCK_SIZE=8", "--save", f"y_ptr={saved}"]
    assert main(["run", f"{SOFTMAX}:softmax", "--grid", "4", *words]) == 0
    shown = capsys.readouterr().out
    y = np.load(saved)
    x = np.random.default_rng(0).standard_normal((4, 7)).astype(np.float32)
    num = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, num / num.sum(axis=1, keepdims=True), rtol=1e-5)
    first = " ".join(f"{value:.6g}" for value in y.ravel()[:8].tolist())
    assert shown == f"y_ptr f32[4,7]: {first} ...\n"


def test_run_on_an_array_from_a_file_and_on_bf16(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.zeros((2, 4), np.float32))
    words = [f"x_ptr={tmp_path / 'x.npy'}", "y_ptr=f32[2,4]", "n_cols=4", "BLOCK_SIZE=4", "--grid=2"]
    assert main(["run", SOFTMAX, *words]) == 0
    assert capsys.readouterr().out == "y_ptr f32[2,4]: 0.25 0.25 0.25 0.25 0.25 0.25 0.25 0.25\n"
    assert main(["run", SOFTMAX, "x_ptr=bf16[4]", "y_ptr=bf16[4]", "n_cols=4", "BLOCK_SIZE=4"]) == 0
    assert capsys.readouterr().out.startswith("y_ptr bf16[4]: 0.")
    assert main(["run", SOFTMAX, "x_ptr=f32[4]", "y_ptr=f32[4]", "n_cols=0", "BLOCK_SIZE=4"]) == 0
    assert capsys.readouterr().out == "no array changed\n"


def test_run_refuses_what_a_launch_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", SOFTMAX, "x_ptr=f32[4]", "y_ptr=f32[3]", "n_cols=4", "BLOCK_SIZE=4"]) == 1
    assert capsys.readouterr().err.startswith("error[L007]")


def test_values() -> None:
    assert value_of("f32") is f32
    assert [value_of(text) for text in ("8", "-1", "1e-5", "True", "None", "(2, 4)", "relu", "'8'")] == [
        8, -1, 1e-5, True, None, (2, 4), "relu", "8",
    ]  # fmt: skip
