"""Rows of measurements, and the one table that they end in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """`cells` are shown as they are; `ratio` is compared with `limit`: at most it, or at least where `at_least`."""

    what: str
    cells: tuple[str, ...]
    ratio: float | None = None
    limit: float = 1.0
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the budget is kept; true where there is none."""
        if self.ratio is None:
            return True
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


def within(what: str, seconds: float, budget: float) -> Row:
    """A time with a budget in seconds."""
    return Row(
        what,
        (duration(seconds), f"budget {duration(budget)}", "", f"{seconds / budget:.2f} of the budget"),
        seconds / budget,
    )


def noted(what: str, *cells: str) -> Row:
    """A number without a budget."""
    return Row(what, cells)


def duration(seconds: float) -> str:
    """Three digits with a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def table(rows: list[Row]) -> str:
    """The rows in columns, each with a verdict where it has a budget."""
    count = max(len(row.cells) for row in rows)
    lines = [(row.what, *row.cells, *[""] * (count - len(row.cells)), _verdict(row)) for row in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(count + 2)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _verdict(row: Row) -> str:
    if row.ratio is None:
        return ""
    return "ok" if row.holds else "OVER" if not row.at_least else "BELOW"
