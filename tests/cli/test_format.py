"""`--format json` of the subcommands that report."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from teeny import __version__
from teeny.cli.main import main
from teeny.diag.codes import catalogue

FAULTY = """\
import teeny as tn
import teeny.language as tl


@tn.kernel
def kernel(x_ptr: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    tl.store(x_ptr + tl.arange(0, 8), 1.0, mask=n)
"""


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


@pytest.mark.parametrize("words", ["ops exp", "ops", "doctor", "check k.py"])
@pytest.mark.parametrize(("variable", "colored"), [("", True), ("NO_COLOR", False), ("TERM", False)])
def test_colour_on_a_terminal_alone(words: str, variable: str, colored: bool, tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(FAULTY)
    environment = {**os.environ, "TERM": "xterm", "TEENY_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("NO_COLOR", None)
    environment |= {"NO_COLOR": {"NO_COLOR": "1"}, "TERM": {"TERM": "dumb"}}.get(variable, {})
    command = [sys.executable, "-m", "teeny", *words.split()]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=theirs, stderr=subprocess.PIPE):
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    assert shown
    assert (b"\x1b[" in shown) is colored
    piped = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert b"\x1b[" not in piped.stdout
