"""Every lane-by-lane operation and cast of every dtype gets through the whole of Triton's compiler."""

from __future__ import annotations

from importlib import metadata
from typing import cast

import pytest

from teeny.backends.triton import compile_module
from teeny.ir.builder import Builder
from teeny.ir.core import Module, Value
from teeny.ir.dtype import BOOL, I8, DType
from teeny.ir.schema import Infer, OpDef, dtype_of, registry
from teeny.ir.types import Type, pointer, typed
from teeny.ir.verify import verify
from teeny.passes.widen import widen
from tests.operations import STORED, concrete, fits, kernel, plain

LANES = 128
NEVER_MADE = {
    **{f"libdevice.{name}": ("f16", "bf16") for name in ("add_rn", "mul_rn", "nextafter", "sub_rn")},
    "arith.bitcast": tuple(d.name for d in STORED),  # read from Triton's text alone
    "tt.mulhiui": ("i8", "i16"),
    "tt.approx_divf": ("f64",),
    "tt.precise_divf": ("f64",),
    "tt.precise_sqrt": ("f64",),
}
"""Dtypes that an operation's type rule admits for generic IR, but that the language makes no such operation for."""


def _op(name: str) -> OpDef:
    return registry()[name]


def _address(b: Builder, base: Value) -> Value:
    lanes = b.create(_op("tt.make_range"), start=0, end=LANES)
    bases = b.create(_op("tt.splat"), base, type=typed((LANES,), base.type))
    return b.create(_op("tt.addptr"), bases, lanes)


def _inferred(schema: OpDef, tile: Type) -> Type:
    return cast("Infer", schema.types)((tile,) * len(schema.operands), {})[0]


def everything(dtype: DType) -> tuple[Module, list[str]]:
    """A kernel that loads tiles of a dtype and stores the result of each operation on them; the operations' names."""
    tile = typed((LANES,), dtype)
    made: list[tuple[OpDef, Type | None]] = []
    for schema in concrete():
        if not plain(schema) or dtype.name in NEVER_MADE.get(schema.name, ()):
            continue
        if schema.inferred and fits(schema, (tile,) * len(schema.operands)):
            made.append((schema, None))
        elif not schema.inferred:
            made += [(schema, t) for t in (typed((LANES,), d) for d in STORED) if fits(schema, (tile,), t)]

    def write(b: Builder, args: tuple[Value, ...]) -> None:
        loaded = [b.create(_op("tt.load"), _address(b, a)) for a in args[:3]]
        if dtype is BOOL:
            zero = b.create(_op("arith.constant"), type=typed((LANES,), I8), value=0)
            loaded = [b.create(_op("arith.cmpi"), x, zero, predicate="ne") for x in loaded]
        for (schema, result), out in zip(made, args[3:], strict=True):
            value = b.op(
                schema, tuple(loaded[: len(schema.operands)]), types=None if result is None else (result,)
            ).result
            if dtype_of(value.type) is BOOL:
                value = b.create(_op("arith.extui"), value, type=typed((LANES,), I8))
            b.op(_op("tt.store"), (_address(b, out), value))

    stored = [dtype_of(_inferred(schema, tile) if result is None else result) for schema, result in made]
    outs = [pointer(I8 if d is BOOL else d) for d in stored]
    module = kernel((*[pointer(I8 if dtype is BOOL else dtype)] * 3, *outs), write)
    return module, [schema.name for schema, _ in made]


@pytest.mark.skipif("triton" not in {d.name for d in metadata.distributions()}, reason="needs Triton")
@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_every_operation(dtype: DType) -> None:
    module, names = everything(dtype)
    assert len(names) >= 5
    widen(module)
    verify(module, concrete=True)
    made = compile_module(module, 90)
    assert made.ptx.count("st.global") >= len(names)


def test_nothing_is_left_out() -> None:
    found = {name for dtype in STORED for name in everything(dtype)[1]}
    # of a float and an integer (test_libdevice), of pointers, and what is never made
    elsewhere = {"libdevice.ldexp", "tt.int_to_ptr", "tt.ptr_to_int", "arith.bitcast"}
    assert found | elsewhere == {s.name for s in concrete() if plain(s)}
