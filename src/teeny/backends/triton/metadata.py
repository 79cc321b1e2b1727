"""What a launch has to know about compiled code; plain enough for JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypedDict

from teeny.backends.triton.goal import Goal

_ENTRY = re.compile(r"\.visible \.entry ([\w$]+)\((.*?)\)", re.DOTALL)
_PARAMETER = re.compile(r"\.param \.(\w+)")
_TARGET = re.compile(r"^\.target (sm_\w+)", re.MULTILINE)
_VERSION = re.compile(r"^\.version (\S+)", re.MULTILINE)
_AMD_ARGUMENTS = re.compile(r"^ +\.args:\n(.*?)^ +\.group_segment_fixed_size:", re.MULTILINE | re.DOTALL)
_AMD_SIZE = re.compile(r"\.size: +(\d+)")
_AMD_NAME = re.compile(r"^\s*\.amdhsa_kernel (\S+)", re.MULTILINE)


class Metadata(TypedDict):
    """Facts about one compiled kernel.

    `params` are the types of the parameters in order, as PTX names them: those of the kernel, then `hidden` ones that
    Triton adds (the addresses of the global scratch memory and of the profiler's, null where their sizes are 0).
    `arguments` are the kernel's own, as Triton writes their types. Sizes are in bytes: scratch memory is per program,
    `shared` dynamic; `tensor_memory` is in columns. `arch` is exact (`sm_90a`), or plain for portable code (`sm_90`);
    `ptx_version` is the PTX's ISA (`8.7`), empty where there is no PTX; `num_warps` is what a launch needs, `threads`
    the same in threads of a block.
    """

    name: str
    arch: str
    ptx_version: str
    triton: str
    num_warps: int
    num_stages: int
    num_ctas: int
    threads: int
    shared: int
    tensor_memory: int
    global_scratch_size: int
    global_scratch_align: int
    profile_scratch_size: int
    profile_scratch_align: int
    arguments: list[str]
    params: list[str]
    hidden: int


def metadata_of(assembly: str, goal: Goal, arguments: list[str], triton: str, found: Mapping[str, Any]) -> Metadata:
    """From PTX or AMD's assembly, the kernel's argument types and what the stages of Triton's compiler noted."""
    name, arch, isa, params = _ptx(assembly) if goal.capability else _amdgcn(assembly, goal)
    return {
        "name": name,
        "arch": arch,
        "ptx_version": isa,
        "triton": triton,
        "num_warps": int(found["num_warps"]),
        "num_stages": int(found["num_stages"]),
        "num_ctas": int(found["num_ctas"]),
        "threads": int(found["num_warps"]) * goal.threads,
        "shared": int(found["shared"] or 0),
        "tensor_memory": int(found.get("tmem_size") or 0),
        "global_scratch_size": int(found.get("global_scratch_size") or 0),
        "global_scratch_align": int(found.get("global_scratch_align") or 1),
        "profile_scratch_size": int(found.get("profile_scratch_size") or 0),
        "profile_scratch_align": int(found.get("profile_scratch_align") or 1),
        "arguments": arguments,
        "params": params,
        "hidden": len(params) - len(arguments),
    }


def _ptx(text: str) -> tuple[str, str, str, list[str]]:
    entry, target, isa = _ENTRY.search(text), _TARGET.search(text), _VERSION.search(text)
    if entry is None or target is None or isa is None:
        raise ValueError("the PTX has no entry point or no header")
    return entry[1], target[1], isa[1], _PARAMETER.findall(entry[2])


def _amdgcn(text: str, goal: Goal) -> tuple[str, str, str, list[str]]:
    name, arguments = _AMD_NAME.search(text), _AMD_ARGUMENTS.search(text)
    if name is None or arguments is None:
        raise ValueError("the assembly describes no kernel")
    return name[1], goal.name, "", [f"u{int(size) * 8}" for size in _AMD_SIZE.findall(arguments[1])]
