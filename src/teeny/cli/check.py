"""`teeny check`: every fault of every kernel in files and folders, in one run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from teeny import __version__
from teeny.cli.check_triton import check_triton
from teeny.cli.files import SourcePath, holds_teeny, holds_triton, importing, load, python_files
from teeny.cli.terminal import colored
from teeny.cli.usage import Parser
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.errors import TeenyError
from teeny.diag.render import in_order, render, render_concise, summary
from teeny.diag.span import SourceFile


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of some files found. `counts`: the number of kernels at the top level of each file.

    `notes` say for kernels of Triton which types were assumed and what of a file was left out, `unchecked` which could
    not be checked and why.
    """

    findings: list[Diagnostic]
    counts: dict[Path, int]
    notes: list[str] = field(default_factory=list[str])
    unchecked: list[str] = field(default_factory=list[str])


def arguments(parser: Parser) -> None:
    parser.add_argument(
        "paths", nargs="*", default=["."], metavar="PATH",
        help="files, and folders to search for files with kernels (default: this folder); they are imported",
    )  # fmt: skip
    parser.add_argument(
        "--signature", action="append", default=[], metavar="'KERNEL: X=*fp32, N=i32, BLOCK=64'",
        help="types and constants of a kernel of Triton; else they come from [tool.teeny.signatures] in "
        "pyproject.toml, from launches in the file, or are assumed",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "concise", "json", "sarif"), default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Print the findings. Exit status 1 where there are any, or where a kernel could not be checked."""
    checked = check_files(python_files(options.paths), options.signature)
    if options.format == "sarif":
        from teeny.diag.export import to_sarif

        print(json.dumps(to_sarif(checked.findings), indent=2))
    elif options.format == "json":
        from teeny.diag.export import to_json

        found = [to_json(one) for one in checked.findings]
        kernels = {_shown(path): count for path, count in checked.counts.items()}
        more = {"notes": checked.notes, "unchecked": checked.unchecked}
        print(json.dumps({"teeny": __version__, "kernels": kernels, "findings": found, **more}, indent=2))
    else:
        _print_text(checked, {Path(path).resolve() for path in options.paths}, concise=options.format == "concise")
    return 1 if checked.findings or checked.unchecked else 0


def check_files(paths: Iterable[Path], signatures: Sequence[str] = ()) -> Checked:
    """Import each file with definitions that report instead of raising; of a file of Triton run what kernels need.

    Raises UsageError for signatures that cannot be read.
    """
    from teeny.runtime.definition import collecting

    files = sorted((SourcePath.of(path) for path in paths), key=lambda file: (str(file.root), str(file.path)))
    with collecting() as found:
        checked = Checked(found, {})
        for root, group in groupby(files, key=lambda file: file.root):
            with importing(root):
                for file in group:
                    checked.counts[file.path] = 0
                    of_triton = holds_triton(file.path)
                    if of_triton:
                        check_triton(file, checked, signatures)
                    if holds_teeny(file.path) or not of_triton:
                        checked.counts[file.path] += _check(file, found)
    return replace(checked, findings=in_order(found))


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
    for note in (*checked.notes, *checked.unchecked):
        print(note)
    files = _count(len(checked.counts), "file")
    if checked.findings:
        print(f"{summary(checked.findings)} in {files}")
    else:
        rest = f", {len(checked.unchecked)} not checked" if checked.unchecked else ""
        print(f"{_count(sum(checked.counts.values()), 'kernel')} in {files}: no findings{rest}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shown(path: Path) -> str:
    return SourceFile(str(path), "").display_name
