"""`teeny record -- COMMAND`: run a program with its launches of Triton kernels checked in the place of being run."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from teeny.cli.terminal import colored
from teeny.cli.usage import Parser, UsageError
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.export import from_json
from teeny.diag.render import render, summary
from teeny.diag.span import SourceFile

_EPILOG = """\
Nothing is executed on a GPU, and what kernels would have written is not there: outputs hold what they held before.
Each distinct launch (types, constants, sizes, grid) is checked once: its fills, and with copies of its arguments the
programs at the corners of its grid and in the middle, whose accesses must lie in their tensors. Benchmarks and
autotuning launch once what they would measure. Without a GPU, PyTorch's device `cuda` stands for main memory.
"""
AFTER_DASHES = "command"
_NOT_RUN = "kernels were not run, so what fails for their results says nothing"


def arguments(parser: Parser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("--output", metavar="FILE", help="keep the launches in this file too, a JSON object a line")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND", help="such as: python script.py")


def run(options: argparse.Namespace) -> int:
    """Run and report. Exit status 1 where there are findings, else that of the command."""
    command: list[str] = options.command
    if not command:
        raise UsageError("a command is needed, such as `teeny record -- python script.py`")
    with tempfile.TemporaryDirectory() as folder:
        path = options.output or os.path.join(folder, "launches.jsonl")
        Path(path).write_text("", "utf-8")
        status = _execute(command, path)
        launches = [json.loads(line) for line in dict.fromkeys(Path(path).read_text("utf-8").splitlines())]
    found = _show(launches)
    if status and launches:
        print(f"the program ended with status {status}; {_NOT_RUN}")
    return max(found, status) if status >= 0 else 128 - status


def _execute(command: Sequence[str], path: str) -> int:
    startup = str(Path(__file__).resolve().parent.parent / "triton" / "startup")
    before = os.environ.get("PYTHONPATH")
    environment = {
        **os.environ, "TEENY_RECORD": os.path.abspath(path), "TRITON_DEFAULT_BACKEND": "cpu",
        "PYTHONPATH": startup + (os.pathsep + before if before else ""),
    }  # fmt: skip
    try:
        return subprocess.run(command, env=environment, check=False).returncode
    except OSError as error:
        raise UsageError(f"`{command[0]}` cannot be run: {error.strerror}") from None


def _show(launches: Sequence[Mapping[str, Any]]) -> int:
    """Print the launches with what was found; 1 where there are findings."""
    color = colored(sys.stdout)
    sources: dict[str, SourceFile] = {}

    def source(name: str) -> SourceFile:
        if name not in sources:
            path = Path(name)
            sources[name] = SourceFile(name, path.read_text("utf-8", "replace") if path.is_file() else "")
        return sources[name]

    found: list[Diagnostic] = []
    for launch in launches:
        given = ", ".join(f"{k}={v}" for k, v in launch["arguments"].items())
        path, _, line = launch["place"].rpartition(":")
        place = f"{SourceFile(path, '').display_name}:{line}"
        print(f"{place}: `{launch['kernel']}` over {tuple(launch['grid'])}: {given} ({launch.get('note', 'checked')})")
        if "failed" in launch:
            print(launch["failed"], file=sys.stderr)
        for data in launch["findings"]:
            one = from_json(data, source)
            found.append(one)
            print(render(one, color))
    if not launches:
        print("no launches of Triton kernels were seen")
    elif found:
        print(f"{summary(found)} in {len(launches)} distinct launches")
    else:
        print(f"{len(launches)} distinct launches: no findings")
    return 1 if found or any("failed" in launch for launch in launches) else 0
