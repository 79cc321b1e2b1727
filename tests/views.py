"""Small modules with block pointers and tensor descriptors, one for each operation and a few dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Region, Value
from teeny.ir.dtype import F16, F32, I8, I32, I64, U32, DType, storage
from teeny.ir.schema import OpDef, registry
from teeny.ir.types import Type, pointer, typed, view
from teeny.ops.block_pointer import make_tensor_ptr_
from teeny.ops.descriptor import make_descriptor_

GONE = ("tt.make_tensor_ptr", "tt.advance")
"""Operations of block pointers, which Triton has no more from 3.8 on."""
Body = Callable[[Builder, tuple[Value, ...]], object]


def _kernel(types: tuple[Type, ...], body: Body) -> Module:
    block = Block(types, tuple(f"a{at}" for at in range(len(types))))
    b = Builder(block)
    body(b, block.args)
    b.op(registry()["tt.return"], ())
    return Module([Function("kernel", Region([block]))])


def block_pointers(schema: OpDef) -> Iterator[tuple[str, Module]]:
    for dtype in (F32, I8):
        type_ = view("block pointer", (8, 16), dtype)

        def body(b: Builder, args: tuple[Value, ...], type_: Type = type_) -> None:
            base, size, offset = args
            p = b.create(make_tensor_ptr_, base, size, size, size, size, offset, offset, type=type_, order=(1, 0))
            if schema is not make_tensor_ptr_:
                b.create(schema, p, offset, offset)

        yield f"{schema.name} {dtype}", _kernel((pointer(dtype), I64, I32), body)


def descriptors(schema: OpDef) -> Iterator[tuple[str, Module]]:
    for dtype in (F32, F16, U32, I32):
        for name, attrs in _choices(schema):
            yield (
                f"{schema.name} {dtype} {name}",
                _kernel((pointer(storage(dtype)), I32, I64), _body(schema, dtype, attrs)),
            )


def _choices(schema: OpDef) -> list[tuple[str, dict[str, Any]]]:
    if schema.name == "tt.descriptor_reduce":
        return [(kind, {"kind": kind}) for kind in ("add", "min", "max", "and", "or", "xor")]
    return [("", {}), ("nan", {"padding": 2})] if schema is make_descriptor_ else [("", {})]


def _body(schema: OpDef, dtype: DType, attrs: dict[str, Any]) -> Body:
    rows = schema.name in ("tt.descriptor_gather", "tt.descriptor_scatter")
    type_ = view("descriptor", (1, 32) if rows else (8, 32), dtype)
    tile = typed((8, 32), storage(dtype))

    def body(b: Builder, args: tuple[Value, ...]) -> None:
        base, size, stride = args
        padding = attrs if schema is make_descriptor_ else {}
        desc = b.op(make_descriptor_, (base, size, size, stride, stride), padding, types=(type_,)).result
        value = b.create(registry()["arith.constant"], type=tile, value=0.0 if dtype.kind == "float" else 0)
        index = b.create(registry()["tt.make_range"], start=0, end=8)
        match schema.name:
            case "tt.descriptor_load":
                b.op(schema, (desc, size, size), {}, types=(tile,))
            case "tt.descriptor_store" | "tt.descriptor_reduce":
                b.op(schema, (desc, value, size, size), attrs)
            case "tt.descriptor_gather":
                b.op(schema, (desc, index, size), {}, types=(tile,))
            case "tt.descriptor_scatter":
                b.op(schema, (desc, index, size, value))
            case _:
                pass

    return body


MAKERS: dict[str, Callable[[OpDef], Iterator[tuple[str, Module]]]] = {
    **dict.fromkeys(GONE, block_pointers),
    **dict.fromkeys(["tt.make_tensor_descriptor"], descriptors),
    **dict.fromkeys([f"tt.descriptor_{n}" for n in ("load", "store", "reduce", "gather", "scatter")], descriptors),
}
