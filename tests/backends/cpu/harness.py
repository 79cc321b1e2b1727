"""Run rules of operations as native code on arrays, at a vector width and a feature level."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from teeny.backends.cpu.builder import KERNEL_PARAMETERS, Builder, Module
from teeny.backends.cpu.engine import compile_object, load
from teeny.backends.cpu.target import LEVELS, Level, supported_levels
from teeny.ir.lanes import Lane

Rule = Callable[..., Lane]
NUMPY: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
UNSIGNED: dict[str, Any] = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64}
WIDTHS = (1, 4, 8, 16)
FORCED: tuple[Level, ...] = tuple(level for level in LEVELS if level in supported_levels() and level != "x86-64")
"""The levels to test: those that this machine can run, without the oldest."""


def compiled(rules: Mapping[str, Callable[[Builder], None]], level: Level, width: int) -> dict[str, int]:
    """Addresses of kernels whose bodies are written by functions of a builder."""
    module = Module(level)
    for name, body in rules.items():
        b = Builder(module, name, KERNEL_PARAMETERS, width=width)
        body(b)
        b.finish()
    code = compile_object(module.text(), level)
    return {name: load(code, name) for name in rules}


def call(address: int, arguments: Sequence[int], start: int = 0, end: int = 1, scratch: int = 0) -> None:
    """Call a kernel directly."""
    block = (ctypes.c_int64 * max(len(arguments), 1))(*arguments)
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(address)
    kernel(ctypes.addressof(block), start, end, scratch)


def elementwise(rule: Rule, dtypes: Sequence[str], result: str, width: int) -> Callable[[Builder], None]:
    """A kernel that applies a rule to contiguous arrays, `width` lanes a program."""

    def body(b: Builder) -> None:
        args, start, end = b.parameter("args", "ptr"), b.parameter("start", "i64"), b.parameter("end", "i64")
        bases = [b.load(b.offset(args, b.const("i64", i), "i64"), "ptr") for i in range(len(dtypes) + 1)]
        with b.loop(start, end, b.const("i64", 1)) as loop:
            at = b.mul(loop.index, b.const("i64", width))
            lanes: list[Lane] = []
            for base, dtype in zip(bases, dtypes, strict=False):
                memory = "i8" if dtype == "i1" else dtype
                lane = b.load(b.offset(base, at, memory), memory, width)
                lanes.append(b.icmp("ne", lane, b.const("i8", 0)) if dtype == "i1" else lane)
            value = b.splat(rule(b, *lanes), width)
            if result == "i1":
                value = b.zext(value, "i8")
            b.store(b.offset(bases[-1], at, value.dtype), value)

    return body


def apply(
    rules: Mapping[str, tuple[Rule, str]],
    inputs: Sequence[np.ndarray[Any, Any]],
    dtypes: Sequence[str],
    level: Level,
    width: int,
) -> dict[str, np.ndarray[Any, Any]]:
    """Results of named rules, each with the dtype of its result, on the same inputs (a multiple of 16 elements)."""
    names = {f"k{i}": name for i, name in enumerate(rules)}
    bodies = {symbol: elementwise(rules[name][0], dtypes, rules[name][1], width) for symbol, name in names.items()}
    addresses = compiled(bodies, level, width)
    count = inputs[0].size
    assert count % 16 == 0
    results: dict[str, np.ndarray[Any, Any]] = {}
    for symbol, name in names.items():
        out = np.zeros(count, NUMPY[rules[name][1]])
        call(addresses[symbol], [a.ctypes.data for a in inputs] + [out.ctypes.data], 0, count // width)
        results[name] = out
    return results


def same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Elementwise: equal bits, or NaN in both."""
    size = found.dtype.itemsize
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[size]
    equal = found.view(unsigned) == expected.view(unsigned)
    if found.dtype.kind in "fV" or found.dtype == ml_dtypes.bfloat16:
        with np.errstate(invalid="ignore"):
            equal |= np.isnan(found) & np.isnan(expected)
    return equal
