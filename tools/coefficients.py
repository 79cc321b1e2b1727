"""`python -m tools.coefficients`: the polynomials of the special functions, written to `ops/vecmath/tables.py`.

Each is Chebyshev interpolation of an exact function by mpmath, written in powers of a variable from -1 to 1 on its
range, with the fewest coefficients for a relative error below 2**-60 (of what is added to something larger, less).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

mp: Any = import_module("mpmath")
PAGE = Path(__file__).resolve().parent.parent / "src" / "teeny" / "ops" / "vecmath" / "tables.py"
Function = Callable[[Any], Any]
_HEAD = '''"""Polynomials of the special functions, which `python -m tools.coefficients` finds."""

from __future__ import annotations

__all__ = ["TABLES", "Piece"]

Piece = tuple[float, float, tuple[float, ...]]
"""A polynomial of (x - middle) / half, which goes from -1 at low to 1 at high; coefficients from the constant on."""
'''


def fit(f: Function, low: Any, high: Any, tolerance: float = 2.0**-60) -> list[Any]:
    """Coefficients of powers of the variable that is -1 at `low` and 1 at `high`."""
    middle, half, worst = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2, mp.inf
    checks = [mp.cos(mp.pi * (k + mp.mpf(1) / 3) / 40) for k in range(40)]
    exact = [f(middle + half * t) for t in checks]
    if low == -high:  # powers of x / high, which do not cancel where all coefficients are positive
        found = fit(f, 0, high, tolerance)
        return _moved(found)
    for count in (*range(5, 30), *range(30, 60, 2)):
        nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
        values = [f(middle + half * t) for t in nodes]
        weights = [
            mp.fsum(v * mp.cos(j * mp.pi * (2 * k + 1) / (2 * count)) for k, v in enumerate(values)) * 2 / count
            for j in range(count)
        ]
        weights[0] /= 2
        found = _powers(weights)
        worst = max(abs(mp.polyval(found[::-1], t) / e - 1) for t, e in zip(checks, exact, strict=True))
        if worst < tolerance:
            return found
    raise ValueError(f"no polynomial to {low}, {high}: {mp.nstr(worst, 3)}")


def _powers(weights: list[Any]) -> list[Any]:
    """Chebyshev coefficients as those of powers."""
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    total = [mp.mpf(0)] * len(weights)
    for number, weight in enumerate(weights):
        polynomial = before if number == 0 else now
        for power, c in enumerate(polynomial):
            total[power] += weight * c
        if number:
            doubled = [mp.mpf(0), *(2 * c for c in now)]
            before, now = now, [a - b for a, b in zip(doubled, [*before, 0, 0], strict=True)]
    return total


def _moved(powers: list[Any]) -> list[Any]:
    """Powers of 2 v - 1 as those of v."""
    total = [mp.mpf(0)] * len(powers)
    for power, weight in enumerate(powers):
        for k in range(power + 1):
            total[k] += weight * mp.binomial(power, k) * 2**k * (-1) ** (power - k)
    return total


def gamma_zeros(z: Any) -> Any:
    """lgamma z over (z - 1) (z - 2)."""
    if abs(z - 1) < 1e-15 or abs(z - 2) < 1e-15:
        z += mp.mpf(10) ** -20
    return mp.loggamma(z) / ((z - 1) * (z - 2))


def binet(square: Any) -> Any:
    """What Stirling's formula lacks of lgamma x, times x, by 1 / x**2."""
    if square < 1e-12:
        return mp.mpf(1) / 12 - square / 360
    x = 1 / mp.sqrt(square)
    return (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def stirling(u: Any) -> Any:
    """Gamma x over Stirling's formula, less 1, times x, by u = 1 / x."""
    if u < 1e-9:
        return mp.mpf(1) / 12 + u / 288
    x = 1 / u
    return (mp.exp(mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) - 1) * x


def inverse_erf(square: Any) -> Any:
    """erfinv x over x by x**2."""
    x = mp.sqrt(max(square, mp.mpf(10) ** -30))
    return mp.erfinv(x) / x


def inverse_erfc(inverse: Any) -> Any:
    """erfcinv(e**(-u**2)) over u by 1 / u, by Newton's method on log erfc."""
    u = 1 / mp.mpf(inverse)
    y = u * mp.mpf("0.9")
    for _ in range(60):
        value = mp.erfc(y)
        step = (mp.log(value) + u * u) * value / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y += step
        if abs(step) < mp.mpf(10) ** -40:
            break
    return y / u


def modulus(order: int) -> Function:
    """The modulus of J + i Y times sqrt(pi x / 2), by 1 / x**2."""

    def f(square: Any) -> Any:
        if square < mp.mpf(10) ** -8:
            return mp.mpf(1) + (mp.mpf(4 * order * order - 1)) / 16 * square
        x = 1 / mp.sqrt(square)
        return mp.sqrt((mp.besselj(order, x) ** 2 + mp.bessely(order, x) ** 2) * mp.pi * x / 2)

    return f


def phase(order: int) -> Function:
    """The phase of J + i Y, less x - (2 order + 1) pi / 4 - (1 - 4 order**2) / (8 x) times -1, times x**3."""

    def f(square: Any) -> Any:
        square = max(square, mp.mpf(10) ** -6)
        x = 1 / mp.sqrt(square)
        turned = (mp.besselj(order, x) + 1j * mp.bessely(order, x)) * mp.expj(-(x - (2 * order + 1) * mp.pi / 4))
        return (mp.arg(turned) - mp.mpf(4 * order * order - 1) / 8 / x) * x**3

    return f


def small_j0(square: Any) -> Any:
    zero = mp.besseljzero(0, 1)
    return mp.besselj(0, mp.sqrt(square)) / (square - zero**2)


def small_j1(square: Any) -> Any:
    x = mp.sqrt(max(square, mp.mpf(10) ** -30))
    return mp.besselj(1, x) / x


def small_y0(square: Any) -> Any:
    zero = mp.besselyzero(0, 1)
    x = mp.sqrt(max(square, mp.mpf(10) ** -24))
    return (mp.bessely(0, x) - 2 / mp.pi * mp.log(x / zero) * mp.besselj(0, x)) / (x**2 - zero**2)


def small_y1(square: Any) -> Any:
    zero = mp.besselyzero(1, 1)
    x = mp.sqrt(max(square, mp.mpf(10) ** -24))
    return (mp.bessely(1, x) - 2 / mp.pi * mp.log(x / zero) * mp.besselj(1, x)) * x / (x**2 - zero**2)


def small_i(order: int) -> Function:
    """I0 x by x**2, I1 x over x by x**2."""

    def f(square: Any) -> Any:
        x = mp.sqrt(max(square, mp.mpf(10) ** -24))
        return mp.besseli(order, x) / x**order

    return f


def large_i(order: int) -> Function:
    """I x times sqrt(x) e**-x, by 1 / x."""

    def f(u: Any) -> Any:
        if u < mp.mpf(10) ** -4:
            m = 4 * order * order
            terms = [mp.mpf(1)]
            for k in range(1, 9):
                terms.append(terms[-1] * -(m - (2 * k - 1) ** 2) / (k * 8) * u)
            return mp.fsum(terms) / mp.sqrt(2 * mp.pi)
        x = 1 / u
        return mp.besseli(order, x) * mp.sqrt(x) * mp.exp(-x)

    return f


PIECES: dict[str, tuple[Function, list[tuple[Any, Any]], float]] = {
    "lgamma": (gamma_zeros, [(0.5, 1), (1, 2), (2, 3)], 2.0**-60),
    "binet": (binet, [(0, mp.mpf(1) / 9)], 2.0**-54),
    "stirling": (stirling, [(0, 0.375), (0.375, 1)], 2.0**-56),
    "erfinv": (inverse_erf, [(0, 0.25)], 2.0**-60),
    "erfcinv": (inverse_erfc, [(0.03625, 0.15), (0.15, 0.5), (0.5, 1.25)], 2.0**-58),
    "j0": (small_j0, [(0, 9)], 2.0**-58),
    "j1": (small_j1, [(0, 9)], 2.0**-58),
    "y0": (small_y0, [(0, 9)], 2.0**-58),
    "y1": (small_y1, [(0, 9)], 2.0**-58),
    "modulus0": (modulus(0), [(0, mp.mpf(1) / 36), (mp.mpf(1) / 36, mp.mpf(1) / 9)], 2.0**-57),
    "modulus1": (modulus(1), [(0, mp.mpf(1) / 36), (mp.mpf(1) / 36, mp.mpf(1) / 9)], 2.0**-57),
    "phase0": (phase(0), [(0, mp.mpf(1) / 36), (mp.mpf(1) / 36, mp.mpf(1) / 9)], 2.0**-53),
    "phase1": (phase(1), [(0, mp.mpf(1) / 36), (mp.mpf(1) / 36, mp.mpf(1) / 9)], 2.0**-53),
    "i0": (small_i(0), [(-64, 64)], 2.0**-58),
    "i1": (small_i(1), [(-64, 64)], 2.0**-58),
    "large_i0": (large_i(0), [(0, 0.125)], 2.0**-57),
    "large_i1": (large_i(1), [(0, 0.125)], 2.0**-57),
}
"""Functions, their ranges, and relative errors."""


def main() -> int:
    """Fit all and write the file."""
    mp.mp.dps = 60
    lines = [_HEAD, "TABLES: dict[str, tuple[Piece, ...]] = {"]
    for name, (f, ranges, tolerance) in PIECES.items():
        lines.append(f'    "{name}": (')
        for low, high in ranges:
            found = fit(f, low, high, tolerance)
            print(name, mp.nstr(low, 4), mp.nstr(high, 4), len(found), file=sys.stderr, flush=True)
            lines.append(f"        ({float(low)!r}, {float(high)!r}, (")
            said = [f"{float(c)!r}," for c in found]
            lines += [f"            {' '.join(said[at : at + 4])}" for at in range(0, len(said), 4)]
            lines.append("        )),")
        lines.append("    ),")
    PAGE.write_text(
        "\n".join([*lines, "}  # fmt: skip", '"""By name of the function in tools/coefficients.py."""', ""])
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
