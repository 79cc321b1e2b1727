"""`teeny demo`: the softmax of the porting guide, from the kernel to numbers that are checked."""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teeny.cli.examples import example
from teeny.cli.files import SourcePath, importing, load
from teeny.cli.terminal import colored
from teeny.cli.usage import Parser
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.display import paint
from teeny.diag.errors import CompileError
from teeny.diag.render import render

if TYPE_CHECKING:
    from teeny.runtime.kernel import Kernel

MISTAKES = {"integers": "T001", "no_mask": "T004", "narrow": "T003", "unfilled": "F001"}
"""The kernels of `examples/mistakes.py`, each with the code that catches it."""

TARGET = "sm_90"
_PTX_LINES = 24
_PTX_NOTES = ("//", ".loc", "$L__")


@dataclass(slots=True)
class Story:
    """What is told, and what went wrong on the way."""

    color: bool
    faults: list[str] = field(default_factory=list[str])

    def title(self, text: str) -> None:
        print(f"\n{paint(f'== {text} ==', 'bold', self.color)}\n")

    def code(self, text: str) -> None:
        print(textwrap.indent(text.rstrip(), "    "))

    def wrong(self, text: str) -> None:
        self.faults.append(text)
        print(paint(text, "error", self.color))


def arguments(parser: Parser) -> None:
    del parser


def run(options: argparse.Namespace) -> int:
    """Tell the story. Exit status 1 where a number is wrong or a mistake is not caught."""
    del options
    start = time.perf_counter()
    story = Story(colored(sys.stdout))
    source = SourcePath.of(example("softmax.py"))
    with importing(source.root):
        kernel: Kernel[Any] = load(source).softmax
        show_kernel(story, kernel)
        show_mistakes(story, example("mistakes.py"))
        show_compiled(story, kernel)
        from teeny.cli.demo_run import show_cpu, show_cuda

        show_cpu(story, kernel)
        show_cuda(story, kernel)
    seconds = time.perf_counter() - start
    for fault in story.faults:
        print(paint(f"\nWRONG: {fault}", "error", story.color))
    if not story.faults:
        print(f"\nAll as it should be, in {seconds:.1f} s. Next: docs/porting.md and `teeny --help`.")
    return 1 if story.faults else 0


def show_kernel(story: Story, kernel: Kernel[Any]) -> None:
    """The kernel's text, which was checked when its file was imported."""
    source = kernel.definition.source
    story.title("The kernel, checked at its definition for every dtype and block size")
    story.code("\n".join(source.file.lines[source.first_line - 1 : source.last_line]))


def show_mistakes(story: Story, path: Path) -> None:
    """Four variants of the kernel, and what catches each."""
    from teeny.runtime.definition import collecting

    source = SourcePath.of(path)
    story.title("Four mistakes, each caught before anything runs")
    with collecting() as found, importing(source.root):
        module = load(source)
    for number, (name, code) in enumerate(MISTAKES.items(), 1):
        kernel: Kernel[Any] = getattr(module, name)
        mine = [one for one in found if _lies_in(one, kernel)]
        print(f"{number}. {(kernel.__doc__ or name).splitlines()[0]}\n")
        for one in mine:
            story.code(render(one, story.color))
            print()
        if [one.code for one in mine] != [code]:
            story.wrong(f"`{name}` should give {code} and gave {', '.join(one.code for one in mine) or 'nothing'}")


def _lies_in(one: Diagnostic, kernel: Kernel[Any]) -> bool:
    source = kernel.definition.source
    place = one.primary
    return place is not None and source.first_line <= place.location.outermost.span.line <= source.last_line


def show_compiled(story: Story, kernel: Kernel[Any]) -> None:
    """The dialect text and the head of the PTX."""
    from teeny.runtime.program import compile

    concrete = kernel.specialize(D="f32", BLOCK_SIZE=1024)
    story.title(f"The same kernel for D = f32 and BLOCK_SIZE = 1024: `{concrete.id}` in the Triton dialect")
    story.code(concrete.mlir)
    story.title(f"Its PTX for {TARGET}, made without a GPU")
    start = time.perf_counter()
    try:
        program = compile(concrete, TARGET)
    except CompileError as error:
        found = error.diagnostics[0]
        if found.code != "X001":
            raise
        print("; ".join((found.message, *found.help)))
        return
    milliseconds = (time.perf_counter() - start) * 1e3
    lines = [line.expandtabs(4) for line in program.ptx.splitlines() if line.strip()]
    story.code("\n".join([line for line in lines if not line.lstrip().startswith(_PTX_NOTES)][:_PTX_LINES]))
    print(f"    ... {len(lines)} lines; a cubin of {len(program.cubin)} bytes ({milliseconds:.0f} ms)")
