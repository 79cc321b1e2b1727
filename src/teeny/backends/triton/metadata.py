"""What a launch has to know about compiled code; plain enough for JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypedDict

_ENTRY = re.compile(r"\.visible \.entry ([\w$]+)\((.*?)\)", re.DOTALL)
_PARAMETER = re.compile(r"\.param \.(\w+)")
_TARGET = re.compile(r"^\.target (sm_\w+)", re.MULTILINE)
_VERSION = re.compile(r"^\.version (\S+)", re.MULTILINE)


class Metadata(TypedDict):
    """Facts about one compiled kernel.

    `params` are the PTX types of the parameters in order: those of the kernel, then `hidden` ones that Triton adds (the
    addresses of the global scratch memory and of the profiler's, null where their sizes are 0). `arguments` are the
    kernel's own, as Triton writes their types. Sizes are in bytes: scratch memory is per program, `shared` dynamic.
    `arch` is exact (`sm_90a`); `ptx_version` is the PTX's ISA (`8.7`); `num_warps` is what a launch needs.
    """

    name: str
    arch: str
    ptx_version: str
    triton: str
    num_warps: int
    num_stages: int
    num_ctas: int
    shared: int
    global_scratch_size: int
    global_scratch_align: int
    profile_scratch_size: int
    profile_scratch_align: int
    arguments: list[str]
    params: list[str]
    hidden: int


def metadata_of(ptx: str, arguments: list[str], triton: str, found: Mapping[str, Any]) -> Metadata:
    """From the PTX, the kernel's argument types and what the stages of Triton's compiler noted."""
    entry = _ENTRY.search(ptx)
    target, isa = _TARGET.search(ptx), _VERSION.search(ptx)
    if entry is None or target is None or isa is None:
        raise ValueError("the PTX has no entry point or no header")
    params = _PARAMETER.findall(entry[2])
    return {
        "name": entry[1],
        "arch": target[1],
        "ptx_version": isa[1],
        "triton": triton,
        "num_warps": int(found["num_warps"]),
        "num_stages": int(found["num_stages"]),
        "num_ctas": int(found["num_ctas"]),
        "shared": int(found["shared"] or 0),
        "global_scratch_size": int(found["global_scratch_size"] or 0),
        "global_scratch_align": int(found["global_scratch_align"] or 1),
        "profile_scratch_size": int(found["profile_scratch_size"] or 0),
        "profile_scratch_align": int(found["profile_scratch_align"] or 1),
        "arguments": arguments,
        "params": params,
        "hidden": len(params) - len(arguments),
    }
