"""Some programs of a launch, run on the reference executor with the launch's own arguments: what they touch is checked.

The memory of the arguments is copied first, so that nothing of the launch's happens.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from teeny.diag.diagnostic import Diagnostic, at, report
from teeny.diag.span import user_location
from teeny.passes.polling import spinning

if TYPE_CHECKING:
    from teeny.backends.reference.errors import ExecutionError
    from teeny.ir.core import Module

__all__ = ["Sample", "sample"]

LARGEST = 1 << 28
"""Bytes of memory that are copied at most."""
SECONDS = 3.0
"""How long programs of one launch are run at most, about."""

Grid = tuple[int, int, int]


@dataclass(slots=True)
class Sample:
    """What was found in so many programs; `reason` says why none was run."""

    findings: list[Diagnostic] = field(default_factory=list[Diagnostic])
    programs: int = 0
    reason: str = ""


def sample(module: Module, names: Sequence[str], values: Sequence[Any], grid: Grid) -> Sample:
    """Run the programs at the corners of a grid and in its middle; the first that goes wrong ends it.

    `values` are tensors of torch, arrays and numbers, one a parameter of the kernel, `names` what messages call them.
    """
    from teeny.backends.reference.errors import ExecutionError
    from teeny.backends.reference.run import run

    if 0 in grid:
        return Sample(reason="the grid is empty")
    if spinning(module.kernel):
        return Sample(reason="it waits for other programs")
    try:
        buffers = _buffers(values)
    except _NoCopyError as error:
        return Sample(reason=str(error))
    done = Sample()
    end = time.monotonic() + SECONDS
    for program in _chosen(grid):
        done.programs += 1
        try:
            run(module, buffers, grid, program=program)
        except ExecutionError as error:
            done.findings.append(_diagnostic(error, module.kernel.name, names, grid))
            break
        if time.monotonic() > end:
            break
    return done


def _chosen(grid: Grid) -> Iterator[Grid]:
    """Corners, then the middle; each once."""
    corners = product(*[sorted({0, n - 1}) for n in grid])
    middle = tuple(n // 2 for n in grid)
    yield from dict.fromkeys((*((x, y, z) for x, y, z in corners), (middle[0], middle[1], middle[2])))


class _NoCopyError(Exception):
    pass


def _buffers(values: Sequence[Any]) -> list[Any]:
    """Copies of the memory behind tensors and arrays; those that share memory share the copy."""
    import numpy as np

    from teeny.backends.reference.memory import Buffer, Memory

    memories: dict[tuple[str, int], Memory] = {}
    total = 0
    found: list[Any] = []
    for value in values:
        array = getattr(value, "array", value)
        if hasattr(array, "untyped_storage"):
            storage = array.untyped_storage()
            key = (str(array.device), int(storage.data_ptr()))
            size, offset = int(storage.nbytes()), int(array.storage_offset()) * int(array.element_size())
        elif isinstance(array, np.ndarray):
            low, high = _bounds(array)
            key, size, offset = ("cpu", low), high - low, int(array.ctypes.data) - low
        else:
            found.append(value)
            continue
        if key[0] == "meta":
            raise _NoCopyError("tensors on `meta` have no memory")
        if key not in memories:
            total += size
            if total > LARGEST:
                raise _NoCopyError(f"its arguments take more than {LARGEST >> 20} MiB")
            memories[key] = Memory.of(_bytes(array, key[1], size))
        found.append(Buffer(memories[key], offset))
    return found


def _bounds(array: Any) -> tuple[int, int]:
    """The addresses between which the elements of an array of numpy lie."""
    low = high = int(array.ctypes.data)
    for count, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min(0, (count - 1) * stride), high + max(0, (count - 1) * stride)
    return low, high + int(array.itemsize)


def _bytes(array: Any, address: int, size: int) -> Any:
    """A copy of memory as bytes."""
    import ctypes

    import numpy as np

    if hasattr(array, "untyped_storage"):
        import torch

        whole = torch.empty(0, dtype=torch.uint8, device=array.device).set_(array.untyped_storage())
        return whole.cpu().numpy().copy()
    return np.frombuffer(ctypes.string_at(address, size), np.uint8).copy()


def _diagnostic(error: ExecutionError, kernel: str, names: Sequence[str], grid: Grid) -> Diagnostic:
    from teeny.backends.reference.errors import AccessError, FailedAssertionError

    labels = () if error.op.loc is None else (at(user_location(error.op.loc)),)
    facts = [("program", f"{error.program} of the grid {grid}")]
    if error.lane:
        facts.append(("lane", str(error.lane)))
    if isinstance(error, AccessError) and error.argument < 0:
        return report("B001", f"`{kernel}` {error.message}", *labels, facts=tuple(facts), kernel=kernel)
    if isinstance(error, AccessError):
        name = names[error.argument] if error.argument < len(names) else f"argument {error.argument}"
        verb = "writes" if error.op.schema.group == "store" else "touches" if "atomic" in error.op.name else "reads"
        facts.append(("witness", f"element {error.offset // max(error.size, 1)} of `{name}`"))
        message = f"`{kernel}` {verb} outside of `{name}`"
        return report("B001", message, *labels, facts=tuple(facts), kernel=kernel)
    code = "L017" if isinstance(error, FailedAssertionError) else "F005" if "addr" in error.message else "F006"
    return report(code, f"`{kernel}`: {error.message}", *labels, facts=tuple(facts), kernel=kernel)
