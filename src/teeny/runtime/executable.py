"""A specialisation made ready to run on one device. Compiled code is kept on disk under the hash of its IR."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from teeny.diag.errors import LaunchError
from teeny.ir.build import build
from teeny.ir.core import Module
from teeny.ir.dtype import INT, DType
from teeny.ir.store import default_store, key
from teeny.ir.text import print_module
from teeny.ir.types import PointerType, Type
from teeny.runtime.arrays import ArrayInfo
from teeny.runtime.grid import Grid
from teeny.runtime.options import Options
from teeny.runtime.scalars import slot

if TYPE_CHECKING:
    from teeny.backends.triton.compile import TritonArtifact
    from teeny.runtime.cuda import CudaDevice, Launch
    from teeny.runtime.specialization import Specialization

DIVISOR = 16
"""What Triton's hints speak of: an address or an integer that is a multiple of this."""
Hints = tuple[bool, ...]
_LAYERS = ("ops", "backends")  # that make machine code of the IR


class Executable(Protocol):
    """Runs on arguments that were checked before: an ArrayInfo or a number each."""

    def __call__(self, values: Sequence[Any], grid: Grid, stream: object) -> None: ...


def on_cpu(kernel: Specialization) -> Executable:
    """Native code for this machine's CPU."""
    from teeny.backends.cpu.engine import load
    from teeny.backends.cpu.pool import launch as run

    code, metadata = _cpu_object(kernel)
    address = load(code, str(metadata["symbol"]))
    scratch, cost = int(metadata["scratch_bytes"]), float(metadata["cost_ns_per_program"])
    names = kernel.element_names

    block_type = ctypes.c_int64 * (len(names) + 3)

    def execute(values: Sequence[Any], grid: Grid, stream: object) -> None:
        slots = [v.pointer if isinstance(v, ArrayInfo) else slot(v, names[at]) for at, v in enumerate(values)]
        run(address, block_type(*slots, *grid), grid[0] * grid[1] * grid[2], scratch, cost)

    return execute


def _cpu_object(kernel: Specialization) -> tuple[bytes, dict[str, Any]]:
    """Machine code and what a launch needs to know of it, from the cache or made now."""
    from teeny.backends.cpu.target import fingerprint

    _share_pool()
    store = default_store()
    name = key({"kind": "cpu", "teeny": build(*_LAYERS), "mlir": kernel.mlir, "machine": fingerprint("native")})
    known = store.get(name)
    if known is not None and {"object", "meta.json"} <= known.keys():
        return known["object"], json.loads(known["meta.json"])
    from teeny.backends.cpu.engine import compile_object
    from teeny.backends.cpu.lower.entry import lower

    made = lower(kernel.module)
    code = compile_object(made.ir_text)
    metadata = {
        "symbol": made.symbol,
        "scratch_bytes": made.scratch_bytes,
        "cost_ns_per_program": made.cost_ns_per_program,
    }
    store.put(name, {"object": code, "meta.json": json.dumps(metadata).encode()}, {"kernel": kernel.id})
    return code, metadata


@cache
def _share_pool() -> None:
    """Let the thread pool's own machine code come from the cache too."""
    from teeny.backends.cpu.pool import set_object_source
    from teeny.backends.cpu.target import fingerprint

    def source(text: str, make: Callable[[], bytes]) -> bytes:
        store = default_store()
        name = key({"kind": "pool", "teeny": build(*_LAYERS), "text": text, "machine": fingerprint("native")})
        known = store.get(name)
        if known is not None and "object" in known:
            return known["object"]
        code = make()
        store.put(name, {"object": code}, {"kernel": "the thread pool"})
        return code

    set_object_source(source)


def on_cuda(kernel: Specialization, ordinal: int, options: Options) -> Executable:
    """Code for the device `cuda:<ordinal>`: one cubin for each set of divisibility hints that launches bring."""
    from teeny.runtime.cuda import cuda_device

    device = cuda_device(ordinal)
    names = kernel.element_names
    loaded: dict[Hints, tuple[Launch, list[int]]] = {}

    def execute(values: Sequence[Any], grid: Grid, stream: object) -> None:
        slots = [v.pointer if isinstance(v, ArrayInfo) else slot(v, names[at]) for at, v in enumerate(values)]
        hints = tuple([s % DIVISOR == 0 for s in slots])
        found = loaded.get(hints)
        if found is None:
            found = loaded[hints] = _load(kernel, device, hints, options)
        launch, hidden = found
        launch(grid, slots + hidden, stream)

    return execute


def _load(kernel: Specialization, device: CudaDevice, hints: Hints, options: Options) -> tuple[Launch, list[int]]:
    """A launcher for the kernel on a device, and what Triton's hidden trailing parameters get."""
    from teeny.runtime.cuda import launcher, load

    artifact = artifact_for(kernel, device.architecture, options, hints)
    meta = artifact.metadata
    if meta["global_scratch_size"] or meta["profile_scratch_size"]:
        message = f"`{kernel.name}` needs scratch memory on the device, which launches cannot give it yet"
        raise LaunchError.of("X003", message, kernel=kernel.name)
    function = load(
        device,
        artifact.cubin,
        meta["name"],
        architecture=meta["arch"],
        threads=32 * meta["num_warps"],
        shared=meta["shared"],
        kernel=kernel.name,
    )
    hidden = [0] * meta["hidden"]
    return launcher(function, len(kernel.parameters) + len(hidden)), hidden


def artifact_for(kernel: Specialization, arch: str, options: Options, hints: Hints = ()) -> TritonArtifact:
    """PTX and cubin for an architecture, from the cache or from Triton's compiler.

    `hints`: for each argument, whether its address or value is a multiple of 16; integers and pointers alone count.
    The key holds the locations, because the code has them as line information.
    """
    from teeny.backends.triton.compile import TritonArtifact, compile_module
    from teeny.backends.triton.wheel import version

    store = default_store()
    module = _hinted(kernel.module, hints)
    name = key(
        {
            "kind": "triton",
            "teeny": build("backends"),
            "triton": version(),
            "text": print_module(module, locations=True, contracts=False),
            "arch": arch,
            "num_warps": options.num_warps,
            "num_stages": options.num_stages,
        }
    )
    known = store.get(name)
    if known is not None and {"ptx", "cubin", "meta.json"} <= known.keys():
        return TritonArtifact(known["ptx"].decode(), known["cubin"], json.loads(known["meta.json"]))
    made = compile_module(module, arch, num_warps=options.num_warps, num_stages=options.num_stages)
    files = {"ptx": made.ptx.encode(), "cubin": made.cubin, "meta.json": json.dumps(made.metadata).encode()}
    store.put(name, files, {"kernel": kernel.id})
    return made


def _hinted(module: Module, hints: Hints) -> Module:
    """The module with the hints as attributes of its kernel's arguments; the body is shared."""
    if not any(hints):
        return module
    function = module.kernel
    attributes = tuple(
        {"tt.divisibility": DIVISOR} if hint and _takes_hint(value.type) else {}
        for value, hint in zip(function.args, hints, strict=True)
    )
    hinted = replace(function, arg_attrs=attributes)
    return Module([hinted if f is function else f for f in module.functions])


def _takes_hint(type_: Type) -> bool:
    return isinstance(type_, PointerType) or (isinstance(type_, DType) and type_.within(INT))
