"""Host-side arithmetic that launches need."""

from __future__ import annotations


def next_power_of_2(n: int) -> int:
    """The smallest power of two not below n (1 for n below 1): the block that holds n lanes."""
    return 1 if n <= 1 else 1 << (n - 1).bit_length()


def cdiv(x: int, y: int) -> int:
    """x / y rounded up: how many blocks of y cover x."""
    return -(-x // y)
