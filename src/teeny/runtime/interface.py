"""What a compiled kernel asks of a launch: arguments, contracts, outputs. Goes into JSON with a saved program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teeny.backends.output import Report, reports_of
from teeny.diag.errors import LaunchError
from teeny.diag.span import Location
from teeny.runtime.arrays import ArrayInfo
from teeny.runtime.contracts import Contract, Extent, Require, check, contracts_of, stored
from teeny.runtime.grid import Grid

if TYPE_CHECKING:
    from teeny.ir.core import Function


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: a pointer to elements of `dtype`, or a scalar of it."""

    name: str
    pointer: bool
    dtype: str
    location: Location | None = None

    @property
    def whole(self) -> bool:
        """Whether it is an integer passed by value."""
        return not self.pointer and self.dtype[0] in "iu"

    @property
    def annotation(self) -> str:
        return f"Ptr[{self.dtype}]" if self.pointer else f"Scalar[{self.dtype}]"


@dataclass(frozen=True, slots=True, eq=False)
class Interface:
    """`stored`: the numbers of the arguments that are written through. `reports`: what it prints and asserts."""

    kernel: str
    id: str
    arguments: tuple[Argument, ...]
    contracts: tuple[Contract, ...]
    stored: frozenset[int]
    reports: tuple[Report, ...] = ()

    @property
    def names(self) -> list[str]:
        return [a.name for a in self.arguments]

    def check(self, values: Sequence[Any], grid: Grid) -> None:
        """Outputs and contracts, on arguments that fit already. Raises LaunchError L005, L006, L007, L012."""
        for at in self.stored:
            if values[at].readonly:
                argument = self.arguments[at]
                raise LaunchError.of(
                    "L005",
                    f"`{argument.name}` is read-only, and `{self.kernel}` stores through it",
                    kernel=self.kernel,
                    argument=argument.name,
                    found="a read-only array",
                    needed="a writable one",
                    location=argument.location,
                )
        check(self.contracts, self.kernel, self.names, values, grid)

    def to_json(self) -> dict[str, Any]:
        """All but the places in the source."""
        return {
            "kernel": self.kernel,
            "id": self.id,
            "arguments": [[a.name, a.pointer, a.dtype] for a in self.arguments],
            "contracts": [c.to_json() for c in self.contracts],
            "stored": sorted(self.stored),
            "reports": [r.to_json() for r in self.reports],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Interface:
        contracts = tuple((Extent if "sizes" in c else Require).from_json(c) for c in data["contracts"])
        arguments = tuple(Argument(*row) for row in data["arguments"])
        reports = tuple(map(Report.from_json, data["reports"]))
        return Interface(data["kernel"], data["id"], arguments, contracts, frozenset(data["stored"]), reports)


def interface_of(function: Function, id: str, arguments: tuple[Argument, ...]) -> Interface:
    """The interface of a concrete kernel."""
    contracts = tuple(contracts_of(function))
    return Interface(function.name, id, arguments, contracts, stored(function), reports_of(function))


def device_of(interface: Interface, values: Sequence[Any]) -> str:
    """The one device of all arrays ("cpu" where there are none). Raises LaunchError L004."""
    first: tuple[str, str] | None = None
    for argument, value in zip(interface.arguments, values, strict=True):
        if not isinstance(value, ArrayInfo):
            continue
        if first is None:
            first = (argument.name, value.device)
        elif value.device != first[1]:
            raise LaunchError.of(
                "L004",
                f"the arrays of `{interface.kernel}` lie on different devices",
                kernel=interface.kernel,
                argument=argument.name,
                found=value.device,
                needed=f"{first[1]}, as `{first[0]}`",
            )
    return "cpu" if first is None else first[1]
