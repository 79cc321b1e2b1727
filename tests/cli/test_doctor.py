"""`teeny doctor`: one line a thing, whatever is there, and exit status 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from teeny.cli.main import main


def test_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TEENY_NUM_THREADS", "3")
    assert main(["doctor"]) == 0
    lines = {line.split()[1]: line for line in capsys.readouterr().out.splitlines()}
    assert {"python", "teeny", "numpy", "ml_dtypes", "llvmlite", "cpu", "triton", "torch", "cache"} <= set(lines)
    assert all(line.startswith(("ok ", "absent ")) for line in lines.values())
    assert lines["cpu"].endswith(", 3 threads")
    assert str(tmp_path / "cache") in lines["cache"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_cache_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("TEENY_CACHE_DIR", str(folder))
    assert main(["doctor"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if " cache " in line)
    assert line.startswith("absent")
    assert "set TEENY_CACHE_DIR" in line


def test_what_is_absent_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from importlib import metadata

    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", none)
    assert main(["doctor"]) == 0
    lines = {line.split()[1]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["triton"].startswith("absent")
    assert "pip install" in lines["triton"]
    assert "pip install numpy" in lines["numpy"]
