"""The builder of CPU code: `Builder` implements `teeny.ir.lanes.LaneBuilder` and adds memory and control flow.

    module = Module("native")
    b = Builder(module, "kernel", KERNEL_PARAMETERS, width=16)
    args, start, end = b.parameter("args", "ptr"), b.parameter("start", "i64"), b.parameter("end", "i64")
    x = b.load(args, "ptr")
    with b.loop(start, end, b.const("i64", 1)) as programs:
        at = b.offset(x, programs.index, "f32")
        b.store(at, b.fadd(b.load(at, "f32"), b.const("f32", 1.0)))
    b.finish()
    text = module.text()

Scopes: the function, a loop's body, a branch. A value lives in the scope of its deepest operand and may be used there
and further in; what leaves a loop or a branch does so through `yield_` and `results`. Pure code moves outwards by
itself, though never out of a branch. Loads stay in the innermost scope unless a `region` is open: then they move up
to it. Equal loads share one instruction until a store (see `store(kills=)`).

The parts: `emit` (scopes, placement), `convert`, `arith` (the protocol), `memory` (access, lanes, reductions), and here
control flow.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from teeny.backends.cpu.emit import Block, Module
from teeny.backends.cpu.memory import Memory
from teeny.backends.cpu.text import llvm_type
from teeny.diag import InternalError
from teeny.ir.lanes import Lane

__all__ = ["KERNEL_PARAMETERS", "Branch", "Builder", "Loop", "Module", "While"]

KERNEL_PARAMETERS = "ptr noalias %args, i64 %start, i64 %end, ptr noalias %scratch"
"""A kernel's entry: packed i64 arguments, the programs [start, end) to run, scratch memory aligned to 64 bytes."""


class Loop:
    """An open or closed counted loop.

    `index` and `carried` are valid inside; after it, `results` has the carried values at its end.
    """

    __slots__ = ("carried", "index", "next", "results")

    def __init__(self, index: Lane, carried: tuple[Lane, ...]) -> None:
        self.index = index
        self.carried = carried
        self.next: tuple[Lane, ...] | None = None
        self.results: tuple[Lane, ...] = ()

    def yield_(self, values: Sequence[Lane]) -> None:
        """The carried values of the next iteration; call once, at the end of the body."""
        self.next = tuple(values)


class While:
    """An open or closed loop that a condition ends: see `Builder.while_`."""

    __slots__ = ("_builder", "carried", "exit", "forwarded", "header", "next", "results")

    def __init__(self, builder: Builder, carried: tuple[Lane, ...], exit_: str) -> None:
        self._builder = builder
        self.carried = carried
        self.exit = exit_
        self.header: str | None = None
        self.forwarded: tuple[Lane, ...] = ()
        self.next: tuple[Lane, ...] | None = None
        self.results: tuple[Lane, ...] = ()

    def condition(self, cond: Lane, forwarded: Sequence[Lane] = ()) -> None:
        """Leave the loop unless `cond`; `forwarded` become `results` then. What follows is the body."""
        b = self._builder
        if self.header is not None:
            raise InternalError("a while loop with two conditions")
        block = b.scopes[-1]
        self.header, self.forwarded = block.label, tuple(forwarded)
        block.label = b.fresh("body")
        block.lines.append(f"  br i1 {cond.text}, label %{block.label}, label %{self.exit}")
        block.lines.append(f"{block.label}:")

    def yield_(self, values: Sequence[Lane]) -> None:
        """The carried values of the next iteration; call once, at the end of the body."""
        self.next = tuple(values)


class Branch:
    """An open or closed two-way branch: see `Builder.if_`."""

    __slots__ = ("_builder", "otherwise_label", "results", "then_block", "values")

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self.then_block: Block | None = None
        self.otherwise_label = ""
        self.values: list[tuple[Lane, ...]] = []
        self.results: tuple[Lane, ...] = ()

    def yield_(self, values: Sequence[Lane]) -> None:
        """The results of this arm; call at its end, in both arms if in one."""
        self.values.append(tuple(values))

    def otherwise(self) -> None:
        """End the arm for true and begin the one for false."""
        b = self._builder
        self.then_block = b.pop()
        b.epoch += 1
        self.otherwise_label = b.fresh("else")
        b.push(self.otherwise_label, floor=True)


