"""A specialisation made ready to run on one device. Compiled code is kept on disk under the hash of its IR."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from teeny import __version__
from teeny.diag.errors import CompileError, LaunchError
from teeny.ir.store import default_store, key
from teeny.runtime.arrays import ArrayInfo
from teeny.runtime.grid import Grid
from teeny.runtime.options import Options
from teeny.runtime.scalars import slot

if TYPE_CHECKING:
    from teeny.backends.triton.compile import TritonArtifact
    from teeny.runtime.specialization import Specialization


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
    name = key({"kind": "cpu", "teeny": __version__, "mlir": kernel.mlir, "machine": fingerprint("native")})
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
        name = key({"kind": "pool", "teeny": __version__, "text": text, "machine": fingerprint("native")})
        known = store.get(name)
        if known is not None and "object" in known:
            return known["object"]
        code = make()
        store.put(name, {"object": code}, {"kernel": "the thread pool"})
        return code

    set_object_source(source)


def on_cuda(kernel: Specialization, ordinal: int, options: Options) -> Executable:
    """A cubin for the device `cuda:<ordinal>`, loaded there."""
    from teeny.runtime.cuda import cuda_device, launcher, load

    device = cuda_device(ordinal)
    artifact = artifact_for(kernel, device.architecture, options)
    meta = artifact.metadata
    if meta["global_scratch_size"] or meta["profile_scratch_size"]:
        raise CompileError(
            LaunchError.of(
                "X003", f"`{kernel.name}` needs scratch memory on the device, which is not supported yet"
            ).diagnostics
        )
    function = load(
        device,
        artifact.cubin,
        meta["name"],
        architecture=meta["arch"],
        threads=32 * meta["num_warps"],
        shared=meta["shared"],
        kernel=kernel.name,
    )
    names = kernel.element_names
    hidden = [0] * meta["hidden"]
    launch = launcher(function, len(names) + len(hidden))

    def execute(values: Sequence[Any], grid: Grid, stream: object) -> None:
        slots = [v.pointer if isinstance(v, ArrayInfo) else slot(v, names[at]) for at, v in enumerate(values)]
        launch(grid, slots + hidden, stream)

    return execute


def artifact_for(kernel: Specialization, arch: str, options: Options) -> TritonArtifact:
    """PTX and cubin for an architecture, from the cache or from Triton's compiler."""
    from teeny.backends.triton.compile import TritonArtifact, compile_module
    from teeny.backends.triton.wheel import version

    store = default_store()
    name = key(
        {
            "kind": "triton",
            "teeny": __version__,
            "triton": version(),
            "mlir": kernel.mlir,
            "arch": arch,
            "num_warps": options.num_warps,
            "num_stages": options.num_stages,
        }
    )
    known = store.get(name)
    if known is not None and {"ptx", "cubin", "meta.json"} <= known.keys():
        return TritonArtifact(known["ptx"].decode(), known["cubin"], json.loads(known["meta.json"]))
    made = compile_module(kernel.module, arch, num_warps=options.num_warps, num_stages=options.num_stages)
    files = {"ptx": made.ptx.encode(), "cubin": made.cubin, "meta.json": json.dumps(made.metadata).encode()}
    store.put(name, files, {"kernel": kernel.id})
    return made
