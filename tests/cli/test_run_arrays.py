"""`teeny run`: arrays that are written wrongly or do not fit, and files that are written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from teeny.cli.main import main
from teeny.runtime.numpy_array import numpy_dtype

SOFTMAX = str(Path(__file__).resolve().parent.parent.parent / "examples" / "softmax.py")
REST = ["y_ptr=f32[4,7]", "n_cols=7", "BLOCK_SIZE=8", "--grid=4"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("x_ptr=f32[4", "`x_ptr=f32[4`: an array ends with a bracket, as in f32[4,7]"),
        ("x_ptr=f32[-4,7]", "`x_ptr=f32[-4,7]`: a size cannot be negative, and -4 is"),
        ("x_ptr=f32[4,,7]", "`x_ptr=f32[4,,7]`: `` is no size"),
        ("x_ptr=f32[4,n]", "`x_ptr=f32[4,n]`: `n` is no size"),
        ("x_ptr=f23[4,7]", "there is no dtype `f23` (did you mean"),
        ("x_ptr=f32[99999999,999999]", "holds 363.8 TiB, which is too much for the"),
        (f"x_ptr=f32[{'9' * 40}]", "which is too much for the"),
        ("x_ptr=f32[" + "1," * 70 + "]", "cannot be made: "),
    ],
)
def test_an_array_that_cannot_be_made(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", SOFTMAX, word, *REST]) == 2
    err = capsys.readouterr().err
    assert err.startswith("teeny run: ")
    assert said in err


def test_a_negative_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", SOFTMAX, "x_ptr=f32[4,7]", *REST, "--seed", "-1"]) == 2
    assert "--seed: -1 is negative" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_known_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, said in (
        (tmp_path / "none" / "y.npy", f"there is no folder `{tmp_path / 'none'}`"),
        (tmp_path, "is a folder"),
        (tmp_path / ("y" * 300), "cannot be written"),
    ):
        assert main(["run", SOFTMAX, "x_ptr=f32[4,7]", *REST, f"--save=y_ptr={file}"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f64"])
def test_what_is_saved_reads_back(dtype: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "y.npy"
    words = [f"y_ptr={dtype}[4,7]", *REST[1:]]
    assert main(["run", SOFTMAX, f"x_ptr={dtype}[4,7]", *words, f"--save=y_ptr={file}"]) == 0
    capsys.readouterr()
    kept = np.load(file).view(numpy_dtype(dtype)).astype(np.float64)
    np.testing.assert_allclose(kept.sum(axis=1), 1, atol=0.02)
    again = tmp_path / "z.npy"
    assert main(["run", SOFTMAX, f"x_ptr={file}", *words, f"--save=y_ptr={again}"]) == 0
    num = np.exp(kept - kept.max(axis=1, keepdims=True))
    found = np.load(again).view(numpy_dtype(dtype)).astype(np.float64)
    np.testing.assert_allclose(found, num / num.sum(axis=1, keepdims=True), atol=0.002)


def test_an_empty_file_is_no_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.npy").touch()
    assert main(["run", SOFTMAX, f"x_ptr={tmp_path / 'x.npy'}", *REST]) == 2
    assert "cannot be read as an array" in capsys.readouterr().err


def test_a_thread_count_that_is_none_is_said_at_a_small_launch_too() -> None:
    words = ["run", SOFTMAX, "x_ptr=f32[4,7]", *REST]
    environment = {**os.environ, "TEENY_NUM_THREADS": "many"}
    done = subprocess.run(
        [sys.executable, "-m", "teeny", *words], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("y_ptr f32[4,7]: ")
    assert done.stderr.count("TEENY_NUM_THREADS is 'many', which is no positive number") == 1
