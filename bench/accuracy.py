"""`make accuracy`: the largest error of each operation beside its bound, as a table and as docs/accuracy.md.

`python -m bench.accuracy --cuda` measures on the CUDA device instead and keeps the numbers in accuracy_cuda.json, from
which the page has its columns for GPUs. Exit status 1 where a bound is exceeded.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.environment import clean
from bench.special import ONE, apart

if TYPE_CHECKING:
    from teeny.ir.schema import Ulp

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "accuracy.md"
CUDA = Path(__file__).with_name("accuracy_cuda.json")
OPERATIONS = {
    **{name: f"math.{name}" for name in ("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tanh", "erf")},
    "pow": "math.powf",
    "rsqrt": "math.rsqrt",
    "sqrt": "math.sqrt",
    "sqrt_rn": "tt.precise_sqrt",
    "fdiv": "arith.divf",
    "div_rn": "tt.precise_divf",
    "libdevice.exp": "libdevice.exp",
    **{
        f"libdevice.{name}": f"math.{name}"
        for name in ("tan", "sinh", "cosh", "asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh")
    },
    **{f"libdevice.{name}": f"math.{name}" for name in ("log10", "cbrt", "erfc")},
    **{f"libdevice.{name}": f"libdevice.{name}" for name in ("exp10", "hypot", "rcbrt", "sinpi", "cospi")},
    **{f"libdevice.{name}": f"libdevice.{name}" for name in ONE},
}
"""Functions of the language, and the operation that states the bound."""
DTYPES = ("f32", "f64", "f16", "bf16")
SLOW = ("erf", "libdevice.erfc")
"""Functions whose exact f64 values take long to find."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The largest error in ulp and the arguments that have it."""

    error: float
    at: tuple[float, ...]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; write the page, or with `--cuda` the numbers of the device."""
    clean()
    parser = argparse.ArgumentParser(prog="accuracy", description="the largest error of each operation")
    parser.add_argument("--cuda", action="store_true", help="measure on the CUDA device")
    parser.add_argument("--count", type=int, default=200_000, help="arguments of each sort")
    given = parser.parse_args(arguments)
    found: dict[str, dict[str, Worst]] = {}
    for name in OPERATIONS:
        print(f"accuracy: {name}", file=sys.stderr, flush=True)
        found[name] = {dtype: worst(name, dtype, given.count, cuda=given.cuda) for dtype in DTYPES}
    for name, cells in found.items():
        shown = "  ".join(f"{d} {w.error:8.3f} at {', '.join(f'{v:.9g}' for v in w.at)}" for d, w in cells.items())
        print(f"{name:8} {shown}")
    if given.cuda:
        kept = {name: {dtype: w.error for dtype, w in cells.items()} for name, cells in found.items()}
        CUDA.write_text(json.dumps({"device": _device(), "errors": kept}, indent=1) + "\n", "utf-8")
    else:
        PAGE.write_text(page(found), "utf-8")
    over = [f"{n} {d}" for n, cells in found.items() for d, w in cells.items() if w.error > bound(n, d, given.cuda)]
    if over:
        print(f"accuracy: over the bound: {', '.join(over)}")
    return 1 if over else 0


def ulp_of(name: str) -> Ulp:
    """The bounds that the schema of an operation states."""
    import_module("teeny.language")
    from teeny.ir.schema import registry

    return registry()[OPERATIONS[name]].ulp


def bound(name: str, dtype: str, cuda: bool = False) -> float:
    """The largest error allowed in ulp: half a one where results are rounded correctly, inf where nothing is stated.

    A 16-bit float is rounded from f32: the error of that, less than 2**-8 ulp for the bounds that there are, comes on
    top of the half.
    """
    ulp = ulp_of(name)
    stated = ulp.cpu if not cuda else ulp.cuda_f64 if dtype == "f64" else ulp.cuda_f32
    if stated is None:
        return math.inf
    if dtype in ("f32", "f64"):
        return stated or 0.5
    return 0.5 + stated * 2.0 ** (-12 if dtype == "f16" else -15) + 1e-9


def worst(name: str, dtype: str, count: int, *, cuda: bool = False) -> Worst:
    """Measure one function for one dtype: all values of a 16-bit dtype, else samples."""
    import numpy as np

    from bench.exact import TWO, errors, exact

    count = min(count, 3000) if name in SLOW and dtype == "f64" else count
    plain = name.removeprefix("libdevice.")
    given = _arguments(dtype, count, 2 if plain in TWO else 1)
    if plain in ONE:
        step = max(len(given[0]) // min(count // 10, 1000), 1)
        given = [apart(plain, np.ascontiguousarray(given[0][::step]))]
    found = (_on_cuda if cuda else _on_cpu)(name, dtype, given)
    wide = [x if dtype in ("f32", "f64") else x.astype(np.float32) for x in given]
    value = exact(plain, *wide)
    error = errors(found, value)
    if cuda and dtype != "f64":
        error = np.where(_flushed(wide, value), 0.0, error)
    at = int(np.argmax(error))
    return Worst(float(error[at]), tuple(float(x[at]) for x in given))


def _flushed(arguments: list[Any], value: Any) -> Any:
    """Where an argument or the result is a subnormal f32, which GPUs take for zero in these functions."""
    import numpy as np

    tiny = float(np.finfo(np.float32).tiny)
    # a result that should be the smallest normal number may come out just below it
    return np.any([(np.abs(x) < tiny * 1.001) & (x != 0) for x in (*arguments, value)], axis=0)


def _arguments(dtype: str, count: int, number: int) -> list[Any]:
    import ml_dtypes
    import numpy as np

    from bench.samples import pairs, samples

    if dtype in ("f32", "f64"):
        return [samples(dtype, count)] if number == 1 else list(pairs(dtype, count))
    kind: Any = np.float16 if dtype == "f16" else ml_dtypes.bfloat16
    if number == 1:
        return [np.arange(1 << 16, dtype=np.uint16).view(kind)]
    with np.errstate(all="ignore"):
        return [x.astype(kind) for x in pairs("f32", count)]


def _launch(name: str, arrays: list[Any], out: Any) -> None:
    import teeny.language as tl
    from bench import accuracy_kernels

    kernel: Any = accuracy_kernels.of_one if len(arrays) == 1 else accuracy_kernels.of_two
    n = len(out)
    plain = name.removeprefix("libdevice.")
    function: Any = getattr(tl if plain == name else tl.extra.libdevice, plain)
    kernel[(-(-n // 1024),)](*arrays, out, n, function, 1024)


def _on_cpu(name: str, dtype: str, arrays: list[Any]) -> Any:
    import numpy as np

    del dtype
    out = np.zeros_like(arrays[0])
    _launch(name, arrays, out)
    return out


def _on_cuda(name: str, dtype: str, arrays: list[Any]) -> Any:
    import numpy as np

    torch = import_module("torch")
    integer, kind = {
        "f32": (np.int32, torch.float32),
        "f64": (np.int64, torch.float64),
        "f16": (np.int16, torch.float16),
        "bf16": (np.int16, torch.bfloat16),
    }[dtype]
    there = [torch.from_numpy(x.view(integer)).cuda().view(kind) for x in arrays]
    out = torch.zeros_like(there[0])
    _launch(name, there, out)
    return out.view(getattr(torch, integer.__name__)).cpu().numpy().view(arrays[0].dtype)


def _device() -> str:
    torch, triton = import_module("torch"), import_module("triton")
    return f"{torch.cuda.get_device_name()}, Triton {triton.__version__}"


def page(found: dict[str, dict[str, Worst]]) -> str:
    """The text of docs/accuracy.md."""
    kept = json.loads(CUDA.read_text("utf-8"))
    gpu = kept["errors"]
    lines = [
        "# Accuracy of the elementary functions",
        "",
        "Errors in units of the last place (ulp): 0.5 or less is correct rounding. Each cell has the largest error",
        "found and, behind it, the bound that the operation promises. `make accuracy` measures the CPU and writes this",
        f"page; the columns for GPUs were measured on {kept['device']}.",
        "",
        "| function | CPU f32 | CPU f64 | f16 | bf16 | GPU f32 | GPU f64 |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in OPERATIONS:
        mine, other = found[name], gpu.get(name, {})
        cells = [_cell(mine[d].error, bound(name, d)) for d in ("f32", "f64")]
        cells += [f"{mine[d].error:.3f}" for d in ("f16", "bf16")]
        cells += [_cell(other.get(d), bound(name, d, cuda=True)) for d in ("f32", "f64")]
        lines.append(f"| `{name if '.' in name else f'tl.{name}'}` | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_NOTES, ""])


def _cell(error: float | None, limit: float) -> str:
    said = "no bound" if math.isinf(limit) else f"≤ {limit:g}"
    if error is None:
        return f"not measured ({said})"
    return f"{error:.2f} ({said})" if error < 1000 else f"{error:.1e} ({said})"


_NOTES = (
    "f32 is measured at numbers of every exponent, at random ones where the function is interesting, and at special",
    "values; f64 likewise at fewer. Of 16-bit floats every value is measured (of two arguments, pairs): they compute",
    "in f32 and round once, and so stay within a hair of 0.5. On the CPU infinities, NaNs, zeros with their signs and",
    "subnormal numbers are right everywhere, and the bits are the same at every vector width and instruction set.",
    "",
    "`sin` and `cos` are right for arguments of any size. `tl.sigmoid` is made of `exp` and two operations more. On",
    "GPUs `exp`, `exp2`, `log`, `log2`, `sqrt`, `rsqrt` and `/` of f32 are the approximations that Triton chooses, and",
    "all of these functions of f32 take subnormal arguments and results for zero, which the table leaves out.",
    "`sqrt_rn` and `div_rn` are rounded correctly there too.",
    "",
    "In f64 `lgamma` is measured without the numbers from -12 to -2, where it has zeros; its error is 2**-48 there in",
    "all. Functions from `lgamma` on are measured at fewer numbers.",
    "",
    "Functions of `libdevice` are in `tl.math` too. `libdevice.exp` is the accurate one there; the others that both",
    "have are one. On the CPU those of f32 compute in f64, and so round correctly but for one number in many millions.",
)


if __name__ == "__main__":
    sys.exit(main())
