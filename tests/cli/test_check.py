"""`teeny check`: all faults of all kernels, faults of imports, and the ways Python finds modules."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import pytest

from teeny.cli.main import main

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"

HEAD = """\
from typing import TypeVar
import teeny as tn
import teeny.language as tl
D = TypeVar("D", bound=tl.Float)

"""
GOOD = """\
@tn.kernel
def copy(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], B: tl.Const[int]) -> None:
    o = tl.arange(0, B)
    tl.store(y_ptr + o, tl.load(x_ptr + o))

"""
TWO_FAULTS = """\
@tn.kernel
def wrong(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], B: tl.Const[int]) -> None:
    o = tl.arange(0, B)
    x = tl.load(x_ptr + o, mask=o)
    tl.store(y_ptr + o, x + missing)

"""
UNFILLED = """\
@tn.kernel
def unfilled(x_ptr: tl.Ptr[D], y_ptr: tl.Ptr[D], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:
    o = tl.arange(0, B)
    tl.store(y_ptr, tl.max(tl.load(x_ptr + o, mask=o < n), axis=0))

"""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")


def write(name: str, *parts: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(parts))


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    status = main(["check", "--format", "concise", *words])
    return status, capsys.readouterr().out.splitlines()


def test_a_clean_file(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, GOOD)
    assert check(capsys, "a.py") == (0, ["1 kernel in 1 file: no findings"])


def test_every_fault_of_every_kernel_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, TWO_FAULTS, GOOD, UNFILLED)
    status, lines = check(capsys, "a.py")
    assert status == 1
    assert [line.split(": ", 2)[:2] for line in lines[:-1]] == [
        ["a.py:9:33", "error[T004]"],
        ["a.py:10:29", "error[E002]"],
        ["a.py:20:21", "error[F001]"],
    ]
    assert lines[-1] == "3 errors in 1 file"


def test_what_is_no_kernel_at_all_does_not_hide_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, "@tn.kernel\nasync def later() -> None:\n    pass\n\n", GOOD, TWO_FAULTS)
    status, lines = check(capsys, "a.py")
    assert status == 1
    assert [line.split(": ", 2)[:2] for line in lines] == [
        ["a.py:7:1", "error[E001]"],
        ["a.py:18:33", "error[T004]"],
        ["a.py:19:29", "error[E002]"],
        ["3 errors in 1 file"],
    ]


def test_a_kernel_used_in_its_file_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, UNFILLED, "unfilled.specialize(D=tl.f32, B=8)\n")
    status, lines = check(capsys, "a.py")
    assert status == 1
    assert len(lines) == 2


def test_text_shows_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, UNFILLED)
    assert main(["check", "a.py"]) == 1
    shown = capsys.readouterr().out
    assert "error[F001]" in shown
    assert "  --> a.py:9:21\n" in shown
    assert "^^^^" in shown
    assert "\x1b" not in shown


def test_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, str(EXAMPLES / "softmax.py"))[0] == 0
    status, lines = check(capsys, str(EXAMPLES / "mistakes.py"))
    assert status == 1
    assert [code for line in lines for code in ("T001", "T004", "T003", "F001") if code in line] == [
        "T001", "T004", "T003", "F001",
    ]  # fmt: skip
    assert len(lines) == 5


def test_an_import_error_is_a_finding_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    write("helper.py", "def f():\n    raise ValueError('no such thing')\n")
    write("a.py", HEAD, TWO_FAULTS, "import helper\nx = 1 + helper.f()\n")
    write("b.py", "import nowhere_to_be_found\n")
    write("c.py", "def f(:\n")
    write("d.py", "raise SystemExit(3)\n")
    status, lines = check(capsys, "a.py", "b.py", "c.py", "d.py")
    assert status == 1
    assert lines[2:] == [
        "a.py:13:9: error[E017]: a.py cannot be imported: ValueError: no such thing",
        "b.py:1:1: error[E017]: b.py cannot be imported: ModuleNotFoundError: No module named 'nowhere_to_be_found'",
        "c.py:1:7: error[E017]: c.py is no valid Python: invalid syntax",
        "d.py:1:1: error[E017]: d.py cannot be imported: it ends the program",
        "6 errors in 4 files",
    ]


def test_what_an_error_raised_elsewhere_says(capsys: pytest.CaptureFixture[str]) -> None:
    write("helper.py", "def f():\n    raise ValueError('no such thing')\n")
    write("a.py", "import helper\nhelper.f()\n")
    assert main(["check", "a.py"]) == 1
    assert "= note: raised at helper.py:2\n" in capsys.readouterr().out


def test_a_launch_error_at_import_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, GOOD, "copy[(1,)]()\n")
    status, lines = check(capsys, "a.py")
    assert status == 1
    assert "error[L001]" in lines[0]


def test_files_without_kernels_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", "x = 3\n")
    assert check(capsys, "a.py") == (0, ["a.py: no kernels", "0 kernels in 1 file: no findings"])


def test_a_folder_is_searched_for_kernels_alone(capsys: pytest.CaptureFixture[str]) -> None:
    write("src/a.py", HEAD, GOOD)
    write("src/deep/b.py", HEAD, GOOD)
    for name in ("other.py", ".hidden/c.py", "venv/d.py", "__pycache__/e.py"):
        write(f"src/{name}", "raise RuntimeError('imported')\n", "" if name == "other.py" else HEAD + GOOD)
    write("src/venv/pyvenv.cfg")
    assert check(capsys, "src") == (0, ["2 kernels in 2 files: no findings"])
    assert check(capsys) == (0, ["2 kernels in 2 files: no findings"])
    write("empty/x.txt")
    assert check(capsys, "empty") == (0, ["no Python files with kernels"])


def test_modules_are_found_as_python_finds_them(capsys: pytest.CaptureFixture[str]) -> None:
    write("one/helper.py", "B = 8\n")
    write("one/a.py", "from helper import B\nassert B == 8\n", HEAD, GOOD)
    write("two/helper.py", "B = 16\n")
    write("two/a.py", "from helper import B\nassert B == 16\n", HEAD, GOOD)
    write("lib/pkg/__init__.py")
    write("lib/pkg/sub/__init__.py", "from ..base import D\n")
    write("lib/pkg/base.py", HEAD)
    write("lib/pkg/sub/k.py", "from ..base import D, tl, tn\nimport pkg.base\n", GOOD)
    write("random.py", HEAD, GOOD, "kernel = 'named like a module that Python has loaded'\n")
    before, path = set(sys.modules), list(sys.path)
    status, lines = check(capsys, "one", "two/a.py", "lib", "random.py")
    assert (status, lines) == (0, ["4 kernels in 4 files: no findings"])
    assert sys.path == path
    assert sys.modules["random"] is random
    assert not {"a", "helper", "pkg", "pkg.sub.k"} & (set(sys.modules) - before)


def test_the_current_folder_is_on_the_path_too(capsys: pytest.CaptureFixture[str]) -> None:
    write("shared/names.py", "B = 8\n")
    write("tools/a.py", "from shared.names import B\n", HEAD, GOOD)
    assert check(capsys, "tools") == (0, ["1 kernel in 1 file: no findings"])
    assert not {"shared", "shared.names"} & set(sys.modules)


def test_a_kernel_that_two_files_import_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    write("base.py", HEAD, TWO_FAULTS)
    write("a.py", "import teeny\nfrom base import wrong as kernel\n")
    status, lines = check(capsys, "a.py", "base.py", "base.py")
    assert status == 1
    assert lines[-1] == "2 errors in 2 files"


def test_what_a_file_prints_does_not_disturb(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", "import sys\nprint('hello', sys.argv)\n", HEAD, GOOD)
    assert main(["check", "--format", "json", "a.py"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["kernels"] == {"a.py": 1}
    assert err.startswith("hello ['")
    assert err.endswith("a.py']\n")


def test_json_and_sarif(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, TWO_FAULTS)
    assert main(["check", "--format", "json", "a.py"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [one["code"] for one in found] == ["T004", "E002"]
    assert found[0]["labels"][0]["frames"][0]["span"]["line"] == 9
    assert main(["check", "--format", "sarif", "a.py"]) == 1
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["T004", "E002"]


def test_the_same_twice_in_one_process(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.py", HEAD, TWO_FAULTS)
    first = check(capsys, "a.py")
    assert check(capsys, "a.py") == first
    write("a.py", HEAD, GOOD)
    assert check(capsys, "a.py") == (0, ["1 kernel in 1 file: no findings"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    write("folder/good.py", HEAD, GOOD)
    os.mkfifo("folder/a.py")
    assert main(["check", "folder"]) == 0
    out, err = capsys.readouterr()
    assert out == "1 kernel in 1 file: no findings\n"
    assert err == f"{Path('folder/a.py')}: skipped, for it is no regular file\n"
    assert main(["check", "folder/a.py"]) == 2
    assert "`folder/a.py` is no regular file" in capsys.readouterr().err
