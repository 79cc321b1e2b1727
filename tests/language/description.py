"""A random kernel as data: the author makes it, `source` writes it as Python, `interpret` gives it its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.language.values import CLASSES

Shape = tuple[str, ...]
"""Dims as the kernel writes them: "1", "BM", "BN", "BK", "BM * BN"."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of an expression. `dtype` is a leaf or a type variable; `sure`: no lane can be undefined."""

    dtype: str
    shape: Shape
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Expr:
    """An operation (`source.TEXT` has their list), its operands, and what else it needs to know."""

    op: str
    kind: Kind
    args: tuple[Expr, ...] = ()
    at: Any = None


@dataclass(frozen=True, slots=True)
class Let:
    """`name = value`, or `name op= value` where `op` is given."""

    name: str
    value: Expr
    op: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """`a, b = x, y`: both values are as they were before."""

    names: tuple[str, str]
    values: tuple[Expr, Expr]


@dataclass(frozen=True, slots=True)
class Store:
    pointer: Expr
    value: Expr
    mask: Expr | None


@dataclass(frozen=True, slots=True)
class For:
    """`loop` is "tl.range", "range" or "tl.static_range"; bounds are expressions, or ints for a static one.

    `other` stands in its `else`.
    """

    name: str
    loop: str
    bounds: tuple[Any, ...]
    body: tuple[Any, ...]
    other: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """Runs while `name`, an i32 scalar made before, is below `limit` and `condition` holds; counts it up at the end."""

    name: str
    limit: int
    condition: Expr | None
    body: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Spin:
    """The same, counted up at the start of the body, so that it may jump. `forever`: `while True`, which breaks off at
    the limit. `other` stands in its `else`."""

    name: str
    limit: int
    condition: Expr | None
    forever: bool
    body: tuple[Any, ...]
    other: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Jump:
    """`break`, `continue` or `return`."""

    word: str


@dataclass(frozen=True, slots=True)
class Tuple:
    """`name = (a, b)`. The expression "item" takes one element."""

    name: str
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unpack:
    """`a, b = helper(...)`."""

    names: tuple[str, str]
    helper: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class If:
    """A run-time `if`, or one of Consts where the condition is a text."""

    condition: Expr | str
    then: tuple[Any, ...]
    other: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """`if condition: return`."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of tensors. `early`: a condition under which it returns another value. `second`: it returns two; then
    `early` has two values as well."""

    name: str
    parameters: tuple[tuple[str, Kind], ...]
    body: tuple[Let, ...]
    early: tuple[Expr, ...] | None
    result: Expr
    second: Expr | None = None


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer parameter.

    An output that is `sure` never holds undefined lanes; a `loose` one holds elementary functions.
    """

    name: str
    dtype: str
    output: bool
    sure: bool = True
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel. `scalars` by name with their dtype; `variables` by name with the class of the type variable."""

    pointers: tuple[Pointer, ...]
    scalars: dict[str, str]
    variables: dict[str, str]
    rank: int
    helpers: tuple[Helper, ...]
    body: tuple[Any, ...]

    def leaves(self, dtype: str) -> Sequence[str]:
        """What a dtype may be."""
        return CLASSES[self.variables[dtype]] if dtype in self.variables else (dtype,)


@dataclass(slots=True)
class Run:
    """What a program runs on: leaves for type variables, Consts, scalars, the grid, a seed for memory."""

    dtypes: dict[str, str]
    constants: dict[str, Any]
    scalars: dict[str, int]
    grid: tuple[int, int, int]
    seed: int
    mode: int = 0
    """How it is compiled: a number of `trial.MODES`."""
    aliases: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Input by name: the output whose memory it shares, and by how many elements it lies further on."""


def dims(shape: Shape, constants: dict[str, Any]) -> tuple[int, ...]:
    """A shape's sizes."""
    values = {"1": 1, "BM * BN": constants["BM"] * constants["BN"], **constants}
    return tuple(values[d] for d in shape)


def fits(part: Shape, whole: Shape) -> bool:
    """Whether a shape broadcasts to another, whatever the Consts are."""
    tail = whole[len(whole) - len(part) :]
    return len(part) <= len(whole) and all(a in ("1", b) for a, b in zip(part, tail, strict=True))
