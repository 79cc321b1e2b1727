"""Running a kernel: programs in rising order, x fastest, each operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny.backends.reference import memory
from teeny.backends.reference.addresses import from_integers, to_integers
from teeny.backends.reference.atomic import atomic
from teeny.backends.reference.control import RULES, check_results
from teeny.backends.reference.errors import ExecutionError
from teeny.backends.reference.lanes import POINTER, Lanes, array_dtype
from teeny.backends.reference.lanewise import apply
from teeny.backends.reference.memory import Access, Buffer, bind
from teeny.backends.reference.turns import Turns, in_turns
from teeny.diag.errors import InternalError
from teeny.ir.dtype import DType
from teeny.ir.rules import Structural
from teeny.ir.types import PointerType
from teeny.passes.polling import spinning, waits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from teeny.ir.core import Block, Function, Module, Op, Value
    from teeny.ir.types import Type

Grid = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Event:
    """One operation that has run: what it took and what it gave, in one program (x, y, z)."""

    program: Grid
    op: Op
    operands: tuple[Lanes, ...]
    results: tuple[Lanes, ...]


Trace = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Machine:
    """What all programs of a launch share."""

    functions: dict[str, Function]
    buffers: Sequence[Buffer | None]
    grid: Grid
    trace: Trace | None
    strict: bool
    spinning: frozenset[Op] = frozenset()
    turns: Turns | None = None


@dataclass(slots=True)
class Frame:
    """One program while it runs. `values` holds what each SSA value is now."""

    machine: Machine
    program: Grid
    values: dict[Value, Lanes] = field(default_factory=dict["Value", Lanes])
    silent: bool = False

    @contextmanager
    def untraced(self) -> Generator[None]:
        """Run without telling the trace (a combiner runs many times for one reduction)."""
        before, self.silent = self.silent, True
        yield
        self.silent = before

    def function(self, function: Function, arguments: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
        """Call a function; values of the caller stay untouched."""
        if len(function.body.blocks) != 1:
            raise InternalError(
                f"the function {function.name} has early exits; the reference needs structured control flow"
            )
        inner = Frame(self.machine, self.program, silent=self.silent)
        return inner.block(function.entry, arguments)[1]

    def block(self, block: Block, arguments: tuple[Lanes, ...]) -> tuple[Op, tuple[Lanes, ...]]:
        """Run a block; its terminator and what that hands on."""
        values = self.values
        values.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = tuple([values[v] for v in op.operands])
            if op.schema.terminator:
                return op, operands
            results = self.step(op, operands)
            values.update(zip(op.results, results, strict=True))
            if self.machine.trace is not None and not self.silent:
                self.machine.trace(Event(self.program, op, operands, results))
        if block.ops:
            raise InternalError("a block does not end in a terminator", block.ops[-1].loc)
        raise InternalError("a block is empty")

    def step(self, op: Op, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
        """The results of one operation."""
        meaning = op.schema.numpy
        if callable(meaning):
            return apply(op, operands)
        if not isinstance(meaning, Structural):
            if op.schema.generic:
                raise InternalError(f"the reference cannot run {op.name}: {meaning.reason}", op.loc)
            raise ExecutionError(f"the reference cannot run this: {meaning.reason}", op, self.program)
        match meaning.kind:
            case "address":
                pointers, offsets = operands
                return (memory.advance(pointers, offsets, op.results[0].type),)
            case "load":
                return (memory.load(self._access(op), *operands),)
            case "store":
                memory.store(self._access(op), *operands)
                return ()
            case "int_to_ptr":
                return (from_integers(*operands),)
            case "ptr_to_int":
                return (to_integers(self.machine.buffers, *operands),)
            case "atomic":
                return atomic(self, self._access(op), operands)
            case _:
                rule = RULES.get(meaning.kind)
                if rule is None:
                    raise InternalError(f"the reference has no rule for {op.name}", op.loc)
                results = rule(self, op, operands)
                check_results(op, results)
                return results

    def _access(self, op: Op) -> Access:
        return Access(op, self.program, self.machine.buffers, self.machine.strict)


def run(
    module: Module,
    args: Sequence[Any],
    grid: Grid,
    *,
    trace: Trace | None = None,
    strict: bool = True,
    program: Grid | None = None,
    reachable: Sequence[NDArray[Any]] = (),
) -> None:
    """Run the kernel of a concrete module on each program of the grid, or on `program` alone.

    An argument is a NumPy array or a `Buffer` for a pointer, a number for a scalar. Arrays are changed in place.
    `trace` is told of each operation. `strict` reports undefined lanes that decide what is done (`PoisonError`);
    without it they count as what they hold. Contracts are not evaluated here. `reachable`: arrays that no argument is,
    and whose addresses the kernel finds in memory.

    Raises AccessError for an access outside the memory of its argument, ValueError for arguments that do not fit.
    """
    kernel = module.kernel
    if len(args) != len(kernel.args):
        raise ValueError(f"{kernel.name} takes {len(kernel.args)} arguments, found {len(args)}")
    bound = bind([*args, *reachable])
    every = [(x, y, z) for z, y, x in product(range(grid[2]), range(grid[1]), range(grid[0]))]
    chosen = every if program is None else [program]
    machine = Machine(
        {f.name: f for f in module.functions},
        [b if isinstance(b, Buffer) else None for b in bound],
        grid,
        trace,
        strict,
        frozenset(spinning(kernel)),
        Turns(len(chosen)) if len(chosen) > 1 and waits(kernel) else None,
    )
    values = tuple(
        _argument(at, found, parameter.type)
        for at, (found, parameter) in enumerate(zip(bound, kernel.args, strict=False))
    )

    def one(place: Grid) -> None:
        with np.errstate(all="ignore"):
            Frame(machine, place).function(kernel, values)

    if machine.turns is not None:
        in_turns(machine.turns, [partial(one, place) for place in chosen])
        return
    for place in chosen:
        one(place)


def _argument(number: int, found: Any, type_: Type) -> Lanes:
    if isinstance(type_, PointerType):
        if not isinstance(found, Buffer):
            raise ValueError(f"argument {number} is a pointer ({type_}), found {type(found).__name__}")
        return Lanes(np.asarray((number, 0), POINTER))
    if not isinstance(type_, DType) or isinstance(found, Buffer):
        raise ValueError(f"argument {number} has type {type_}, found {type(found).__name__}")
    dtype = array_dtype(type_)
    if dtype.kind != "i":
        return Lanes(np.asarray(found).astype(dtype))
    return Lanes(np.asarray(int(found) & ((1 << type_.bits) - 1), np.dtype(f"u{dtype.itemsize}")).view(dtype))
