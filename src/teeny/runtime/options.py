"""How a kernel is compiled for a GPU, and the keywords of a launch that are no parameters of the kernel."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from teeny.diag.errors import LaunchError
from teeny.runtime.target import Target


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a GPU's compiler.

    `num_warps`: warps of a program; `num_stages`: stages of pipelined loops (None: 3, and 2 for AMD); `num_ctas`:
    thread blocks that share a program (a cluster, from sm_90 on); `maxnreg`: registers of a thread at most;
    `fp_fusion`: a * b + c may be rounded once; `ptx_version`: the PTX ISA (86 for 8.6), for drivers older than the
    newest that the compiler knows. AMD's compiler has neither `maxnreg` nor `ptx_version`. `debug`: whether
    `tl.device_assert` checks (None: where TRITON_DEBUG is 1 in the environment); on the CPU it always does.
    """

    num_warps: int = 4
    num_stages: int | None = None
    num_ctas: int = 1
    maxnreg: int | None = None
    fp_fusion: bool = True
    ptx_version: int | None = None
    debug: bool | None = None

    @property
    def asserts(self) -> bool:
        """Whether assertions are compiled in."""
        return asserts_by_default() if self.debug is None else self.debug

    @property
    def parts(self) -> dict[str, Any]:
        """The options by name, for keys and metadata."""
        return asdict(self)


def asserts_by_default() -> bool:
    """What the environment says: TRITON_DEBUG, as Triton reads it."""
    return os.environ.get("TRITON_DEBUG", "").lower() in ("1", "true", "yes", "on", "y")


DEFAULT = Options()
STREAM = "stream"
RESERVED = (*(f.name for f in fields(Options)), STREAM)
"""Keywords of a launch; no parameter of a kernel has such a name."""

_RANGES: dict[str, tuple[int, int, bool]] = {
    "num_warps": (1, 32, True),
    "num_stages": (1, 64, False),
    "num_ctas": (1, 16, True),
    "maxnreg": (16, 255, False),
    "ptx_version": (60, 99, False),
}


def options_of(kernel: str, given: Mapping[str, Any]) -> Options:
    """Options from keywords; None takes the default. Raises LaunchError L014."""
    chosen = {k: v for k, v in given.items() if k != "stream" and v is not None}
    for name, value in chosen.items():
        if name not in RESERVED:
            known = ", ".join(n for n in RESERVED if n != "stream")
            raise _wrong(kernel, name, value, f"one of {known}", f"there is no option `{name}`")
        if name in ("fp_fusion", "debug"):
            if not isinstance(value, bool):
                raise _wrong(kernel, name, value, "True or False")
            continue
        low, high, power = _RANGES[name]
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not low <= value <= high or (power and value & (value - 1)):
            raise _wrong(kernel, name, value, f"{'a power of two' if power else 'an int'} from {low} to {high}")
    return Options(**chosen)


def check_options(kernel: str, options: Options, target: Target) -> None:
    """Raises LaunchError L014 for an option that is not the default's and that the target lacks or cannot follow."""
    for name, why in _lacking(target):
        value = getattr(options, name)
        if value != (default := getattr(DEFAULT, name)):
            said = f"`{kernel}` cannot be compiled for {target.name} with {name}={value!r}: {why}"
            raise _wrong(kernel, name, value, f"no {name}" if default is None else f"{name}={default}", said)
    if target.kind == "cpu":
        return
    from teeny.backends.triton.goal import goal

    made_for = goal(target.name)
    if options.num_warps > made_for.most_warps:
        raise _wrong(kernel, "num_warps", options.num_warps, f"at most {made_for.most_warps} on {target.name}")
    if options.ptx_version is not None and options.ptx_version < made_for.oldest_isa:
        needed = f"at least {made_for.oldest_isa}, the first version with {target.name}"
        raise _wrong(kernel, "ptx_version", options.ptx_version, needed)


def _lacking(target: Target) -> list[tuple[str, str]]:
    """Options that the target has nothing for, and why."""
    if target.kind == "cpu":
        return [(f.name, "it is an option for GPUs") for f in fields(Options) if f.name != "debug"]
    lacking = [] if target.kind == "cuda" else [(n, "only NVIDIA's GPUs have it") for n in ("maxnreg", "ptx_version")]
    number = re.fullmatch(r"sm_(\d+)", target.name)
    if number is None or int(number[1]) < 90:
        lacking.append(("num_ctas", "clusters begin with NVIDIA's sm_90"))
    return lacking


def _wrong(kernel: str, name: str, value: Any, needed: str, message: str = "") -> LaunchError:
    said = message or f"`{kernel}` cannot run with {name}={value!r}"
    return LaunchError.of("L014", said, kernel=kernel, argument=name, found=repr(value), needed=needed)
