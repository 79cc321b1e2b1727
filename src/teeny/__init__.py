"""Triton-style block kernels in typed Python: checked before anything runs, fast on CPU and GPU.

`import teeny as tn; import teeny.language as tl`. Heavy packages are imported when first needed.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from teeny import triton as triton
    from teeny.diag.errors import CompileError, InternalError, KernelError, LaunchError, TeenyError
    from teeny.runtime.definition import KernelWarning
    from teeny.runtime.device import Device, LaunchConfig, device
    from teeny.runtime.helpers import cdiv, next_power_of_2
    from teeny.runtime.kernel import Kernel, kernel
    from teeny.runtime.program import Program, compile
    from teeny.runtime.specialization import Specialization
    from teeny.runtime.target import Target
    from teeny.runtime.tensor_descriptor import TensorDescriptor
    from teeny.triton.kernel import TritonKernel, from_triton

_HOME = {
    "CompileError": "diag.errors",
    "InternalError": "diag.errors",
    "KernelError": "diag.errors",
    "LaunchError": "diag.errors",
    "TeenyError": "diag.errors",
    "KernelWarning": "runtime.definition",
    "cdiv": "runtime.helpers",
    "next_power_of_2": "runtime.helpers",
    "Kernel": "runtime.kernel",
    "kernel": "runtime.kernel",
    "Program": "runtime.program",
    "Target": "runtime.target",
    "TensorDescriptor": "runtime.tensor_descriptor",
    "Device": "runtime.device",
    "LaunchConfig": "runtime.device",
    "device": "runtime.device",
    "compile": "runtime.program",
    "Specialization": "runtime.specialization",
    "TritonKernel": "triton.kernel",
    "from_triton": "triton.kernel",
}

__all__ = [
    "CompileError",
    "Device",
    "InternalError",
    "Kernel",
    "KernelError",
    "KernelWarning",
    "LaunchConfig",
    "LaunchError",
    "Program",
    "Specialization",
    "Target",
    "TeenyError",
    "TensorDescriptor",
    "TritonKernel",
    "cdiv",
    "compile",
    "device",
    "from_triton",
    "kernel",
    "next_power_of_2",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "triton":
        return import_module("teeny.triton")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'teeny' has no attribute {name!r}")
    found: object = getattr(import_module(f"teeny.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
