"""`teeny compile`: a kernel to MLIR, to PTX or machine code for a GPU that need not be there, or to native code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from teeny.cli.target import TARGET_HELP, assignments, kernel_named, value_of
from teeny.cli.usage import Parser, UsageError

if TYPE_CHECKING:
    from teeny.runtime.specialization import Specialization


def arguments(parser: Parser) -> None:
    parser.add_argument("kernel", metavar="FILE:KERNEL", help=TARGET_HELP)
    parser.add_argument(
        "-s", "--set", action="append", default=[], metavar="NAME=VALUE", dest="choices",
        help="a dtype variable or a Const: -s D=f32 -s BLOCK_SIZE=1024",
    )  # fmt: skip
    parser.add_argument("--emit", choices=("mlir", "ptx", "cubin", "object"), default="mlir", help="default: mlir")
    parser.add_argument(
        "--target", metavar="ARCH", help="sm_75 to sm_120, or cpu (default: cpu for object, else sm_90)"
    )
    parser.add_argument("--num-warps", type=int, metavar="N", help="warps of a program (default: 4)")
    parser.add_argument("--num-stages", type=int, metavar="N", help="stages of pipelined loops (default: 3)")
    parser.add_argument("-o", "--output", metavar="OUT", help="write to a file (default: standard output)")


def run(options: argparse.Namespace) -> int:
    """Write the code asked for."""
    choices = {name: value_of(text) for name, text in assignments(options.choices).items()}
    if options.emit in ("cubin", "object") and options.output is None and sys.stdout.isatty():
        raise UsageError("machine code is no text; name a file for it with -o")
    with kernel_named(options.kernel) as kernel:
        made = _emit(kernel.specialize(**choices), options)
    if options.output is None or options.output == "-":
        sys.stdout.buffer.write(made)
        return 0
    try:
        Path(options.output).write_bytes(made)
    except OSError as error:
        raise UsageError(f"`{options.output}` cannot be written: {error.strerror}") from error
    print(f"{options.output}: {len(made)} bytes", file=sys.stderr)
    return 0


def _emit(kernel: Specialization, options: argparse.Namespace) -> bytes:
    if options.emit == "mlir":
        return f"{kernel.mlir.rstrip()}\n".encode()
    from teeny.runtime.program import compile

    target = options.target or ("cpu" if options.emit == "object" else "sm_90")
    given = {"num_warps": options.num_warps, "num_stages": options.num_stages}
    return compile(kernel, target, **{k: v for k, v in given.items() if v is not None}).file(options.emit)
