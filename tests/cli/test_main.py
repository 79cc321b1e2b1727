"""The command as a whole: usage, exit statuses, signals, and errors as sentences."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import teeny.cli.explain
from teeny import __version__
from teeny.cli.main import COMMANDS, main
from teeny.diag.codes import catalogue

SOFTMAX = Path(__file__).resolve().parent.parent.parent / "examples" / "softmax.py"


def test_without_a_command_it_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--version"], ["-h"], ["check", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
    assert f"teeny {__version__}" in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "-h"])
    assert ended.value.code == 0
    assert f"usage: teeny {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("chek", "teeny: there is no command `chek` (did you mean `check`?); see `teeny --help`"),
        ("check --color", "teeny check: unrecognized arguments: --color; see `teeny check --help`"),
        ("check nowhere", "teeny check: there is no file or folder `nowhere`; see `teeny check --help`"),
        ("check README", "teeny check: `README` is no Python file; see `teeny check --help`"),
        ("explain F01", "teeny explain: there is no code `F01` (did you mean `F001`?); see `teeny explain --help`"),
        ("compile", "teeny compile: the following arguments are required: FILE:KERNEL; see `teeny compile --help`"),
        ("compile no.py:k", "teeny compile: there is no file `no.py`; see `teeny compile --help`"),
        ("compile empty.py", "teeny compile: `empty.py` has no kernels; see `teeny compile --help`"),
        ("compile k.py -s D", "teeny compile: `D` is not of the form NAME=VALUE; see `teeny compile --help`"),
        ("compile k.py -s D=f32 -s D=f16", "teeny compile: `D` is given twice; see `teeny compile --help`"),
        (
            "compile k.py:sotfmax",
            "teeny compile: `k.py` has no kernel `sotfmax` (did you mean `softmax`?); it has softmax; see `teeny comp",
        ),
        ("compile k.py --num-warps x", "teeny compile: argument --num-warps: invalid int value: 'x'"),
        ("run k.py --grid a", "teeny run: `a` is no grid: one to three numbers, such as 4 or 4,2"),
        ("run k.py x_ptr=f33[4]", "teeny run: `x_ptr=f33[4]`: there is no dtype `f33` (did you mean `f32`?)"),
        ("run k.py x_ptr=no.npy", "teeny run: `no.npy` cannot be read as an array"),
        ("run k.py --device gpu", "teeny run: there is no device `gpu`: cpu, cuda:0, ..."),
        ("run k.py --save z=z.npy", "teeny run: --save: there is no array `z`"),
    ],
)
def test_usage_mistakes_are_one_sentence(
    words: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README").touch()
    (tmp_path / "empty.py").touch()
    (tmp_path / "k.py").write_text(SOFTMAX.read_text())
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(sentence)
    assert err.count("\n") == 1


def test_explain_knows_every_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line[:4] for line in listed] == list(catalogue())
    assert main(["explain", "f001"]) == 0
    assert capsys.readouterr().out.startswith("error[F001]: undefined lanes take part in a reduction")


def raising(error: BaseException) -> Callable[[object], int]:
    def run(options: object) -> int:
        raise error

    return run


def test_an_unexpected_error_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(teeny.cli.explain, "run", raising(ZeroDivisionError("oh")))
    assert main(["explain"]) == 70
    shown = capsys.readouterr().err
    assert shown.startswith("error[I001]: teeny failed: ZeroDivisionError: oh\n")
    assert "please report it" in shown
    assert "Traceback" not in shown
    with pytest.raises(ZeroDivisionError):
        main(["explain", "--traceback"])


def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(teeny.cli.explain, "run", raising(KeyboardInterrupt()))
    assert main(["explain"]) == 130
    assert capsys.readouterr().err == "teeny: interrupted\n"


def test_a_real_interrupt_while_a_file_is_imported(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nopen('started', 'w').close()\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "teeny", "check", "slow.py"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if (tmp_path / "started").exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "teeny: interrupted\n"


def test_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "teeny", "explain"]
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert done.stderr == ""
    assert done.returncode == 141


def test_help_and_usage_import_nothing_heavy() -> None:
    code = (
        "import sys; from teeny.cli.main import main\n"
        "main([]); main(['chek']); main(['explain', 'F001'])\n"
        "print([n for n in ('numpy', 'llvmlite', 'triton', 'torch', 'teeny.runtime', 'teeny.ops') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
