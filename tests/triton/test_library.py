"""Every function of libdevice in kernels of Triton: native code and the reference against exact values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.accuracy import OPERATIONS, bound
from bench.exact import WIDER, errors, exact
from bench.special import FUNCTIONS, error

pytest.importorskip("triton")

import teeny as tn
from teeny.backends.reference import run
from tests.triton.library_calls import SIZE, Call, arguments, every, groups, kernel_of
from tests.triton.library_exact import EXACT, KIND

CALLS = every()
NONE: dict[str, str] = {}
"""Symbols that do not work, and why: none."""


def both(calls: list[Call], given: list[Any], folder: Path) -> tuple[Any, Any]:
    """A row a function, from native code and from the reference."""
    kernel = tn.from_triton(kernel_of(calls, folder))
    native = np.zeros((len(calls), SIZE), KIND[calls[0].result])
    kernel[(1,)](*given, native, SIZE=SIZE)
    plain = np.zeros_like(native)
    names = [f"x{n}_ptr" for n in range(len(given))]
    types = dict(zip([*names, "y_ptr"], [*given, plain], strict=True))
    run(kernel.specialize(**types, SIZE=SIZE).module, [*given, plain], (1, 1, 1))
    return native, plain


def results(calls: list[Call], given: list[Any], folder: Path) -> list[Any]:
    """The same where the two agree bit for bit."""
    native, plain = both(calls, given, folder)
    for row, call in enumerate(calls):
        wrong = ~same(native[row], plain[row])
        shown = [x[wrong][:3] for x in (*given, native[row], plain[row])]
        assert not wrong.any(), (call.symbol, shown)
    return list(native)


def same(x: Any, y: Any) -> Any:
    """Equal bit for bit, but that all NaNs are one."""
    bits = f"u{x.itemsize}"
    return (x.view(bits) == y.view(bits)) | ((x != x) & (y != y))


@pytest.mark.parametrize("calls", groups([c for c in CALLS if c.plain in EXACT], 12), ids=lambda g: g[0].plain)
def test_exact(calls: list[Call], tmp_path: Path) -> None:
    given = arguments(calls[0].operands)
    for call, found in zip(calls, results(calls, given, tmp_path), strict=True):
        meaning: Any = EXACT[call.plain]
        values = [meaning(*row) for row in zip(*(x.tolist() for x in given), strict=True)]
        if call.result[0] == "f":
            wanted = np.array(values, np.float64).astype(KIND[call.result])
        else:
            bits = 8 * KIND[call.result](0).itemsize
            wanted = np.array([int(v) % (1 << bits) for v in values], f"u{bits // 8}").view(KIND[call.result])
        wrong = ~same(found, wanted)
        shown = [x[wrong][:4] for x in given]
        assert not wrong.any(), (call.symbol, int(wrong.sum()), shown, found[wrong][:4], wanted[wrong][:4])


def name_of(call: Call) -> str:
    """The function without the suffix of f32."""
    plain = call.plain.removeprefix("fast_")
    return plain.removesuffix("f") if call.result == "f32" else plain


LIMITS = {"rhypot": 1.6, "norm3d": 1.1, "norm4d": 1.1, "rnorm3d": 1.6, "rnorm4d": 1.6, "jn": 40.0, "yn": 40.0}
"""Errors of f64 in ulp of those that are no operations."""
SPECIAL = [c for c in CALLS if name_of(c) in FUNCTIONS]


@pytest.mark.parametrize("calls", groups(SPECIAL, 7), ids=lambda g: g[0].plain)
def test_special(calls: list[Call], tmp_path: Path) -> None:
    """Within the bounds, at special values too."""
    given = arguments(calls[0].operands)
    if name_of(calls[0]) in ("jn", "yn"):
        given[0] %= 60
        given[0][::16] = -3
    chosen = np.r_[0:64, 64:SIZE:7]
    shape = (24, -148 + 23) if calls[0].result == "f32" else (53, -1022 + 1)
    for call, found in zip(calls, results(calls, given, tmp_path), strict=True):
        name = name_of(call)
        for at in chosen:
            x = [v[at].item() for v in given]
            if name == "lgamma" and -12 < x[0] < -2 and call.result == "f64":
                value = FUNCTIONS[name](*x)
                assert found[at] == value or abs(found[at] - value) < 2.0**-48
                continue
            limit = 0.51 if call.result == "f32" else LIMITS.get(name) or bound(f"libdevice.{name}", "f64")
            away = error(name, *shape, found[at].item(), *x)
            assert away <= limit, (call.symbol, x, found[at], away)


OTHERS = [c for c in CALLS if c not in SPECIAL and c.plain not in EXACT]


@pytest.mark.skipif(not WIDER, reason="no wider type")
@pytest.mark.parametrize("calls", groups(OTHERS, 12), ids=lambda g: g[0].plain)
def test_elementary(calls: list[Call], tmp_path: Path) -> None:
    """Within the bounds that their operations state."""
    given = arguments(calls[0].operands)
    for rows in both(calls, given, tmp_path):
        for call, found in zip(calls, rows, strict=True):
            name = "pow" if call.plain.startswith("powi") else name_of(call)
            limit = max(bound(n, call.result) for n in (name, f"libdevice.{name}") if n in OPERATIONS)
            away = errors(found, exact(name, *given))
            worst = int(np.argmax(away))
            assert away[worst] <= limit, (call.symbol, [x[worst] for x in given], found[worst], away[worst])


def test_none_is_left_out() -> None:
    assert len(CALLS) >= 300
    assert len({c.symbol for c in CALLS}) == len(CALLS)
