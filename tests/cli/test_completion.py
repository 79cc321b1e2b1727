"""The scripts of `teeny completion`, tried in the shells themselves where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from teeny.cli.main import COMMANDS, main
from teeny.diag.codes import catalogue

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    from teeny.cli.completion import SHELLS as WRITERS
    from teeny.cli.completion import known_commands

    folder = tmp_path_factory.mktemp("completion")
    known = known_commands()
    for name, write in WRITERS.items():
        (folder / name).write_text(write(known))
    return {name: folder / name for name in WRITERS}


def run(shell: str, text: str, folder: Path) -> list[str]:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"there is no {shell}")
    done = subprocess.run([path, "-c", text], capture_output=True, text=True, cwd=folder, check=False)
    assert done.stderr == ""
    return done.stdout.split()


def in_bash(script: Path, words: list[str], folder: Path) -> list[str]:
    quoted = " ".join(f"'{word}'" for word in ("teeny", *words))
    text = (
        f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _teeny; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    return run("bash", text, folder)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_what_the_command_prints(
    shell: str, scripts: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == scripts[shell].read_text()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_takes_the_script(shell: str, scripts: dict[str, Path], tmp_path: Path) -> None:
    setup = "autoload -U compinit && compinit -u -D; " if shell == "zsh" else ""
    assert run(shell, f"{setup}source {scripts[shell]}; echo taken", tmp_path) == ["taken"]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([""], [*COMMANDS, "--help", "--version"]),
        (["ch"], ["check"]),
        (["check", "--f"], ["--format"]),
        (["check", "--format", ""], ["text", "concise", "json", "sarif"]),
        (["check", "ker"], ["kernels.py"]),
        (["explain", "F00"], [name for name in catalogue() if name.startswith("F00")]),
        (["ops", "exp"], ["exp", "exp2", "expm1", "expand", "expand_ptr", "expand_dims"]),
        (["cache", ""], ["info", "clear", "path"]),
        (["compile", "-o", "ker"], ["kernels.py"]),
        (["completion", "b"], ["bash"]),
        (["--traceback", "doctor", "--format", "j"], ["json"]),
        (["nothing", ""], []),
    ],
)
def test_bash_completes(words: list[str], wanted: list[str], scripts: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "kernels.py").touch()
    (tmp_path / "other.py").touch()
    assert sorted(in_bash(scripts["bash"], words, tmp_path)) == sorted(wanted)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("teeny ch", ["check"]), ("teeny check --form", ["--format"]), ("teeny cache cl", ["clear"])],
)
def test_fish_completes(line: str, wanted: list[str], scripts: dict[str, Path], tmp_path: Path) -> None:
    found = run("fish", f"source {scripts['fish']}; complete -C '{line}' | string split -f 1 \\t", tmp_path)
    assert found == wanted


def test_every_emit_is_offered(scripts: dict[str, Path], tmp_path: Path) -> None:
    from teeny.cli.completion import known_commands

    emit = next(o for c in known_commands() if c.name == "compile" for o in c.options if "--emit" in o.names)
    assert emit.values is not None
    assert in_bash(scripts["bash"], ["compile", "k.py", "--emit", ""], tmp_path) == list(emit.values)
