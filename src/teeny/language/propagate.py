"""How Triton spells whether a NaN wins in `maximum`, `minimum` and `clamp`."""

from __future__ import annotations

from typing import Final

__all__ = ["PropagateNan"]


class PropagateNan:
    """`propagate_nan=tl.PropagateNan.ALL` is `propagate_nan=True`."""

    NONE: Final = False
    """A number wins against a NaN."""
    ALL: Final = True
    """A NaN wins."""
