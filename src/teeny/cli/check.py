"""`teeny check`: every fault of every kernel in files and folders, in one run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from teeny import __version__
from teeny.cli.files import SourcePath, importing, load, python_files
from teeny.cli.terminal import colored
from teeny.cli.usage import Parser
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import TeenyError
from teeny.diag.render import in_order, render, render_concise, summary
from teeny.diag.span import SourceFile


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of some files found. `counts`: the number of kernels at the top level of each file."""

    findings: list[Diagnostic]
    counts: dict[Path, int]


def arguments(parser: Parser) -> None:
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH",
        help="files, and folders to search for files with kernels (default: this folder); they are imported",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "concise", "json", "sarif"), default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Print the findings. Exit status 1 where there are any."""
    checked = check_files(python_files(options.paths))
    if options.format == "sarif":
        from teeny.diag.export import to_sarif

        print(json.dumps(to_sarif(checked.findings), indent=2))
    elif options.format == "json":
        from teeny.diag.export import to_json

        found = [to_json(one) for one in checked.findings]
        kernels = {_shown(path): count for path, count in checked.counts.items()}
        print(json.dumps({"teeny": __version__, "kernels": kernels, "findings": found}, indent=2))
    else:
        _print_text(checked, {Path(path).resolve() for path in options.paths}, concise=options.format == "concise")
    return 1 if checked.findings else 0


def check_files(paths: Iterable[Path]) -> Checked:
    """Import each file with definitions that report instead of raising."""
    from teeny.runtime.definition import collecting

    files = sorted((SourcePath.of(path) for path in paths), key=lambda file: (str(file.root), str(file.path)))
    counts: dict[Path, int] = {}
    with collecting() as found:
        for root, group in groupby(files, key=lambda file: file.root):
            with importing(root):
                for file in group:
                    counts[file.path] = _check(file, found)
    return Checked(in_order(found), counts)


def _check(file: SourcePath, found: list[Diagnostic]) -> int:
    from teeny.runtime.kernel import Kernel

    try:
        module = load(file)
    except TeenyError as error:
        found.extend(error.diagnostics)
        return 0
    return sum(isinstance(value, Kernel) and value.__module__ == module.__name__ for value in vars(module).values())


def _print_text(checked: Checked, asked: set[Path], concise: bool) -> None:
    color = colored(sys.stdout)
    for one in checked.findings:
        print(render_concise(one, color) if concise else f"{render(one, color)}\n")
    named = {label.location.span.source.name for one in checked.findings for label in one.labels}
    for path, count in checked.counts.items():
        if path in asked and not count and str(path) not in named:
            print(f"{_shown(path)}: no kernels")
    if not checked.counts:
        print("no Python files with kernels")
        return
    files = _count(len(checked.counts), "file")
    if checked.findings:
        print(f"{summary(checked.findings)} in {files}")
    else:
        print(f"{_count(sum(checked.counts.values()), 'kernel')} in {files}: no findings")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shown(path: Path) -> str:
    return SourceFile(str(path), "").display_name
