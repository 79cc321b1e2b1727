"""`teeny run`: a kernel on random arrays, or on arrays from files, and what it changed."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from teeny.cli.arrays import array_of, check_writable, save
from teeny.cli.target import TARGET_HELP, assignments, kernel_named, value_of
from teeny.cli.usage import Parser, UsageError

if TYPE_CHECKING:
    from teeny.runtime.kernel import Kernel

_SHOWN = 8
_EPILOG = """\
an array is written DTYPE[SHAPE], such as f32[4,7], and holds random numbers: normal ones, integers from 0 to 99, bools;
FILE.npy is an array from a file; its elements are bf16 where they are two bytes without a dtype, which is how NumPy
writes bf16. Everything else is a number, a Const or a dtype.

example: teeny run softmax.py:softmax --grid 4 x_ptr=f32[4,7] y_ptr=f32[4,7] n_cols=7 BLOCK_SIZE=8
"""


def arguments(parser: Parser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("kernel", metavar="FILE:KERNEL", help=TARGET_HELP)
    parser.add_argument("values", nargs="*", metavar="NAME=VALUE", help="the kernel's arguments")
    parser.add_argument("--grid", default="1", metavar="N", help="number of programs: 4, or 4,2 or 4,2,1 (default: 1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random numbers (default: 0)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0 (default: cpu)")
    parser.add_argument("--save", metavar="NAME=FILE.npy", action="append", default=[], help="keep an array")


def run(options: argparse.Namespace) -> int:
    """Launch, then print the arrays that changed."""
    import numpy

    grid = _grid(options.grid)
    if options.seed < 0:
        raise UsageError(f"--seed: {options.seed} is negative; a seed is 0 or more")
    random = numpy.random.default_rng(options.seed)
    saved = assignments(options.save)
    for file in saved.values():
        check_writable(file)
    with kernel_named(options.kernel) as kernel:
        given = {name: _value(name, text, random) for name, text in assignments(options.values).items()}
        arrays: dict[str, Any] = {name: value for name, value in given.items() if hasattr(value, "tobytes")}
        for name in saved:
            if name not in arrays:
                raise UsageError(f"--save: there is no array `{name}`")
        before: dict[str, Any] = {name: value.copy() for name, value in arrays.items()}
        after = _launch(kernel, grid, given, arrays, options.device)
    changed = [name for name in after if not _same(before[name], after[name])]
    for name in changed:
        print(_shown(name, after[name]))
    if not changed:
        print("no array changed")
    for name, file in saved.items():
        save(file, after[name])
    return 0


def _launch(
    kernel: Kernel[Any], grid: tuple[int, ...], given: dict[str, Any], arrays: dict[str, Any], device: str
) -> dict[str, Any]:
    """The arrays after the launch."""
    if device == "cpu":
        kernel[grid](**given)
        return arrays
    ordinal = re.fullmatch(r"cuda(?::(\d+))?", device)
    if ordinal is None:
        raise UsageError(f"there is no device `{device}`: cpu, cuda:0, ...")
    from teeny.runtime.cuda import cuda_device
    from teeny.runtime.cuda_buffer import from_numpy

    there = {name: from_numpy(cuda_device(int(ordinal[1] or 0)), array) for name, array in arrays.items()}
    kernel[grid](**{**given, **there})
    return {name: buffer.numpy() for name, buffer in there.items()}


def _grid(text: str) -> tuple[int, ...]:
    parts = text.strip("() ").split(",")
    if not 1 <= len(parts) <= 3 or not all(part.strip().isdigit() for part in parts):
        raise UsageError(f"`{text}` is no grid: one to three numbers, such as 4 or 4,2")
    return tuple(int(part) for part in parts)


def _value(name: str, text: str, random: Any) -> Any:
    array = array_of(name, text, random)
    return value_of(text) if array is None else array


def _same(before: Any, after: Any) -> bool:
    """Equal bit for bit, so that a NaN equals itself."""
    return bool(before.tobytes() == after.tobytes())


def _shown(name: str, array: Any) -> str:
    from teeny.runtime.numpy_array import dtype_name

    first = " ".join(f"{value:.6g}" for value in array.ravel()[:_SHOWN].tolist())
    rest = " ..." if array.size > _SHOWN else ""
    return f"{name} {dtype_name(array.dtype)}[{','.join(map(str, array.shape))}]: {first}{rest}"
