"""The set-up behind `make`: one plain sentence for what is in the way, and no work where nothing changed."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def pip_run(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools")
    import pip_run

    return pip_run


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pip_run: ModuleType) -> ModuleType:
    """The module, with its `.venv` in a folder of the test."""
    import environment

    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "STAMP", tmp_path / ".venv" / "setup.json")
    return environment


@pytest.mark.parametrize(
    ("output", "sentence", "unavailable"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "the disk is full",
            None,
        ),
        (
            "WARNING: Failed to establish a new connection\nERROR: No matching distribution found for hatchling",
            "the package registry cannot be reached",
            None,
        ),
        ("ERROR: No matching distribution found for torch==2.13.0+cpu", "pip finds no build of torch", "torch"),
        ("ERROR: No matching distribution found for triton<3.10,>=3.6", "pip finds no build of triton", "triton"),
        ("Collecting x\nERROR: something else\nmore", "pip failed: something else", None),
        ("", "pip failed: it printed nothing", None),
    ],
)
def test_a_failure_of_pip_is_one_sentence(
    pip_run: ModuleType, output: str, sentence: str, unavailable: str | None
) -> None:
    failure = pip_run.explain(output.splitlines(), Path("setup.log"))
    assert str(failure).startswith(sentence)
    assert "\n" not in str(failure)
    assert failure.unavailable == unavailable


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Downloading triton-3.9.0-cp311.whl (285.8 MB)", "downloading triton-3.9.0-cp311.whl (285.8 MB)"),
        ("  Downloading triton-3.9.0-cp311.whl (285.8 MB)", "downloading triton-3.9.0-cp311.whl (285.8 MB)"),
        ("  Downloading numpy-2.4.6.whl.metadata (62 kB)", None),
        ("Installing collected packages: numpy, triton", "installing 2 packages: numpy, triton"),
        ("Requirement already satisfied: numpy", None),
    ],
)
def test_progress_shows_what_takes_time(pip_run: ModuleType, line: str, told: str | None) -> None:
    assert pip_run.progress(line) == told


def test_silence_gives_a_sign_of_life(
    pip_run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pip_run, "QUIET_SECONDS", 0.05)
    code = "import time; print('one', flush=True); time.sleep(0.4); print('two')"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert pip_run.follow(process.stdout) == ["one", "two"]
    assert "still at work" in capsys.readouterr().out


@pytest.mark.parametrize(("free", "enough"), [(3.6e9, True), (3.4e9, False)])
def test_a_full_disk_is_told_before_anything_is_installed(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, free: float, enough: bool
) -> None:
    monkeypatch.setattr(environment.tempfile, "gettempdir", lambda: str(ROOT))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(1e12, 1e12 - free, free))
    if enough:
        environment.check_space(environment.JOBS["test"], present=False)
    else:
        with pytest.raises(Exception, match=r"has 3\.4 GB free and this needs about 3\.5 GB"):
            environment.check_space(environment.JOBS["test"], present=False)


def test_a_stamp_of_the_same_inputs_ends_the_set_up(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = environment.VENV / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    environment.STAMP.write_text(f'{{"key": "{environment.key()}", "jobs": ["demo", "test"]}}')
    monkeypatch.setattr(environment, "make_venv", lambda: pytest.fail("the set-up did not end"))
    assert environment.main(["test"]) == 0
    assert capsys.readouterr().out == "setup: .venv is up to date\n"


@pytest.mark.parametrize("stamp", ['{"key": "other", "jobs": ["demo"]}', "not JSON", '{"key": "k", "jobs": ["test"]}'])
def test_another_stamp_does_not_serve(environment: ModuleType, stamp: str) -> None:
    environment.VENV.mkdir()
    environment.STAMP.write_text(stamp)
    assert "demo" not in environment.stamped_jobs("k")


def test_a_folder_that_is_no_environment_is_left_alone(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (environment.VENV / "precious").mkdir(parents=True)
    assert environment.main(["demo"]) == 1
    assert (environment.VENV / "precious").exists()
    assert "is no virtual environment; move it away" in capsys.readouterr().err


def test_torch_comes_as_a_cpu_build_or_not_at_all(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    class NoTorch:
        def install(self, what: str, *arguments: str) -> None:
            asked.extend(arguments)
            raise environment.SetupError("no build", unavailable="torch")

    monkeypatch.setattr(environment.sys, "version_info", (3, 11, 7, "final", 0))
    environment.install_torch(NoTorch())
    assert asked == ["torch==2.13.0+cpu"]
    assert "its tests are skipped" in capsys.readouterr().out
    monkeypatch.setattr(environment.sys, "version_info", (3, 12, 1, "final", 0))
    environment.install_torch(NoTorch())
    assert asked == ["torch==2.13.0+cpu"]
    assert "its tests are skipped" in capsys.readouterr().out


def test_the_entry_parses_on_an_old_python_and_refuses_it() -> None:
    entry = ROOT / "tools" / "setup.py"
    ast.parse(entry.read_text(), feature_version=(3, 7))
    code = (
        "import sys, runpy; sys.version_info = (3, 9, 1, 'final', 0); "
        f"runpy.run_path({str(entry)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("setup: Python 3.11 or newer is needed and ")
    assert "is Python 3.9" in done.stderr
    assert done.stderr.count("\n") == 1
