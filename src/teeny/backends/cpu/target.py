"""What the machine can do, found without importing llvmlite.

- `LEVELS`: the feature levels that code can be compiled for.
- `Features`, `features(level)`: what code of a level may use, and the lanes that suit it.
- `fingerprint(level)`: a text that changes whenever the same IR could become other machine code.
"""

from __future__ import annotations

import functools
import platform
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

__all__ = ["LEVELS", "Features", "Level", "features", "fingerprint", "host_features", "supported_levels"]

Level = Literal["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"]
LEVELS: tuple[Level, ...] = get_args(Level)

_V2 = frozenset({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"})
_V3 = _V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_FLAGS: dict[str, frozenset[str]] = {"x86-64": frozenset(), "x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}


@dataclass(frozen=True, slots=True)
class Features:
    """What generated code may rely on. `lanes` is the number of f32 lanes in a register."""

    x86: bool
    half: bool
    """Conversions between f16 and f32 are instructions."""
    fma: bool
    scalef: bool
    """AVX-512 (F, BW, CD, DQ, VL): `vscalef` at every vector width."""
    lanes: int
    bf16: bool = False
    """AVX512-BF16: an instruction adds two products of bf16 to an f32."""


def is_x86() -> bool:
    """True on a 64-bit x86 machine."""
    return platform.machine().lower() in ("x86_64", "amd64")


@functools.cache
def _cpu_info() -> tuple[str, frozenset[str]]:
    """Model and feature flags of the first processor of /proc/cpuinfo; empty where there is none."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            text = file.read(16384)
    except OSError:
        return platform.processor(), frozenset()
    model: list[str] = []
    flags: frozenset[str] = frozenset()
    for line in text.split("\n\n", 1)[0].splitlines():
        key, _, value = line.partition(":")
        key = key.strip()
        if key in ("vendor_id", "cpu family", "model", "model name", "CPU implementer", "CPU part"):
            model.append(value.strip())
        elif key in ("flags", "Features"):
            flags = frozenset(value.split())
    return "/".join(model), flags


def host_features() -> frozenset[str]:
    """Feature flags of this machine, as /proc/cpuinfo names them; empty where unknown."""
    return _cpu_info()[1]


def supported_levels() -> tuple[Level, ...]:
    """The levels whose code this machine runs."""
    if not is_x86():
        return ("native",)
    flags = host_features()
    return tuple(level for level in LEVELS if level == "native" or _FLAGS[level] <= flags)


@functools.cache
def features(level: Level = "native") -> Features:
    """What code compiled for `level` may use; on machines other than x86 every level means `native`."""
    if not is_x86():
        return Features(x86=False, half=True, fma=True, scalef=False, lanes=4)
    flags = host_features() if level == "native" else _FLAGS[level]
    avx512 = flags >= _V4
    return Features(
        x86=True,
        half="f16c" in flags,
        fma="fma" in flags,
        scalef=avx512,
        lanes=16 if avx512 else 8 if "avx2" in flags else 4,
        bf16=avx512 and "avx512_bf16" in flags,
    )


def _llvmlite_version() -> str:
    """Version and revision of llvmlite, and so of its LLVM, without importing it; "none" where it is missing."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        return "none"
    try:
        text = (Path(spec.origin).parent / "_version.py").read_text("utf-8")
    except OSError:
        text = ""
    found: list[str] = re.findall(r"^version_\w+ = '(.*)'", text, re.MULTILINE)
    if found:
        return " ".join(found)
    # Slower, as it reads the metadata of all that is installed.
    from importlib.metadata import version

    return version("llvmlite")


@functools.cache
def fingerprint(level: Level = "native") -> str:
    """Compiler, machine and level in one line: part of the key under which objects are kept."""
    model, flags = _cpu_info()
    machine = f"{model};{','.join(sorted(flags))}" if level == "native" else ""
    return f"llvmlite {_llvmlite_version()};{sys.platform};{platform.machine()};{level};{machine}"
