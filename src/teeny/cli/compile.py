"""`teeny compile`: a kernel to MLIR, to code for a GPU that need not be there, or to native code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teeny.cli.target import TARGET_HELP, assignments, kernel_named, value_of
from teeny.cli.usage import Parser, UsageError

if TYPE_CHECKING:
    from teeny.runtime.program import Program
    from teeny.runtime.specialization import Specialization

_EMIT = {
    "mlir": "the kernel in the Triton dialect, as it is handed to Triton",
    "ttir": "the same after Triton's first passes",
    "ttgir": "the form with layouts over threads",
    "llir": "LLVM IR",
    "asm": "assembly: PTX, AMD's, or the CPU's",
    "ptx": "PTX",
    "cubin": "machine code of NVIDIA's GPUs",
    "hsaco": "machine code of AMD's GPUs",
    "object": "machine code of this CPU",
}
_MACHINE_CODE = ("cubin", "hsaco", "object")
_TARGETS = {"hsaco": "gfx942", "object": "cpu"}
_TARGET = "sm_90"


def arguments(parser: Parser) -> None:
    parser.add_argument("kernel", metavar="FILE:KERNEL", help=TARGET_HELP)
    parser.add_argument(
        "-s", "--set", action="append", default=[], metavar="NAME=VALUE", dest="choices",
        help="a dtype variable or a Const: -s D=f32 -s BLOCK_SIZE=1024",
    )  # fmt: skip
    said = "; ".join(f"{kind}: {what}" for kind, what in _EMIT.items())
    parser.add_argument("--emit", choices=tuple(_EMIT), default="mlir", help=f"default: mlir. {said}")
    parser.add_argument(
        "--target", metavar="ARCH",
        help="sm_75 to sm_120, gfx942, gfx950, or cpu (default: sm_90; gfx942 for hsaco, cpu for object)",
    )  # fmt: skip
    parser.add_argument("--portable", action="store_true", help="PTX that younger GPUs of NVIDIA take too")
    parser.add_argument("--num-warps", type=int, metavar="N", help="warps of a program (default: 4)")
    parser.add_argument("--num-stages", type=int, metavar="N", help="stages of pipelined loops (default: 3, AMD 2)")
    parser.add_argument("--num-ctas", type=int, metavar="N", help="thread blocks of a program, from sm_90 on")
    parser.add_argument("--maxnreg", type=int, metavar="N", help="registers of a thread at most")
    parser.add_argument("--ptx-version", type=int, metavar="N", help="86 for PTX 8.6 (default: the newest)")
    parser.add_argument(
        "--no-fp-fusion", action="store_false", dest="fp_fusion", default=None, help="round a * b + c twice"
    )
    parser.add_argument(
        "--debug", action="store_true", default=None, help="check tl.device_assert (default: where TRITON_DEBUG is 1)"
    )
    parser.add_argument(
        "--hint", action="append", default=[], metavar="NAME",
        help="an argument whose address or value is a multiple of 16, on which the code relies",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="compile even where the cache has the result")
    parser.add_argument("-o", "--output", metavar="OUT", help="write to a file (default: standard output)")


def run(options: argparse.Namespace) -> int:
    """Write the code asked for."""
    choices = {name: value_of(text) for name, text in assignments(options.choices).items()}
    if options.emit in _MACHINE_CODE and options.output is None and sys.stdout.isatty():
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
    return _program(kernel, options).file(options.emit)


def _program(kernel: Specialization, options: argparse.Namespace) -> Program:
    from teeny.runtime.compilers import kinds
    from teeny.runtime.program import compile
    from teeny.runtime.target import Target

    target = Target(options.target or _TARGETS.get(options.emit, _TARGET), portable=options.portable)
    made = (*kinds(target), *(("asm",) if "ptx" in kinds(target) else ()))
    if options.emit not in made:
        raise UsageError(f"there is no {options.emit} for {target}; there is {', '.join(made)}")
    names = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ptx_version", "fp_fusion", "debug")
    given: dict[str, Any] = {name: getattr(options, name) for name in names}
    return compile(kernel, target, hints=dict.fromkeys(options.hint, 16), force=options.force, **given)
