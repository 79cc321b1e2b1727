"""The operations of Const arithmetic on Python's ints, with a limit on powers."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["symbol", "//", "%", "**", "min", "max", "cdiv"]
"""What an atom of a symbolic dim is: a name, or an operation that does not cancel."""

POWER_BITS: Final = 1024
"""Powers with more bits than this are refused: no dim is that large, and computing one would hang."""

EXPANDED_POWER: Final = 8
"""Sums are multiplied out up to this exponent."""


def compute(kind: Kind, args: list[int]) -> int:
    """The operation of an opaque atom on ints. Raises ArithmeticError where it is undefined."""
    match kind:
        case "//":
            return args[0] // args[1]
        case "%":
            return args[0] % args[1]
        case "cdiv":
            return -(-args[0] // args[1])
        case "**":
            return int_power(args[0], args[1])
        case "min":
            return min(args)
        case "max":
            return max(args)
        case "symbol":
            raise TypeError("a symbol has no operands")


def int_power(base: int, exponent: int) -> int:
    """base ** exponent for ints, refusing what is no int or has more than POWER_BITS bits."""
    if exponent < 0:
        raise ArithmeticError("a negative exponent gives no integer")
    if abs(base) > 1 and (base.bit_length() - 1) * exponent > POWER_BITS:
        raise OverflowError(f"a power of more than {POWER_BITS} bits")
    return base**exponent


def monomial_power(value: int, exponent: int) -> int:
    """value ** exponent; only large exponents, which stem from powers, are refused as `int_power` does."""
    return value**exponent if exponent <= EXPANDED_POWER else int_power(value, exponent)
