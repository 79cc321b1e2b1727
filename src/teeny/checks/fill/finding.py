"""What the analysis finds, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from teeny.checks.fill.state import Entry
    from teeny.ir.core import Op
    from teeny.ir.poly import Dim

Role = Literal["reduction", "dot", "stored", "address", "mask", "branch", "assertion"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Lanes outside `key` with what `entry` says take part in `op` in this role, and should not."""

    code: str
    op: Op
    role: Role
    key: Dim
    entry: Entry

    @property
    def identity(self) -> tuple[str, Op, Role, Op | None]:
        """One cause is reported once at a place, whatever the number of conditions."""
        return self.code, self.op, self.role, self.entry.load
