"""`--format json` of the subcommands that report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from teeny import __version__
from teeny.cli.main import main
from teeny.diag.codes import catalogue


@pytest.mark.parametrize(
    "words", ["check k.py", "ops", "ops exp", "cache", "cache path", "doctor", "explain", "explain F001"]
)
def test_one_json_object_with_the_version(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEENY_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "k.py").write_text("x = 1\n")
    assert main([*words.split(), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["teeny"] == __version__
    assert err == ""


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--format", "json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {"name", "usable", "text"} == set(findings[0])
    assert {"python", "teeny", "numpy", "cpu", "cache"} <= {one["name"] for one in findings}


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--format", "json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)["codes"]] == list(catalogue())
    assert main(["explain", "f001", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["codes"]
    assert one["severity"] == "error"
    assert "-float" in one["text"]


def test_another_format_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ops", "cache", "doctor", "explain"):
        assert main([name, "--format", "xml"]) == 2
        assert "invalid choice: 'xml'" in capsys.readouterr().err
