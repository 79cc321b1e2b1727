"""Contracts at launch: `require` and `extent` evaluated in unbounded integers on the values passed.

A contract's slice of the IR (constants, Scalar parameters, num_programs, arithmetic, comparisons) becomes one Python
expression over `s`, the scalars by argument number, and `g`, the grid. It is compiled once a specialisation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from teeny.diag.errors import InternalError, LaunchError
from teeny.diag.span import Location
from teeny.ir.core import Function, Op, Value, walk_function
from teeny.ir.types import PointerType, element_of
from teeny.ops.compare import CORE
from teeny.runtime.arrays import ArrayInfo, is_row_major, row_major
from teeny.runtime.grid import Grid

Evaluate = Callable[[Sequence[Any], Grid], Any]
_BINARY = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "floordiv": "quotient({}, {})",
    "mod": "remainder({}, {})",
    "max": "max({}, {})",
    "min": "min({}, {})",
    "and": "({} & {})",
    "or": "({} | {})",
    "xor": "({} ^ {})",
    "shl": "({} << {})",
    "shr": "({} >> {})",
}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@dataclass(frozen=True, slots=True)
class Require:
    """`text` is the condition as an expression over `s` and `g`; `source` as the kernel writes it."""

    text: str
    message: str
    source: str = ""
    location: Location | None = None

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "message": self.message, "source": self.source}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Require:
        return Require(data["text"], data["message"], data["source"])


@dataclass(frozen=True, slots=True)
class Extent:
    """`argument`: the pointer's number. `sizes` and `strides` are tuples as text (`strides` is "" where dense)."""

    argument: int
    sizes: str
    strides: str
    source: str = ""
    location: Location | None = None

    def to_json(self) -> dict[str, Any]:
        return {"argument": self.argument, "sizes": self.sizes, "strides": self.strides, "source": self.source}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Extent:
        return Extent(data["argument"], data["sizes"], data["strides"], data["source"])


Contract = Require | Extent
_DESCRIPTORS = "tl.make_tensor_descriptor"
"""What asks for contracts that the kernel does not write."""


def contracts_of(function: Function) -> list[Contract]:
    """The contracts of a concrete function, in program order."""
    numbers = {value: at for at, value in enumerate(function.args)}
    found: list[Contract] = []
    for op in walk_function(function):
        if op.name == "teeny.require":
            text = _text(op.operands[0], numbers)
            own = op.loc is None or op.loc.name != _DESCRIPTORS
            found.append(Require(text, str(op.attrs["message"]), _source(op.loc, 0) if own else "", op.loc))
        elif op.name == "teeny.aligned":
            text = f"(s[{numbers[op.operands[0]]}][0] % {op.attrs['bytes']} == 0)"
            found.append(Require(text, str(op.attrs["message"]), "", op.loc))
        elif op.name == "teeny.extent":
            rank = op.attrs["rank"]
            assert isinstance(rank, int)
            texts = [_text(v, numbers) for v in op.operands[1:]]
            strides = _tuple(texts[rank:]) if op.attrs["strided"] else ""
            found.append(Extent(numbers[op.operands[0]], _tuple(texts[:rank]), strides, _source(op.loc, 1), op.loc))
    return found


def _tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)},)"


@cache
def _compiled(text: str) -> Evaluate:
    return eval(f"lambda s, g: {text}", {**NAMES, "__builtins__": {}})


def _quotient(a: int, b: int) -> int:
    """Truncating quotient; 0 by 0, as the language leaves it open."""
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def _remainder(a: int, b: int) -> int:
    return a - _quotient(a, b) * b


NAMES: dict[str, Any] = {"quotient": _quotient, "remainder": _remainder, "max": max, "min": min, "abs": abs}
"""What the texts of contracts may call."""


_EVALUATED = frozenset(("constant", "num_programs", "cmp", "cast", "select", "neg", "abs", *_BINARY))


def evaluable(value: Value, arguments: Collection[Value]) -> bool:
    """Whether a launch can find a number from its arguments."""
    op = value.op
    if op is None:
        return value in arguments
    return op.schema.group in _EVALUATED and not op.regions and all(evaluable(v, arguments) for v in op.operands)


def _text(value: Value, numbers: dict[Value, int]) -> str:
    op = value.op
    if op is None:
        return f"s[{numbers[value]}]"
    group = op.schema.group
    if group == "constant":
        return repr(op.attrs["value"]) if op.attrs["value"] not in (float("inf"), -float("inf")) else "0"
    if group == "num_programs":
        return f"g[{op.attrs['axis']}]"
    parts = [_text(v, numbers) for v in op.operands]
    if group == "cmp":
        return f"({parts[0]} {_COMPARE[CORE[str(op.attrs['predicate'])]]} {parts[1]})"
    if group == "cast":
        return parts[0]
    if group == "select":
        return f"({parts[1]} if {parts[0]} else {parts[2]})"
    if group == "neg":
        return f"(-{parts[0]})"
    if group == "abs":
        return f"abs({parts[0]})"
    if group in _BINARY:
        return _BINARY[group].format(*parts)
    raise InternalError(f"{op.name} in a contract", op.loc)


