"""Launches of compiled Triton kernels: from the arguments of `kernel[grid](...)` to a run on the thread pool."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from teeny.diag.errors import LaunchError
from teeny.runtime.executable import native_executable, small_blocks
from teeny.runtime.grid import normalise
from teeny.runtime.scalars import slot

if TYPE_CHECKING:
    from teeny.runtime.executable import Executable

__all__ = ["Utilities", "launcher"]

_FLOATS = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "f32": "f32", "fp64": "f64"}
_THREADS = 1 << 30
_MEMORY = 1 << 40


class Utilities:
    """What Triton asks about the device, and how it loads code."""

    def get_device_properties(self, device: object) -> dict[str, int]:
        """What a CPU has in the place of a GPU's limits."""
        from teeny.backends.cpu.pool import thread_count

        return {
            "max_shared_mem": _MEMORY,
            "max_num_regs": _THREADS,
            "multiprocessor_count": thread_count(),
            "warpSize": 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }

    def load_binary(self, name: str, code: bytes, shared: int, device: object) -> tuple[object, object, int, int, int]:
        """The code itself: it is loaded with the first launch, which knows what it needs."""
        return code, code, 0, 0, _THREADS

    def unload_module(self, module: object) -> None:
        """Code stays as long as the process."""


_LAUNCH = """\
def launch(x, y, z, stream, function, packed, metadata, enter, leave{names}):
    if enter is not None:
        enter(metadata)
    programs = x * y * z
    if 0 < programs <= most and x > 0 and y > 0:
        entry = free.pop() if free else made()
        try:
            pack_into(entry[0], 0, address, entry[2], programs, {slots}x, y, z)
        except error:
            normalise((x, y, z))
            raise
        run(entry[1])
        free.append(entry)
    elif x > 0 and y > 0 and z > 0:
        execute(function, ({slots}x, y, z), normalise((x, y, z)))
    elif x < 0 or y < 0 or z < 0:
        normalise((x, y, z))
    if leave is not None:
        leave(metadata)
"""
"""Straight lines, since this is what teeny adds to each launch of Triton's."""


def launcher(source: Any, metadata: Any) -> Callable[..., None]:
    """Launches of one compiled kernel. Triton calls it with the grid, its handles, its hooks, and all arguments.

    Raises LaunchError for arguments that are not in main memory, and grids that are no integers or too large.
    """
    name, native = str(metadata.name), cast("Mapping[str, Any]", metadata.native)
    names = [f"a{at}" for at in range(len(source.signature))]
    pairs = zip(names, source.signature.items(), strict=True)
    slots: list[str] = []
    for value, (argument, type_) in pairs:
        _slots(value, argument, type_, slots, frozenset(native["stored"]))
    addresses = _Addresses(name)
    loaded: list[Executable] = []

    def execute(function: bytes, packed: tuple[int, ...], grid: tuple[int, int, int]) -> None:
        if not loaded:
            loaded.append(native_executable(name, function, native, int(native["arguments"])))
            scope.update(small_blocks(loaded[0]))
        loaded[0](packed, grid, None)

    def valid(grid: tuple[Any, ...]) -> tuple[int, int, int]:
        return normalise(grid, {}, name)

    scope: dict[str, Any] = {
        "most": 0, "free": (), "of": addresses.of, "slot": slot, "parts": addresses.parts, "execute": execute,
        "error": struct.error, "normalise": valid,
    }  # fmt: skip
    text = _LAUNCH.format(names="".join(f", {n}" for n in names), slots="".join(f"{s}, " for s in slots if s))
    exec(compile(text, "<launch>", "exec"), scope)
    return scope["launch"]


def _slots(value: str, name: str, type_: Any, slots: list[str], stored: frozenset[int]) -> None:
    """Append, for each slot of an argument of a Triton type, the expression that makes it."""
    if isinstance(type_, tuple):
        for at, one in enumerate(cast("tuple[Any, ...]", type_)):
            _slots(f"{value}[{at}]", f"{name}[{at}]", one, slots, stored)
    elif type_ == "constexpr":
        return
    elif type_.startswith("tensordesc"):
        rank = type_[type_.index("[") : type_.index("]")].count(",") + 1
        made = f"parts({value}, {name!r}, {len(slots) in stored})"
        slots.extend([f"*{made}", *[""] * (4 * rank + 2)])
    elif type_.startswith("*"):
        written = len(slots) in stored
        slots.append(f"{value}.data_ptr() if getattr({value}, 'is_cpu', False) else of({value}, {name!r}, {written})")
    elif type_ in ("i1", "u1"):
        slots.append(f"1 if {value} else 0")
    elif type_ in _FLOATS:
        slots.append(f"slot({value}, {_FLOATS[type_]!r})")
    else:
        slots.append(f"slot({value}, 'u64')" if type_ == "u64" else value)


class _Addresses:
    """Pointers that are no CPU tensors."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel

    def of(self, value: Any, name: str, stored: bool) -> int:
        """The address; `stored`: whether the kernel writes there."""
        if isinstance(value, int):
            return value
        if stored and getattr(value, "readonly", False):
            raise LaunchError.of(
                "L005", f"`{name}` is read-only, and `{self.kernel}` stores through it", kernel=self.kernel,
                argument=name, found="a read-only array", needed="a writable one",
            )  # fmt: skip
        device = getattr(value, "device", None)
        if hasattr(value, "data_ptr") and (device is None or getattr(device, "type", "cpu") == "cpu"):
            return int(value.data_ptr())
        raise LaunchError.of(
            "L004",
            f"`{self.kernel}` runs on the CPU, and `{name}` does not lie there",
            kernel=self.kernel,
            argument=name,
            found=str(device) if device is not None else type(value).__name__,
            needed="a tensor in main memory",
        )

    def parts(self, descriptor: Any, name: str, stored: bool) -> tuple[int, ...]:
        """A descriptor made on the host, as its pointer, sizes, strides and padding; then sizes and strides again."""
        sizes, strides = tuple(descriptor.shape), tuple(descriptor.strides)
        nan = getattr(descriptor, "padding", "zero") == "nan"
        return (self.of(descriptor.base, name, stored), *sizes, *strides, nan, 0, *sizes, *strides)
