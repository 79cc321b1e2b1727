"""`teeny cache`: what is there, why it cannot be used, and clearing it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from teeny.cli.main import main
from teeny.ir.store import Store, key


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "cache"
    monkeypatch.setenv("TEENY_CACHE_DIR", str(root))
    return root


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main(["cache", *words, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def fill(root: Path) -> None:
    store = Store(root)
    store.put(key({"a": 1}), {"code": b"12345"}, {})
    store.put(key({"a": 2}), {"code": b"1"}, {})
    store.put_record("file", {"x": 1})


def test_an_empty_one_and_a_full_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = as_json(capsys)
    assert status == 0
    assert found["path"] == str(folder)
    assert (found["usable"], found["fault"], found["entries"], found["records"], found["bytes"]) == (
        True,
        None,
        0,
        0,
        0,
    )
    fill(folder)
    status, found = as_json(capsys, "info")
    assert (status, found["entries"], found["records"]) == (0, 2, 1)
    assert found["bytes"] == sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{folder}: 2 compiled, 1 files with checked kernels, 0.0 MB\n"


def test_clear(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(folder)
    status, found = as_json(capsys, "clear")
    assert (status, found["removed_entries"], found["removed_records"]) == (0, 2, 1)
    assert found["removed_bytes"] > 0
    assert [file for file in folder.rglob("*") if file.is_file()] == []
    assert main(["cache", "clear"]) == 0
    assert "removed 0 compiled" in capsys.readouterr().out


def test_the_path_alone_makes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    assert not folder.exists()


@pytest.mark.parametrize("action", ["info", "clear"])
def test_one_that_cannot_be_used(action: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "mine").write_text("")
    assert main(["cache", action]) == 1
    shown = capsys.readouterr()
    assert (
        shown.out
        == f"not used: the cache folder {folder} is open to other users; set TEENY_CACHE_DIR to a folder of yours\n"
    )
    assert shown.err == ""
    status, found = as_json(capsys, action)
    assert status == 1
    assert found["usable"] is False
    assert "open to other users" in found["fault"]
    assert (folder / "mine").exists()


def test_a_word_that_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "delete"]) == 2
    assert "invalid choice" in capsys.readouterr().err