def check(contracts: Sequence[Contract], kernel: str, names: Sequence[str], values: Sequence[Any], grid: Grid) -> None:
    """Check all contracts on a launch; `values` holds an ArrayInfo or a number an argument. Raises LaunchError."""
    for one in contracts:
        if isinstance(one, Require):
            if not _compiled(one.text)(values, grid):
                raise _required(one, kernel, names, values, grid)
        else:
            _check_extent(one, kernel, names, values, grid)


def _required(one: Require, kernel: str, names: Sequence[str], values: Sequence[Any], grid: Grid) -> LaunchError:
    said = one.message or "a condition of the kernel does not hold"
    passed = ", ".join(f"{n} = {v}" for n, v in zip(names, values, strict=True) if not isinstance(v, ArrayInfo))
    return LaunchError.of(
        "L006",
        f"`{kernel}`: {said}",
        kernel=kernel,
        found=f"{passed + ', ' if passed else ''}grid {grid}",
        needed=one.source or None,
        location=one.location,
    )


def _source(location: Location | None, argument: int) -> str:
    """The text of a contract's argument, from its source."""
    if location is None:
        return ""
    import ast

    try:
        tree = ast.parse(location.span.text.strip(), mode="eval").body
    except SyntaxError:
        return ""
    if isinstance(tree, ast.Call) and len(tree.args) > argument:
        return ast.unparse(tree.args[argument])
    return ""


def _check_extent(one: Extent, kernel: str, names: Sequence[str], values: Sequence[Any], grid: Grid) -> None:
    info = values[one.argument]
    assert isinstance(info, ArrayInfo)
    sizes = _compiled(one.sizes)(values, grid)
    if any(n <= 0 for n in sizes):
        return
    if not one.strides:
        needed = 1
        for n in sizes:
            needed *= n
        before = 0
        _dense(info, kernel, names[one.argument], one.location)
    else:
        steps = _compiled(one.strides)(values, grid)
        spans = [(n - 1) * s for n, s in zip(sizes, steps, strict=True)]
        needed = 1 + sum(s for s in spans if s > 0)
        before = -sum(s for s in spans if s < 0)
    if needed > info.storage_elements_after_pointer or before > info.storage_offset_elements:
        name = names[one.argument]
        have = info.storage_elements_after_pointer
        text = one.source
        detail = (
            f"{needed} elements from the pointer"
            + (f" ({text})" if text else "")
            + (f" and {before} before it" if before else "")
        )
        first = have if needed > have else -info.storage_offset_elements - 1
        raise LaunchError.of(
            "L007",
            f"`{name}` is too small for this launch of `{kernel}`",
            kernel=kernel,
            argument=name,
            found=f"{have} elements (shape {info.shape})"
            + (f", {info.storage_offset_elements} before the pointer" if before else ""),
            needed=detail,
            witness=f"offset {first} of `{name}` would be outside",
            location=one.location,
        )


def _dense(info: ArrayInfo, kernel: str, name: str, location: Location | None) -> None:
    if is_row_major(info.shape, info.strides):
        return
    strides = row_major(info.shape)
    raise LaunchError.of(
        "L012",
        f"`{name}` is not dense, and `{kernel}` addresses it as if it were",
        kernel=kernel,
        argument=name,
        found=f"strides {info.strides} for shape {info.shape}",
        needed=f"strides {strides}",
        location=location,
        help=(
            "make it dense first: .contiguous() in torch, numpy.ascontiguousarray",
            "or give the kernel strides, and say tl.extent(ptr, shape, strides=...)",
        ),
    )


def stored(function: Function) -> frozenset[int]:
    """The numbers of the pointer arguments that the function may write through."""
    numbers = {value: at for at, value in enumerate(function.args)}
    found: set[int] = set()
    for op in walk_function(function):
        if op.schema.writes:
            found |= _roots(op.operands[0], numbers, set())
    return frozenset(found)


def _roots(value: Value, numbers: dict[Value, int], seen: set[Value]) -> set[int]:
    if value in seen:
        return set()
    seen.add(value)
    if value in numbers:
        return {numbers[value]}
    op = value.op
    if op is None:
        return _carried(value, numbers, seen)
    if op.regions:
        yields = [
            r.blocks[-1].ops[-1].operands[value.index]
            for r in op.regions
            if len(r.blocks[-1].ops[-1].operands) > value.index
        ]
        return set[int]().union(*(_roots(v, numbers, seen) for v in (*yields, *_inits(op, value.index))))
    pointers = (v for v in op.operands if isinstance(element_of(v.type), PointerType))
    return set[int]().union(*(_roots(v, numbers, seen) for v in pointers))


def _inits(op: Op, index: int) -> list[Value]:
    if op.name == "scf.for":
        return [op.operands[3 + index]]
    return [op.operands[index]] if op.name == "scf.while" else []


def _carried(value: Value, numbers: dict[Value, int], seen: set[Value]) -> set[int]:
    """A loop's argument: what enters and what every iteration passes on."""
    block = value.block
    loop = block.region.op if block is not None and block.region is not None else None
    if loop is None or block is None:
        return set()
    at = value.index - 1 if loop.name == "scf.for" else value.index
    if at < 0:
        return set()
    last = loop.regions[-1].blocks[-1].ops[-1].operands
    sources = [*_inits(loop, at), *([last[at]] if at < len(last) else [])]
    return set[int]().union(*(_roots(v, numbers, seen) for v in sources))
