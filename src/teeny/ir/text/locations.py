"""Locations as text: one alias a place, defined after the module; calls that were inlined are callsites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny.diag.span import shown_column
from teeny.ir.text.attributes import quoted

if TYPE_CHECKING:
    from teeny.diag.span import Location


class LocationTable:
    """The places met so far, each with its alias. Columns are characters counted from 1."""

    __slots__ = ("_aliases", "_lines")

    def __init__(self) -> None:
        self._aliases: dict[Location, str] = {}
        self._lines: list[str] = []

    def suffix(self, location: Location | None) -> str:
        """` loc(...)`, as it follows an operation."""
        return " loc(unknown)" if location is None else f" loc({self._alias(location)})"

    def _alias(self, location: Location) -> str:
        found = self._aliases.get(location)
        if found is None:
            span = location.span
            place = f"{quoted(span.source.name)}:{span.line}:{shown_column(span.source.line(span.line), span.column)}"
            if location.call is not None:
                place = f"callsite({place} at {self._alias(location.call)})"
            found = self._aliases[location] = f"#loc{len(self._lines)}"
            self._lines.append(f"{found} = loc({place})\n")
        return found

    @property
    def definitions(self) -> str:
        """The aliases' definitions, one a line."""
        return "".join(self._lines)
