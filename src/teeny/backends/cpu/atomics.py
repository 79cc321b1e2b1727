"""Atomic steps of one lane in LLVM IR: instructions where the machine has them, else a loop that compares and swaps."""

from __future__ import annotations

import sys
from collections.abc import Callable

from teeny.backends.cpu.builder import Builder
from teeny.backends.cpu.text import BITS, BYTES, FLOATS
from teeny.diag.errors import InternalError
from teeny.ir.lanes import Lane

__all__ = ["compare_and_swap", "load", "now", "poll", "relax", "rmw", "store"]

_INSTRUCTIONS = {
    "add": "add", "max": "max", "min": "min", "umax": "umax", "umin": "umin", "and": "and", "or": "or", "xor": "xor",
    "exch": "xchg",
}  # fmt: skip
_ORDERS = {"relaxed": "monotonic"}
_ACQUIRES = ("acquire", "acq_rel")
_CLOCK = 6 if sys.platform == "darwin" else 1
"""CLOCK_MONOTONIC of the C library."""
TURNS = 16
"""A thread that waits lets others run this often."""


def _order(sem: str) -> str:
    return _ORDERS.get(sem, sem)


def _bits(b: Builder, value: Lane) -> Lane:
    return b.bitcast(value, f"i{BITS[value.dtype]}") if value.dtype in FLOATS else value


def rmw(b: Builder, kind: str, ptr: Lane, value: Lane, sem: str) -> Lane:
    """Change what is at an address (scalars), by a kind of `tt.atomic_rmw`; gives what was there."""
    steps: dict[str, Callable[[Lane, Lane], Lane]] = {"fadd": b.fadd, "fmax": b.fmaxnum, "fmin": b.fminnum}
    if kind in steps:
        return _loop(b, ptr, value, sem, steps[kind])
    if kind not in _INSTRUCTIONS:
        raise InternalError(f"there is no atomic {kind}")
    bits = _bits(b, value)
    text = f"atomicrmw {_INSTRUCTIONS[kind]} ptr {ptr.text}, {bits.dtype} {bits.text} {_order(sem)}"
    found = b.effect(f"{text}, align {BYTES[bits.dtype]}", bits.dtype, 1)
    b.epoch += 1
    return b.bitcast(found, value.dtype)


def _loop(b: Builder, ptr: Lane, value: Lane, sem: str, step: Callable[[Lane, Lane], Lane]) -> Lane:
    """By compare and swap of the bits, until nobody came in between."""
    integer = f"i{BITS[value.dtype]}"
    first = b.effect(f"load atomic {integer}, ptr {ptr.text} monotonic, align {BYTES[integer]}", integer, 1)
    with b.while_([first]) as loop:
        old = loop.carried[0]
        made = _bits(b, step(b.bitcast(old, value.dtype), value))
        seen, done = _swap(b, ptr, old, made, sem)
        loop.condition(b.xor(done, b.const("i1", 1)), [seen])
        loop.yield_([seen])
    return b.bitcast(loop.results[0], value.dtype)


def _swap(b: Builder, ptr: Lane, expected: Lane, value: Lane, sem: str) -> tuple[Lane, Lane]:
    kind = value.dtype
    failed = "acquire" if sem in _ACQUIRES else "monotonic"
    text = f"cmpxchg ptr {ptr.text}, {kind} {expected.text}, {kind} {value.text} {_order(sem)} {failed}"
    pair = b.effect(f"{text}, align {BYTES[kind]}", kind, 1)
    seen = b.effect(f"extractvalue {{ {kind}, i1 }} {pair.text}, 0", kind, 1)
    done = b.effect(f"extractvalue {{ {kind}, i1 }} {pair.text}, 1", "i1", 1)
    b.epoch += 1
    return seen, done


def compare_and_swap(b: Builder, ptr: Lane, expected: Lane, value: Lane, sem: str) -> Lane:
    """Write where the bits are those expected; gives what was there."""
    seen, _ = _swap(b, ptr, _bits(b, expected), _bits(b, value), sem)
    return b.bitcast(seen, value.dtype)


def load(b: Builder, ptr: Lane, dtype: str, sem: str) -> Lane:
    """Read one element of a dtype as it lies in memory."""
    integer = f"i{BITS[dtype]}"
    found = b.effect(f"load atomic {integer}, ptr {ptr.text} {_order(sem)}, align {BYTES[integer]}", integer, 1)
    b.epoch += 1
    return b.bitcast(found, dtype)


def store(b: Builder, ptr: Lane, value: Lane, sem: str) -> None:
    """Write one element."""
    bits = _bits(b, value)
    b.line(f"  store atomic {bits.dtype} {bits.text}, ptr {ptr.text} {_order(sem)}, align {BYTES[bits.dtype]}")
    b.epoch += 1


def poll(b: Builder, ptr: Lane, expected: Lane, sem: str, deadline: Lane | None) -> Lane:
    """Wait until an integer is the one expected, or the deadline (see `now`) has passed; whether it is (i1)."""
    with b.while_([b.const("i32", 0)]) as loop:
        there = b.icmp("eq", load(b, ptr, expected.dtype, sem), expected)
        waiting = b.xor(there, b.const("i1", 1))
        if deadline is not None:
            waiting = b.and_(waiting, b.icmp("slt", now(b), deadline))
        loop.condition(waiting, [there])
        loop.yield_([relax(b, loop.carried[0])])
    return loop.results[0]


def now(b: Builder) -> Lane:
    """A time in nanoseconds (i64) that only grows."""
    place = b.slot(16, 8)
    b.declare("i32 @clock_gettime(i32, ptr)")
    b.effect(f"call i32 @clock_gettime(i32 {_CLOCK}, ptr {place.text})", "i32", 1)
    parts = [place, b.offset(place, b.const("i64", 1), "i64")]
    seconds, rest = (b.effect(f"load i64, ptr {part.text}, align 8", "i64", 1) for part in parts)
    return b.add(b.mul(seconds, b.const("i64", 1_000_000_000)), rest)


def relax(b: Builder, turns: Lane) -> Lane:
    """A moment's pause of a thread that waits; every `TURNS` turns other threads run. Gives the next count (i32)."""
    if b.features.x86:
        b.declare("void @llvm.x86.sse2.pause()")
        b.line("  call void @llvm.x86.sse2.pause()")
    following = b.add(turns, b.const("i32", 1))
    rest = b.and_(following, b.const("i32", TURNS - 1))
    with b.if_(b.icmp("eq", rest, b.const("i32", 0))):
        b.declare("i32 @sched_yield()")
        b.effect("call i32 @sched_yield()", "i32", 1)
    return following
