"""`teeny demo`: all of the story is told, and what is wrong is noticed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from teeny.cli import demo, demo_run
from teeny.cli.examples import example
from teeny.cli.main import main


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_run, "_SECONDS", 0.0)
    monkeypatch.setenv("NO_COLOR", "1")


def test_the_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "    def softmax(x_ptr: tl.Ptr[D]" in shown
    assert re.findall(r"^    error\[(\w+)\]", shown, re.MULTILINE) == ["T001", "T004", "T003", "F001"]
    assert "tt.func public @softmax" in shown
    if find_spec("triton") is not None:
        assert ".visible .entry softmax(" in shown
    else:
        assert "the package `triton` is not installed" in shown
    for shape in ("4096 x 1000", "3 x 7"):
        assert re.search(
            rf"^{shape} on the CPU: max error \d.*\n    teeny .*GB/s\n    numpy .*GB/s", shown, re.MULTILINE
        )
    assert "\nAll as it should be, in " in shown


def test_a_wrong_number_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo_run, "BOUND", 1e-12)
    assert main(["demo"]) == 1
    assert "WRONG: 4096 x 1000 on the CPU: relative error" in capsys.readouterr().out


def test_a_mistake_that_is_not_caught_is_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(demo.MISTAKES, "no_mask", "T009")
    assert main(["demo"]) == 1
    assert "WRONG: `no_mask` should give T009 and gave T004" in capsys.readouterr().out


def test_the_examples_are_found() -> None:
    assert example("softmax.py").read_text().startswith('"""Softmax')
    assert example("softmax.py").parent.name == "examples"
    assert Path(demo.__file__).exists()