class Builder(Memory):
    """Code of one function; see the module's text."""

    @contextmanager
    def loop(
        self, lo: Lane, hi: Lane, step: Lane, carried: Sequence[Lane] = (), *, runs: bool = False
    ) -> Generator[Loop, None, None]:
        """`for index in range(lo, hi, step)` on signed integers of one type; `step` is positive or a negative constant.

        `hi + step` must not overflow. `runs` vouches that there is at least one iteration. Carried values start as
        given.
        """
        down = step.const is not None and step.const < 0
        before = self.icmp("sgt" if down else "slt", lo, hi)
        body, done = self.fresh("loop"), self.fresh("done")
        outer = self.scopes[-1]
        block = self.push(body, floor=False)
        index = Lane(f"%{self.fresh('i')}", lo.dtype, 1, block)
        made = Loop(index, tuple(Lane(f"%{self.fresh('c')}", c.dtype, c.width, block) for c in carried))
        self.epoch += 1
        yield made
        following = made.next if made.next is not None else made.carried
        if len(following) != len(carried) or self.scopes[-1] is not block:
            raise InternalError("a loop ends with other carried values or scopes than it began with")
        following = tuple(self.splat(value, c.width) for value, c in zip(following, carried, strict=True))
        kind = llvm_type(lo.dtype, 1)
        advanced = self.effect(f"add nsw {kind} {index.text}, {step.text}", lo.dtype, 1)
        again = self.effect(f"icmp {'sgt' if down else 'slt'} {kind} {advanced.text}, {hi.text}", "i1", 1)
        self.pop()
        self.epoch += 1
        entry, latch = outer.label, block.label
        if runs or before.const == 1:
            outer.lines.append(f"  br label %{body}")
            guarded = False
        else:
            outer.lines.append(f"  br i1 {before.text}, label %{body}, label %{done}")
            guarded = True
        outer.lines.append(f"{body}:")
        outer.lines.append(f"  {index.text} = phi {kind} [{lo.text}, %{entry}], [{advanced.text}, %{latch}]")
        for phi, start, value in zip(made.carried, carried, following, strict=True):
            outer.lines.append(_phi(phi.text, phi, (start, entry), (value, latch)))
        outer.lines.extend(block.lines)
        outer.lines.append(f"  br i1 {again.text}, label %{body}, label %{done}")
        outer.lines.append(f"{done}:")
        outer.label = done
        results: list[Lane] = []
        for start, value in zip(carried, following, strict=True):
            name = f"%{self.fresh('r')}"
            edges = [(start, entry), (value, latch)] if guarded else [(value, latch)]
            outer.lines.append(_phi(name, start, *edges))
            results.append(Lane(name, start.dtype, start.width, outer))
        made.results = tuple(results)

    @contextmanager
    def while_(self, carried: Sequence[Lane]) -> Generator[While, None, None]:
        """A loop that tests before each iteration: code up to `condition` runs once more than what follows it.

        with b.while_([x]) as w:
            ...; w.condition(cond, [value]); ...; w.yield_([next_x])
        w.results
        """
        head, done = self.fresh("while"), self.fresh("done")
        outer = self.scopes[-1]
        block = self.push(head, floor=False)
        made = While(self, tuple(Lane(f"%{self.fresh('c')}", c.dtype, c.width, block) for c in carried), done)
        self.epoch += 1
        yield made
        following = made.next if made.next is not None else made.carried
        if made.header is None or len(following) != len(carried) or self.scopes[-1] is not block:
            raise InternalError("a while loop ends without condition or with other values than it began with")
        following = tuple(self.splat(value, c.width) for value, c in zip(following, carried, strict=True))
        self.pop()
        self.epoch += 1
        entry, latch = outer.label, block.label
        outer.lines.append(f"  br label %{head}")
        outer.lines.append(f"{head}:")
        for phi, start, value in zip(made.carried, carried, following, strict=True):
            outer.lines.append(_phi(phi.text, phi, (start, entry), (value, latch)))
        outer.lines.extend(block.lines)
        outer.lines.append(f"  br label %{head}")
        outer.lines.append(f"{done}:")
        outer.label = done
        made.results = tuple(
            lane if lane.const is not None else Lane(lane.text, lane.dtype, lane.width, outer)
            for lane in made.forwarded
        )

    @contextmanager
    def if_(self, cond: Lane) -> Generator[Branch, None, None]:
        """Run one of two arms; nothing made inside leaves its arm.

        with b.if_(cond) as branch:
            ...; branch.yield_([x]); branch.otherwise(); ...; branch.yield_([y])
        branch.results

        Without `otherwise` nothing runs where the condition is false; then there are no results.
        """
        outer = self.scopes[-1]
        then, merge = self.fresh("then"), self.fresh("merge")
        block = self.push(then, floor=True)
        made = Branch(self)
        self.epoch += 1
        yield made
        last = self.pop()
        self.epoch += 1
        first = made.then_block or last
        if first is not block or (made.values and (made.then_block is None or len(made.values) != 2)):
            raise InternalError("a branch ends in another scope than it began in, or yields in one arm only")
        otherwise = made.otherwise_label or merge
        outer.lines.append(f"  br i1 {cond.text}, label %{then}, label %{otherwise}")
        outer.lines.append(f"{then}:")
        outer.lines.extend(first.lines)
        outer.lines.append(f"  br label %{merge}")
        if made.then_block is not None:
            outer.lines.append(f"{otherwise}:")
            outer.lines.extend(last.lines)
            outer.lines.append(f"  br label %{merge}")
        outer.lines.append(f"{merge}:")
        outer.label = merge
        if made.values:
            results: list[Lane] = []
            for x, y in zip(*made.values, strict=True):
                name = f"%{self.fresh('r')}"
                outer.lines.append(_phi(name, x, (x, first.label), (y, last.label)))
                results.append(Lane(name, x.dtype, x.width, outer))
            made.results = tuple(results)

    def leave(self) -> None:
        """Return from the function at once; what follows in this scope is never reached."""
        block = self.scopes[-1]
        block.lines.append("  ret void")
        block.label = self.fresh("unreached")
        block.lines.append(f"{block.label}:")


def _phi(name: str, kind: Lane, *edges: tuple[Lane, str]) -> str:
    incoming = ", ".join(f"[{lane.text}, %{label}]" for lane, label in edges)
    return f"  {name} = phi {llvm_type(kind.dtype, kind.width)} {incoming}"
