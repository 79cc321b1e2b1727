"""Calls of the CUDA driver through cuda-bindings, with errors that say what went wrong and what to do.

The package is imported on first use only. Each call gives `(code, results...)`; `check` turns a code into a
`LaunchError` and hands the results on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from teeny.diag.errors import LaunchError

_INSTALL = 'from a checkout of teeny, `pip install ".[triton]"` installs it on Linux; the device "cpu" needs nothing'
_STICKY = "after this error the process cannot use the device again; restart it"
_LATER = "kernels run asynchronously, so an earlier launch may be at fault: synchronize after each to find it"

_SENTENCES: dict[int, tuple[str, tuple[str, ...]]] = {
    1: ("a value handed to the driver is not valid", ()),
    2: ("the device is out of memory", ("free buffers, or run smaller pieces",)),
    4: ("the driver is shutting down", ()),
    46: ("another process uses the device exclusively", ()),
    100: ("there is no CUDA device", ("nvidia-smi lists devices; CUDA_VISIBLE_DEVICES may hide them",)),
    101: ("there is no CUDA device with this number", ("nvidia-smi lists devices",)),
    200: ("the program is damaged or no CUDA program", ("clear the cache and compile again",)),
    201: ("no context of the device is current", ()),
    209: ("the program was built for another architecture than the device's", ("compile for this device's target",)),
    218: ("the driver's assembler does not accept the PTX", ()),
    222: (
        "the PTX is of a newer version than the driver understands",
        ("launch the cubin instead, which does not depend on it", "or compile with an older ptx_version",
         "or update the driver"),
    ),
    400: ("a handle is not valid, or belongs to another device", ()),
    500: ("the program has no kernel of this name", ()),
    700: ("a kernel touched memory that is not its own", (_LATER, _STICKY)),
    701: ("the device has too few registers or too little shared memory", ("use fewer num_warps or smaller blocks",)),
    702: ("a kernel ran longer than the system allows", (_LATER, _STICKY)),
    709: ("the context of the device was destroyed", (_STICKY,)),
    710: ("an assertion in a kernel failed", (_LATER, _STICKY)),
    714: ("the device met a hardware stack error", (_LATER, _STICKY)),
    715: ("a kernel met an illegal instruction", (_LATER, _STICKY)),
    716: ("a kernel touched an address that is not a multiple of the element's size", (_LATER, _STICKY)),
    717: ("a kernel used an address of another memory space", (_LATER, _STICKY)),
    718: ("a kernel jumped to an address that is no code", (_LATER, _STICKY)),
    719: ("a kernel failed on the device", (_LATER, _STICKY)),
    720: ("the grid is too large to run all at once, as a cooperative launch must", ()),
    801: ("the device or driver does not support the operation", ()),
    802: ("the system is not ready yet", ()),
    803: ("the driver's library and its kernel module differ in version", ("reboot after updating the driver",)),
    999: ("the driver met an unknown error", (_STICKY,)),
}  # fmt: skip


@cache
def driver() -> Any:
    """The module `cuda.bindings.driver`, initialised. Raises LaunchError X003 without package, driver or device."""
    try:
        module: Any = import_module("cuda.bindings.driver")
    except ImportError as error:
        raise _unusable("the package cuda-bindings is not installed", _INSTALL) from error
    try:
        code = module.cuInit(0)[0]
    except (RuntimeError, OSError, ImportError) as error:  # what the package raises when libcuda is not found
        raise _unusable(
            "NVIDIA's driver (libcuda) is not installed", "install the driver, or use device 'cpu'"
        ) from error
    if int(code) != 0:
        sentence, hints = describe_code(int(code))
        raise _unusable(sentence, *hints)
    return module


def problem() -> str | None:
    """Why no CUDA device can be used, as a plain sentence; None when one can."""
    try:
        count = check(driver().cuDeviceGetCount(), "counting devices")
    except LaunchError as error:
        return error.diagnostics[0].message
    return None if count else "CUDA cannot be used: there is no CUDA device"


def describe_code(code: int) -> tuple[str, tuple[str, ...]]:
    """A sentence for an error code of the driver, and what helps."""
    sentence, hints = _SENTENCES.get(code, ("the driver reported an error", ()))
    return f"{sentence} (CUDA error {code})", hints


def check(results: Sequence[Any], doing: str, kernel: str | None = None) -> Any:
    """The result of a driver call (a tuple of them where there are several, None where there is none).

    `doing` names the call in the sentence "... failed: ...". Raises LaunchError X003 on an error code.
    """
    if int(results[0]) != 0:
        raise failure(int(results[0]), doing, kernel)
    if len(results) == 1:
        return None
    return results[1] if len(results) == 2 else tuple(results[1:])


def failure(code: int, doing: str, kernel: str | None = None) -> LaunchError:
    """The error for a code of the driver: L013 for a program of another architecture, else X003."""
    sentence, hints = describe_code(code)
    return LaunchError.of("L013" if code == 209 else "X003", f"{doing} failed: {sentence}", kernel=kernel, help=hints)


def _unusable(reason: str, *hints: str) -> LaunchError:
    return LaunchError.of("X003", f"CUDA cannot be used: {reason}", help=hints)
