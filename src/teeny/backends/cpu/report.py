"""What native code reports during a launch: lines to print, and assertions that failed. See `lower.report`.

The function that native code calls is Python; it takes the interpreter's lock, which the launching thread has let go
of. What programs print is kept until the launch ends (or until there is much of it), so that it comes out in the order
of the programs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from teeny.backends.output import Report, first_failure, lines_of
from teeny.diag.errors import LaunchError
from teeny.ir.dtype import LEAVES
from teeny.ops.vocabulary import numpy_dtype

__all__ = ["Reporter"]

_HOOK = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
MOST = 1 << 16
"""Lines kept at most before they are printed."""


class Reporter:
    """The reports of one launch. `address` is the function for native code; call `finish` when the launch is over."""

    def __init__(self, kernel: str, reports: Sequence[Report], grid: tuple[int, int, int]) -> None:
        self._kernel = kernel
        self._reports = reports
        self._grid = grid
        self._lines: dict[int, list[str]] = {}
        self._count = 0
        self._failures: dict[int, tuple[Report, tuple[int, ...]]] = {}
        self._error: BaseException | None = None
        self._function = _HOOK(self._called)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value or 0

    def _called(self, program: int, site: int, values: int) -> None:
        try:
            report = self._reports[site]
            arrays = [_array(report.operands[at], values + 8 * at) for at in range(len(report.operands))]
            if report.kind == "assert":
                self._failures.setdefault(program, (report, first_failure(arrays[0])))
                return
            hexadecimal = [report.hexadecimal or dtype == "ptr" for dtype, _ in report.operands]
            lines = list(lines_of(self._program(program), report.text, hexadecimal, arrays))
            self._lines.setdefault(program, []).extend(lines)
            self._count += len(lines)
            if self._count > MOST:
                self._print()
        except BaseException as error:  # native code cannot be thrown through: it comes out of `finish`
            self._error = self._error or error

    def _program(self, number: int) -> tuple[int, int, int]:
        x, y, _ = self._grid
        return number % x, number // x % y, number // (x * y)

    def _print(self) -> None:
        lines, self._lines, self._count = self._lines, {}, 0
        for program in sorted(lines):
            print("\n".join(lines[program]))

    def finish(self) -> None:
        """Print what was said. Raises LaunchError L017 for an assertion that failed: of the first program where any
        did, the first."""
        self._print()
        if self._error is not None:
            raise self._error
        if not self._failures:
            return
        number = min(self._failures)
        report, lane = self._failures[number]
        program = f"program {self._program(number)}"
        raise LaunchError.of(
            "L017",
            f"an assertion of `{self._kernel}` failed" + (f": {report.text}" if report.text else ""),
            kernel=self._kernel,
            witness=f"{program}, lane {lane}" if lane else program,
            location=report.location,
            help=() if report.location is not None or not report.place else (f"it stands at {report.place}",),
        )


def _array(operand: tuple[str, tuple[int, ...]], at: int) -> Any:
    """The lanes of an operand, copied: `at` holds a scalar's bits, or the address of a tile."""
    import numpy as np

    name, shape = operand
    dtype = np.dtype(np.uint64) if name == "ptr" else numpy_dtype(np, LEAVES[name])
    count = int(np.prod(shape, dtype=np.int64))
    address = ctypes.c_uint64.from_address(at).value if shape else at
    flat = np.frombuffer(ctypes.string_at(address, count * dtype.itemsize), np.uint8)
    return flat.view(dtype).reshape(shape)
