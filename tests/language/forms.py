"""Cells of elementwise functions: scalars, ragged rows, all pairs of special values as a broadcast tile, literals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.special import apart
from teeny.ir.schema import registry
from tests.language import libdevice
from tests.language.meaning import EXACT, FREE_ZERO, MEANING, UNSPECIFIED, cast, exact
from tests.language.rounding import DTYPES
from tests.language.sheet import Sheet
from tests.language.values import FLOATS, INTEGERS, inputs, random, specials

N = 256
SIDE = 32
RAGGED = 77
"""Lanes of the ragged row that are loaded."""


@dataclass(frozen=True, slots=True)
class Form:
    """How an elementwise function is written, and of which dtypes."""

    text: str
    of: str
    gives: str = ""
    """The dtype of the result; that of the operands where empty."""


COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
FORMS: dict[str, Form] = {
    "add": Form("{0} + {1}", "N"), "sub": Form("{0} - {1}", "N"), "mul": Form("{0} * {1}", "N"),
    "neg": Form("-{0}", "N"), "pos": Form("+{0}", "N"), "abs": Form("tl.abs({0})", "N"),
    "maximum": Form("tl.maximum({0}, {1})", "N"), "minimum": Form("tl.minimum({0}, {1})", "N"),
    "fma": Form("tl.fma({0}, {1}, {2})", "F"),
    "and_": Form("{0} & {1}", "B"), "or_": Form("{0} | {1}", "B"), "xor": Form("{0} ^ {1}", "B"),
    "invert": Form("~{0}", "B"), "shl": Form("{0} << {1}", "I"), "shr": Form("{0} >> {1}", "I"),
    **{n: Form(f"{{0}} {s} {{1}}", "D" if n in ("eq", "ne") else "N", "bool") for n, s in COMPARISONS.items()},
    "truediv": Form("{0} / {1}", "F"), "floordiv": Form("{0} // {1}", "I"), "mod": Form("{0} % {1}", "N"),
    **{n: Form(f"tl.{n}({{0}})", "F") for n in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "floor", "ceil")},
    **{name: Form(f"tl.{name}({{0}})", "F") for name in ("sin", "cos", "tanh", "erf", "expm1", "log1p", "sqrt_rn")},
    **{name: Form(f"tl.{name}({{0}}, {{1}})", "F") for name in ("pow", "div_rn", "fdiv")},
    "clamp": Form("tl.clamp({0}, {1}, {2})", "N"), "umulhi": Form("tl.umulhi({0}, {1})", "W"),
}  # fmt: skip
MIXED = ("add", "sub", "mul", "floordiv", "mod", *COMPARISONS)
"""Functions that take i32 beside i64."""
SWAPPED = {"sub": "rsub", "truediv": "rtruediv", "floordiv": "rfloordiv", "mod": "rmod", "shl": "rshl"}
MIRRORED = {
    "lt": "gt",
    "le": "ge",
    "gt": "lt",
    "ge": "le",
    "eq": "eq",
    "ne": "ne",
    "add": "add",
    "mul": "mul",
    "and_": "and_",
    "or_": "or_",
    "xor": "xor",
}
NO_REFLECTED = ("shr", "maximum", "minimum")
"""Functions that take no literal on the left."""


FORMS |= {f"libdevice.{n}": Form(libdevice.text(n), of, libdevice.GIVES.get(n, "")) for n, of in libdevice.OF.items()}


def operation(name: str) -> str:
    """The operation that says how far a function is off."""
    plain = name.removeprefix("libdevice.")
    known = {"pow": "math.powf", "libdevice.exp": "libdevice.exp"}.get(name) or libdevice.FAST.get(plain)
    return known or (f"math.{plain}" if f"math.{plain}" in registry() else f"libdevice.{plain}")


def allowed(name: str, dtype: str) -> float:
    """The ulp that a function may be off. 16-bit floats round an f32 result once more, which may fall either way."""
    if name == "sigmoid":
        return 4.0 if dtype in ("f32", "f64") else 1.0
    return registry()[operation(name)].ulp.cpu if dtype in ("f32", "f64") else 1.0


APPROXIMATE = {"truediv": "arith.divf", "rtruediv": "arith.divf", "fdiv": "arith.divf", "sqrt": "math.sqrt"}
"""Functions that GPUs do not round correctly, and the operation that says how far they are off."""
BESSEL = (2.2e-6, 5e-12)
"""Absolute errors of Bessel functions beyond 8, in f32 and f64 (CUDA C++ Programming Guide, mathematical functions)."""


def flushes(name: str) -> bool:
    """Whether a GPU computes a function in f32 with subnormal numbers as zeros, and is exact otherwise."""
    return name in ("mod", "rmod", "floor", "ceil") or name.startswith("libdevice.")


def allowed_on_gpu(name: str, dtype: str) -> float | None:
    """The same on a GPU; None for what is exact there. Where no bound is known, a thousandth of the value."""
    if name == "sigmoid":
        return 20.0
    found = APPROXIMATE.get(name) or operation(name)
    if found not in registry():
        return None
    ulp = registry()[found].ulp
    stated = ulp.cuda_f64 if dtype == "f64" else ulp.cuda_f32
    if dtype in ("f16", "bf16"):
        return 1.0 if stated is None or stated < 100 else 4.0
    return 2.0**14 if stated is None else stated or None


def arity(form: Form) -> int:
    return 3 if "{2}" in form.text else 2 if "{1}" in form.text else 1


def store(sheet: Sheet, name: str, text: str, gives: str, *xs: Any, names: tuple[str, ...] = ("x", "y", "z")) -> None:
    """Put one application of a function to arrays (that broadcast)."""
    given = dict(zip(names, xs, strict=False))
    with np.errstate(all="ignore"):
        if name in EXACT:
            value, wanted = exact(name, *xs)
            gpu = allowed_on_gpu(name, gives)
            off = name == "libdevice.lgamma" and (xs[0] != apart("lgamma", xs[0])) & ~np.isnan(xs[0])
            near = BESSEL[gives == "f64"] if name.removeprefix("libdevice.") in ("j0", "j1", "y0", "y1") else 0.0
            sheet.put(text, gives, wanted, value=value, ulp=allowed(name, gives), gpu=gpu, skip=off, near=near, **given)
            return
        wanted = np.asarray(MEANING[name](*xs))
        unspecified = UNSPECIFIED.get(name)
        skip = unspecified(*xs) if unspecified is not None and gives not in FLOATS else False
    if name in ("libdevice.llrint", "libdevice.llround"):
        skip = np.isnan(xs[0].astype(np.float64))  # C leaves it open, and a GPU gives the smallest number
    flushed = 0.0 if flushes(name) and gives in FLOATS else None
    gpu = allowed_on_gpu(name, gives) if name in APPROXIMATE else flushed
    sheet.put(text, gives, wanted, skip=skip, free_zero=name in FREE_ZERO, gpu=gpu, **given)


def elementwise(name: str, dtype: str, other: str = "") -> Sheet:
    """One function of tensors of one dtype, or of `dtype` beside `other` (i32 and i64)."""
    form, sheet = FORMS[name], Sheet()
    kinds = [dtype, other or dtype, dtype][: arity(form)]
    gives = form.gives or ("i64" if other else dtype)
    data: list[Any] = []
    for at, kind in enumerate(kinds):
        # rolled by different counts, so that specials meet in the rows too
        values = np.concatenate([np.roll(specials(kind), 5 * at * at + at), random(kind, N - 32, at)]).astype(
            DTYPES[kind]
        )
        data.append(values)
        sheet.array("xyz"[at], kind, values)
    letters = "xyz"[: len(kinds)]
    sheet.line(f"at = tl.arange(0, {N})")
    for letter in letters:
        sheet.line(f"{letter}0 = tl.load({letter} + 40)")
        sheet.line(f"{letter}1 = tl.load({letter} + at)")
        sheet.line(f"{letter}2 = tl.load({letter} + tl.arange(0, {SIDE}))")
        sheet.line(f"{letter}3 = tl.load({letter} + at, at < {RAGGED})")

    def say(*suffixes: str) -> str:
        return form.text.format(*(f"{letter}{s}" for letter, s in zip(letters, suffixes, strict=False)))

    flat = [values[:SIDE] for values in data]
    store(sheet, name, say("0", "0", "0"), gives, *(values[40] for values in data))
    store(sheet, name, say("1", "1", "1"), gives, *data)
    if len(kinds) > 1:
        extra, more = (["2"], flat[2:]) if len(kinds) == 3 else ([], [])
        store(sheet, name, say("2[:, None]", "2[None, :]", *extra), gives, flat[0][:, None], flat[1][None, :], *more)
        store(sheet, name, say("1", "0", "1"), gives, data[0], data[1][40], *data[2:])
        store(sheet, name, say("0", "1", "0"), gives, data[0][40], data[1], *[v[40] for v in data[2:]])
        store(sheet, name, say("2[:, None]", "2", *extra), gives, flat[0][:, None], flat[1], *more)
    else:
        store(sheet, name, say("2[:, None]"), gives, flat[0][:, None])
    _ragged(sheet, name, say("3", "3", "3"), gives, data)
    return sheet


def _ragged(sheet: Sheet, name: str, text: str, gives: str, data: list[Any]) -> None:
    """The lanes below the mask alone are stored; the others keep what was there."""
    start = sheet.sizes.get(gives, 5)
    store(sheet, name, text, gives, *(values[:RAGGED] for values in data))
    sheet.lines[-1] = f"tl.store(out_{gives} + {start} + at, {text}, at < {RAGGED})"


def literal(value: Any, dtype: str) -> Any:
    """What a literal is beside a tensor of a dtype."""
    wide = np.asarray(float(value) if isinstance(value, float) else value)
    return np.asarray(value).astype(DTYPES[dtype]) if dtype not in FLOATS else cast(wide.astype(np.float64), dtype)


def literals(name: str, dtype: str) -> Sheet:
    """A function with a literal on either side: it takes the dtype of the tensor beside it."""
    form, sheet = FORMS[name], Sheet()
    gives = form.gives or dtype
    x = inputs(dtype, N, 9)
    sheet.array("x", dtype, x)
    sheet.line(f"at = tl.arange(0, {N})")
    sheet.line("x1 = tl.load(x + at)")
    sheet.line("x0 = tl.load(x + 40)")
    if name == "clamp":
        for low, high in ((0, 7), (1, None), (None, 100), *(((-2.5, 0.3),) if dtype in FLOATS else ())):
            texts = ("x1" if v is None else f"({v})" for v in (low, high))
            store(
                sheet,
                name,
                form.text.format("x1", *texts),
                gives,
                x,
                *(x if v is None else literal(v, dtype) for v in (low, high)),
            )
        return sheet
    if name == "fma":
        for text, y, z in (
            ("tl.fma(x1, 2.0, x1)", 2.0, None),
            ("tl.fma(x1, x1, 0.3)", None, 0.3),
            ("tl.fma(x1, 0.1, 3.0)", 0.1, 3.0),
        ):
            store(sheet, name, text, gives, x, *(x if v is None else literal(v, dtype) for v in (y, z)))
        return sheet
    numbers: list[Any] = [1, 3, 7]
    if dtype not in FLOATS and not dtype.startswith("u"):
        numbers += [-1, -3]
    if dtype in INTEGERS:
        numbers += [int(np.iinfo(DTYPES[dtype]).max), int(np.iinfo(DTYPES[dtype]).min)]
    if dtype in FLOATS:
        numbers += [0.1, -2.5, 1e-3, 60000, float("inf"), -3]
    for number in numbers:
        text = f'{"-" if number < 0 else ""}float("inf")' if number in (float("inf"), -float("inf")) else repr(number)
        right = f"({text})" if number < 0 else text
        value = literal(number, dtype)
        store(sheet, name, form.text.format("x1", right), gives, x, value)
        store(sheet, name, form.text.format("x0", right), gives, x[40], value)
        swapped = SWAPPED.get(name)
        if isinstance(number, float) and name == "mod":
            swapped = None  # the signature takes an int alone
        if swapped is not None or name in MIRRORED:
            if swapped is None and name == "mod":
                continue
            store(sheet, swapped or MIRRORED[name], form.text.format(right, "x1"), gives, x, value)
    return sheet


def has_literals(name: str, dtype: str) -> bool:
    return arity(FORMS[name]) > 1 and dtype != "bool" and not (name in ("and_", "or_", "xor") and dtype == "bool")
