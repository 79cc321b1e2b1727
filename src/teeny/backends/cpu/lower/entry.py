"""The entry: a module of concrete IR to the text of one LLVM function that runs a range of programs."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teeny.backends.cpu.builder import KERNEL_PARAMETERS, Builder
from teeny.backends.cpu.emit import Module as CodeModule
from teeny.backends.cpu.lower.blocks import lower_block
from teeny.backends.cpu.lower.depth import with_depth
from teeny.backends.cpu.lower.plan import Plan, make_plan
from teeny.backends.cpu.lower.state import Buffer, Hook, Options, State
from teeny.backends.cpu.lower.stream import read_roots
from teeny.backends.cpu.lower.strides import unit_strides
from teeny.backends.cpu.lower.values import dtype_name, shape
from teeny.backends.cpu.target import Level
from teeny.backends.output import Report, reporting, reports_of
from teeny.diag.diagnostic import at, report
from teeny.diag.errors import CompileError, InternalError
from teeny.ir.core import walk_function
from teeny.ir.symbol import symbol_of
from teeny.passes.polling import waits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny.ir.core import Function, Module, Op, Value
    from teeny.ir.lanes import Lane

__all__ = ["LoweredKernel", "lower"]


@dataclass(frozen=True, slots=True)
class LoweredKernel:
    """`params`: the element names of the parameters (`ptr`, `i32`, ...), one argument slot each; the sizes of the grid
    (x, y, z) take three more. `scratch_bytes` of 64-byte aligned memory are needed by each thread. `waits`: programs
    wait for one another, and run side by side.
    """

    ir_text: str
    symbol: str
    scratch_bytes: int
    cost_ns_per_program: float
    params: tuple[str, ...]
    reports: tuple[Report, ...] = ()
    waits: bool = False


def lower(
    module: Module, *, level: Level = "native", width: int | None = None, options: Options | None = None
) -> LoweredKernel:
    """Lower the kernel of a concrete, verified module.

    `width` overrides the number of lanes of a vector. Raises CompileError for what the CPU cannot do.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        kernel = module.kernel
        operations = sum(1 for _ in walk_function(kernel))
        return with_depth(operations, lambda: _lower(kernel, level, options or Options(width=width)))
    finally:
        if collecting:
            gc.enable()


def _lower(function: Function, level: Level, options: Options) -> LoweredKernel:
    if len(function.body.blocks) != 1:
        raise InternalError(f"the function {function.name} has early exits; the CPU needs structured control flow")
    _check_shapes(function)
    code = CodeModule(level)
    symbol = f"{symbol_of(function.name)}__programs"
    b = Builder(code, symbol, KERNEL_PARAMETERS, width=options.width or code.features.lanes)
    plan = make_plan(function, disjoint=options.disjoint)
    args, scratch = b.parameter("args", "ptr"), b.parameter("scratch", "ptr")
    params = tuple([dtype_name(a.type) for a in function.args])

    def slot(number: int, dtype: str) -> Lane:
        at = b.offset(args, b.const("i64", 8 * number), "i8")
        if dtype == "i1":
            return b.icmp("ne", b.load(at, "i8"), b.const("i8", 0))
        return b.load(at, dtype)

    with b.region():
        slots = [slot(number, dtype) for number, dtype in enumerate(params)]
        grid = [slot(len(params) + axis, "i32") for axis in range(3)]
        sites = {site: number for number, site in enumerate(reporting(function))}
        hook = slot(len(params) + 3, "ptr") if sites else None
    job = _Job(b, function, options, plan, scratch, grid, hook, sites)
    ones = unit_strides(function, plan.source)
    if not ones:
        states = [job.programs(slots)]
    else:
        unit = b.const("i1", 1)
        for number in ones:
            unit = b.and_(unit, b.icmp("eq", slots[number], b.const(params[number], 1)))
        known = [b.const(params[n], 1) if n in ones else lane for n, lane in enumerate(slots)]
        with b.if_(unit) as branch:
            states = [job.programs(known)]
            branch.otherwise()
            states.append(job.programs(slots))
    b.finish()
    scratch_bytes = max(64, *(state.arena.high for state in states))
    return LoweredKernel(
        code.text(), symbol, scratch_bytes, states[0].cost + 5.0, params, reports_of(function), waits(function)
    )


def _check_shapes(function: Function) -> None:
    for op in walk_function(function):
        for result in op.results:
            if any(dim & (dim - 1) or dim < 1 for dim in shape(result)):
                message = f"the CPU takes tiles with axes of a power of two, found {result.type}"
                labels = () if op.loc is None else (at(op.loc),)
                raise CompileError([report("X008", message, *labels, kernel=function.name)])


@dataclass(frozen=True, slots=True)
class _Job:
    b: Builder
    function: Function
    options: Options
    plan: Plan
    scratch: Lane
    grid: list[Lane]
    hook: Lane | None
    sites: Mapping[Op, int]

    def programs(self, slots: list[Lane]) -> State:
        """The loop over the programs, with the arguments given."""
        b, function = self.b, self.function
        x, y, z = self.grid
        with b.loop(b.parameter("start", "i64"), b.parameter("end", "i64"), b.const("i64", 1)) as loop:
            program = _program(b, function, loop.index, [b.zext(g, "i64") for g in self.grid])
            bound: dict[Value, Lane | Buffer] = dict(zip(function.args, slots, strict=True))
            state = State(b, self.options, self.plan, self.scratch, bound, (x, y, z), program)
            state.reads = read_roots(function, self.plan.source)
            state.hook = None if self.hook is None else Hook(self.hook, loop.index, self.sites)
            lower_block(state, function.entry)
        if state.streamed:
            b.fence()
        return state


def _program(b: Builder, function: Function, index: Lane, grid: list[Lane]) -> tuple[Lane, Lane, Lane]:
    """Where a program stands in the grid, x fastest; only what the kernel asks for is computed."""
    used = {int(str(op.attrs["axis"])) for op in walk_function(function) if op.name == "tt.get_program_id"}
    zero = b.const("i32", 0)
    if not used:
        return zero, zero, zero
    x = b.urem(index, grid[0])
    if used == {0}:
        return b.trunc(x, "i32"), zero, zero
    rest = b.udiv(index, grid[0])
    return b.trunc(x, "i32"), b.trunc(b.urem(rest, grid[1]), "i32"), b.trunc(b.udiv(rest, grid[1]), "i32")
