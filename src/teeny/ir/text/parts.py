"""What a reader finds of one operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teeny.ir.core import Region, Value
    from teeny.ir.types import Type


@dataclass(slots=True)
class Parts:
    """What an operation is made of; `types` is None where the text does not say the results' types."""

    operands: tuple[Value, ...] = ()
    attrs: dict[str, Any] | None = None
    types: tuple[Type, ...] | None = None
    regions: tuple[Region, ...] = ()
