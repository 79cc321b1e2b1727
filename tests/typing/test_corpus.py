"""The typed surface: what a type checker and the compiler each make of the same files.

`accept_*.py` passes both without a word. In `reject_*.py` both report each line that carries the mark `# BAD`, and no
other line; where a mark goes on with `for the compiler alone`, Python's typing rules let the line pass.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from teeny.diag import user_location

HERE = Path(__file__).resolve().parent
FILES = sorted(path.name for pattern in ("accept_*.py", "reject_*.py") for path in HERE.glob(pattern))
MARK = "# BAD"
ALONE = MARK + " for the compiler alone"
SETTINGS = {
    "include": ["."],
    "extraPaths": [str(HERE.parents[1] / "src")],
    "typeCheckingMode": "strict",
    "pythonVersion": "3.12",
    "enableTypeIgnoreComments": False,
    "reportUnusedExpression": False,  # what is wrong with an operator must show where its value is not used
}


def marked(name: str, checker: bool = False) -> set[int]:
    """The numbers of the lines that must be reported, to a type checker or to the compiler."""
    lines = (HERE / name).read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if MARK in line and not (checker and ALONE in line)}


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """What pyright reports in strict mode: for each file the message of each line. It runs once, over all files."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    folder = tmp_path_factory.mktemp("corpus")
    for name in FILES:
        shutil.copy(HERE / name, folder)
    (folder / "pyrightconfig.json").write_text(json.dumps(SETTINGS))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    output = json.loads(done.stdout)
    assert output["summary"]["filesAnalyzed"] == len(FILES)
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for one in output["generalDiagnostics"]:
        found[Path(one["file"]).name].setdefault(one["range"]["start"]["line"] + 1, one["message"].splitlines()[0])
    return found


def differences(name: str, wanted: set[int], found: dict[int, str]) -> list[str]:
    """Lines on which the marks and the reports differ, as readable text."""
    lines = (HERE / name).read_text().splitlines()
    missed = [f"{name}:{number}: not reported: {lines[number - 1].strip()}" for number in sorted(wanted - set(found))]
    extra = [f"{name}:{number}: reported: {text}" for number, text in sorted(found.items()) if number not in wanted]
    return missed + extra


def test_each_rejected_file_has_marks_and_no_accepted_one() -> None:
    assert {name for name in FILES if marked(name)} == {name for name in FILES if name.startswith("reject_")}


@pytest.mark.parametrize("name", FILES)
def test_a_type_checker_agrees_with_the_marks(name: str, reported: dict[str, dict[int, str]]) -> None:
    assert differences(name, marked(name, checker=True), reported[name]) == []


@pytest.mark.parametrize("name", FILES)
def test_the_compiler_agrees_with_the_marks(name: str) -> None:
    if "312" in name and sys.version_info < (3, 12):
        pytest.skip("the syntax of Python 3.12")
    from teeny.runtime.definition import collecting

    spec = importlib.util.spec_from_file_location(f"corpus_{name[:-3]}", HERE / name)
    assert spec is not None
    assert spec.loader is not None
    with collecting() as diagnostics:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    found: dict[int, str] = {}
    for one in diagnostics:
        if one.severity == "error" or name.startswith("accept_"):
            assert one.primary is not None, one.message
            line = user_location(one.primary.location).span.line
            found.setdefault(line, f"{one.severity}[{one.code}] {one.message}")
    assert differences(name, marked(name), found) == []
