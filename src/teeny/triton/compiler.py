"""The compiler of the backend `cpu` for Triton: what `import triton` loads of teeny, so next to nothing is imported.

Triton's front end makes a module in its dialect; before any of Triton's own passes it is read into teeny's IR, and
native code is made of that (`native`). To be imported after `triton`, which looks into this module while it is imported
itself.
"""

from __future__ import annotations

import hashlib
from typing import Any

from triton.backends.compiler import BaseBackend

__all__ = ["CpuBackend"]

_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
_DEFAULTS: dict[str, Any] = {
    "num_warps": 4, "num_ctas": 1, "num_stages": 3, "warp_size": 1, "maxnreg": None, "ptx_version": None,
    "ptx_options": None, "ir_override": None, "enable_fp_fusion": False, "enable_reflect_ftz": False,
    "launch_cooperative_grid": False, "launch_pdl": False, "cluster_dims": (1, 1, 1), "sched4reg": False, "clc": False,
    "supported_fp8_dtypes": ("fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16"), "deprecated_fp8_dot_operand_dtypes": (),
    "default_dot_input_precision": "ieee", "allowed_dot_input_precisions": _PRECISIONS,
    "max_num_imprecise_acc_default": 0, "extern_libs": (), "debug": False, "backend_name": "cpu",
    "sanitize_overflow": False, "arch": "", "instrumentation_mode": "", "fpsan_homomorphic_casts": False,
    "min_shared_mem": None, "waves_per_eu": 0, "matrix_instr_nonkdim": 0, "kpack": 1, "allow_flush_denorm": False,
    "schedule_hint": "none", "num_buffers_warp_spec": 0, "num_consumer_groups": 0, "reg_dec_producer": 0,
    "reg_inc_consumer": 0,
}  # fmt: skip
"""Every option of a GPU that a launch may state. The CPU takes and ignores those that say how a GPU is to work."""


class CpuOptions:
    """The options of a launch as attributes; Triton reads them in `__dict__`."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.__dict__.update(_DEFAULTS)
        self.__dict__.update({k: v for k, v in given.items() if k in _DEFAULTS and v is not None})
        self.__dict__["extern_libs"] = ()
        if "sanitize_overflow" not in given:  # Triton's asserts of it count with `debug` alone
            self.__dict__["sanitize_overflow"] = bool(self.__dict__["debug"])

    def hash(self) -> str:
        """One text for one set of options."""
        return hashlib.sha256(repr(sorted(self.__dict__.items())).encode()).hexdigest()


class CpuBackend(BaseBackend):
    """Native code for the CPU of this machine."""

    binary_ext = "object"

    def __init__(self, target: Any) -> None:
        super().__init__(target)

    @staticmethod
    def supports_target(target: Any) -> bool:
        return target.backend == "cpu"

    def hash(self) -> str:
        """Which teeny, machine and compiler code is made for and by."""
        from teeny.triton.native import version

        return version()

    def get_target_name(self, options: Any) -> str:
        return "cpu"

    def parse_options(self, options: dict[str, Any]) -> CpuOptions:
        return CpuOptions(options)

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any = None) -> None:
        from triton import knobs

        from teeny.triton.native import object_stage, text_stage

        stages["ttir"] = text_stage
        stages["object"] = object_stage
        hook = knobs.runtime.add_stages_inspection_hook
        if hook is not None:
            hook(self, stages, options, language, "")

    def load_dialects(self, context: Any) -> None:
        """Triton's own dialects are all that its front end needs."""

    def get_module_map(self) -> dict[str, Any]:
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        from teeny.triton.native import custom_cast

        def smallest(lhs: Any, rhs: Any) -> tuple[int, int, int]:
            return (1, 1, 1)

        return {"convert_custom_types": custom_cast, "min_dot_size": smallest}

    def pack_metadata(self, metadata: Any) -> tuple[()]:
        return ()


# Triton looks for a class that is not abstract: what later versions ask for must not make `import triton` fail.
type.__setattr__(CpuBackend, "__abstractmethods__", frozenset())
