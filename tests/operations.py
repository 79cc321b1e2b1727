"""One small module for each concrete operation of the registry and each dtype it takes.

Operations that are lane by lane and casts are found by asking their type rules; for the others a maker stands here, and
`missing` names those that have none.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, cast

from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Region, Value
from teeny.ir.dtype import BOOL, F32, I8, I32, LEAVES, DType, storage
from teeny.ir.rules import Lanewise
from teeny.ir.schema import Check, Infer, OpDef, SchemaError, registry
from teeny.ir.types import Type, pointer, typed, with_element
from teeny.ops.compare import CORE
from tests import views

importlib.import_module("teeny.language")  # all families of operations enter the registry

STORED = tuple(d for d in LEAVES.values() if storage(d) is d and d.kind != "float8")
SOME = (F32, I32, BOOL)
VALUES: dict[str, tuple[Any, ...]] = {
    "bool": (True, False),
    "signed": (0, 1, -1, 127),
    "float": (0.0, -0.0, 1.5, 0.1, 3.0e-5, float("inf"), float("-inf"), float("nan")),
}
Example = tuple[str, Module]


def _op(name: str) -> OpDef:
    return registry()[name]


def kernel(types: tuple[Type, ...], body: Callable[[Builder, tuple[Value, ...]], None]) -> Module:
    """A function of parameters of these types, in which `body` writes operations."""
    block = Block(types, tuple(f"a{at}" for at in range(len(types))))
    b = Builder(block)
    body(b, block.args)
    b.op(_op("tt.return"), ())
    return Module([Function("kernel", Region([block]))])


def plain(schema: OpDef) -> bool:
    """Whether an operation is lane by lane and has no attribute that must be chosen: types alone make an example."""
    return isinstance(schema.fill, Lanewise) and all(a.endswith("?") for a in schema.attrs)


def fits(schema: OpDef, types: tuple[Type, ...], result: Type | None = None) -> bool:
    """Whether an operation takes operands of these types (and gives `result`)."""
    try:
        if result is None:
            cast("Infer", schema.types)(types, {})
        else:
            cast("Check", schema.types)(types, {}, (result,))
    except SchemaError:
        return False
    return True


def _lanewise(schema: OpDef) -> Iterator[Example]:
    for dtype in STORED:
        for type_ in (dtype, typed((8,), dtype)):
            types = (type_,) * len(schema.operands)
            if fits(schema, types):
                yield f"{schema.name} {type_}", kernel(types, lambda b, args: void(b.create(schema, *args)))


def _casts(schema: OpDef) -> Iterator[Example]:
    for source in STORED:
        for target in STORED:
            for x, y in ((source, target), (typed((4, 2), source), typed((4, 2), target))):
                if fits(schema, (x,), y):
                    yield f"{schema.name} {x} {y}", _one(schema, (x,), y)


def void(_: object) -> None:
    """For lambdas that are called for what they do."""


def _one(schema: OpDef, types: tuple[Type, ...], result: Type | None = None, **attrs: Any) -> Module:
    return kernel(types, lambda b, args: void(b.op(schema, args, attrs, types=None if result is None else (result,))))


def _constants(schema: OpDef) -> Iterator[Example]:
    for dtype in STORED:
        for value in VALUES[dtype.kind]:
            for type_ in (dtype, typed((2, 8), dtype)):
                yield f"{schema.name} {type_} {value}", _one(schema, (), type_, value=value)


def _compares(schema: OpDef) -> Iterator[Example]:
    integers = schema.name.endswith("i")
    own = {p for p in CORE if (p[0] in "sue" or p == "ne") and p not in ("ule", "uge", "ult", "ugt", "une")}
    predicates = sorted(
        own | {"ule", "uge", "ult", "ugt"} if integers else {p for p in CORE if p[0] in "ou"} | {"ord", "uno"}
    )
    for predicate in predicates:
        for dtype in STORED:
            types = (typed((8,), dtype),) * 2
            if fits(schema, types):
                yield f"{schema.name} {predicate} {dtype}", _one(schema, types, predicate=predicate)


def _axes(schema: OpDef) -> Iterator[Example]:
    for axis in range(3):
        yield f"{schema.name} {axis}", _one(schema, (), axis=axis)


def _selects(schema: OpDef) -> Iterator[Example]:
    for dtype in STORED:
        tile = typed((8,), dtype)
        for condition, x in ((BOOL, dtype), (BOOL, tile), (typed((8,), BOOL), tile)):
            yield f"{schema.name} {condition} {x}", _one(schema, (condition, x, x))


def _views(schema: OpDef) -> Iterator[Example]:
    for element in (*SOME, pointer(F32)):
        rows: dict[str, tuple[tuple[Type, Type | None, dict[str, Any]], ...]] = {
            "tt.splat": ((element, typed((4, 8), element), {}),),
            "tt.broadcast": ((typed((1, 8), element), typed((4, 8), element), {}),),
            "tt.expand_dims": tuple((typed((4, 8), element), None, {"axis": axis}) for axis in range(3)),
            "tt.reshape": tuple(
                (typed((4, 8), element), typed((32,), element), {"allow_reorder": loose}) for loose in (True, False)
            ),
            "tt.trans": tuple((typed((2, 4, 8), element), None, {"order": o}) for o in ((0, 2, 1), (2, 0, 1))),
        }
        for x, result, attrs in rows[schema.name]:
            yield f"{schema.name} {x} {attrs}", _one(schema, (x,), result, **attrs)


def _parts(schema: OpDef) -> Iterator[Example]:
    for element in (*SOME, pointer(F32)):
        row, pairs = typed((8,), element), typed((4, 8, 2), element)
        numbers, mask, counts = (typed((n,), e) for n, e in ((64, I32), (64, BOOL), (8, I32)))
        rows: dict[str, tuple[tuple[tuple[Type, ...], Type | None], ...]] = {
            "tt.join": (((row, row), None), ((pairs, pairs), None)),
            "tt.split": (((pairs,), None), ((typed((1, 2), element),), None)),
            "tt.cat": (((row, row), typed((16,), element)),),
            "tt.unsplat": (((typed((1, 1), element),), None),),
            "tt.histogram": (((numbers,), counts), ((numbers, mask), counts)),
        }
        for types, result in rows[schema.name]:
            yield f"{schema.name} {types}", _one(schema, types, result)


def _memory(schema: OpDef) -> Iterator[Example]:
    for dtype in (d for d in STORED if d is not BOOL):
        for shape in ((), (8,)):
            p, m, v, i = (typed(shape, e) for e in (pointer(dtype), BOOL, dtype, I32))
            rows: dict[str, tuple[tuple[Type, ...], ...]] = {
                "tt.load": ((p,), (p, m), (p, m, v)),
                "tt.store": ((p, v), (p, v, m)),
                "tt.addptr": ((p, i), (p, typed(shape, LEAVES["i64"]))),
            }
            for types in rows[schema.name]:
                yield f"{schema.name} {types}", _one(schema, types)


def _atomics(schema: OpDef) -> Iterator[Example]:
    words = {"tt.atomic_load": "acquire", "tt.atomic_store": "release", "tt.atomic_poll": "relaxed"}
    attrs: dict[str, Any] = {"sem": words.get(schema.name, "acq_rel"), "scope": "cta"}
    for dtype in (F32, I32, LEAVES["i64"], LEAVES["f16"]):
        for shape in ((), (8,)):
            p, m, v = (typed(shape, e) for e in (pointer(dtype), BOOL, dtype))
            rows: dict[str, tuple[tuple[Type, ...], ...]] = {
                "tt.atomic_rmw": ((p, v), (p, v, m)),
                "tt.atomic_cas": ((p, v, v),),
                "tt.atomic_load": ((p,), (p, m)),
                "tt.atomic_store": ((p, v), (p, v, m)),
                "tt.atomic_poll": ((p, v), (p, v, LEAVES["i64"])) if dtype.kind == "signed" else (),
            }
            kinds = ("fadd", "exch") if dtype.kind == "float" else ("add", "max", "umin", "xor")
            for types in rows[schema.name]:
                for kind in kinds if schema.name == "tt.atomic_rmw" else ("",):
                    more: dict[str, Any] = {"atomic_rmw_op": kind} if kind else {}
                    yield f"{schema.name} {kind} {types}", _one(schema, types, **attrs, **more)


LONGS = (LEAVES["i64"], typed((8,), LEAVES["i64"]))
ATOMICS = ("tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_store", "tt.atomic_poll")


def _gathers(schema: OpDef) -> Iterator[Example]:
    for dtype in (F32, BOOL, LEAVES["i64"]):
        for shape, index, axis in (((8,), (16,), 0), ((4, 8), (4, 2), 1), ((4, 8), (16, 8), 0)):
            types = (typed(shape, dtype), typed(index, I32))
            yield f"{schema.name} {types} {axis}", _one(schema, types, axis=axis)


def _reduces(schema: OpDef) -> Iterator[Example]:
    for name in ("arith.addf", "arith.maxnumf", "arith.minsi", "arith.xori"):
        for dtype in STORED:
            if not fits(_op(name), (dtype, dtype)):
                continue
            for axis in (0, 1):

                def write(
                    b: Builder, args: tuple[Value, ...], dtype: DType = dtype, name: str = name, axis: int = axis
                ) -> None:
                    body = Block((dtype, dtype))
                    inner = Builder(body)
                    inner.op(_op(f"{schema.name}.return"), (inner.create(_op(name), *body.args),))
                    attrs = {"axis": axis} | ({"reverse": axis == 1} if schema.name == "tt.scan" else {})
                    b.op(schema, args, attrs, (Region([body]),))

                yield f"{schema.name} {name} {dtype} {axis}", kernel((typed((4, 8), dtype),), write)


def _undefined(schema: OpDef) -> Iterator[Example]:
    for type_ in (F32, I32, typed((8,), F32), pointer(F32), typed((4,), pointer(I32))):
        yield f"undefined {type_}", _one(schema, (), type_)


def _alone(schema: OpDef) -> Iterator[Example]:
    yield schema.name, _one(schema, ())


def _maps(schema: OpDef) -> Iterator[Example]:
    for pack in (1, 2):

        def write(b: Builder, args: tuple[Value, ...], pack: int = pack) -> None:
            body = Block((F32,) * 2 * pack)
            inner = Builder(body)
            sums = tuple(
                inner.create(_op("arith.addf"), x, y) for x, y in zip(body.args[::2], body.args[1::2], strict=True)
            )
            inner.op(_op(f"{schema.name}.return"), sums)
            b.op(schema, args, {"pack": pack}, (Region([body]),), (args[0].type,))

        yield f"map of {pack}", kernel((typed((8,), F32),) * 2, write)


def _branches(schema: OpDef) -> Iterator[Example]:
    for carried in ((), (F32,), (typed((8,), F32), I32)):

        def write(b: Builder, args: tuple[Value, ...], carried: tuple[Type, ...] = carried) -> None:
            condition, *rest = args
            blocks = (Block(), Block())
            Builder(blocks[0]).create(_op("tt.get_program_id"), axis=0)
            for block in blocks:
                Builder(block).op(_op("scf.yield"), tuple(rest))
            b.op(schema, (condition,), {}, tuple(Region([block]) for block in blocks), carried)

        yield f"{schema.name} {carried}", kernel((BOOL, *carried), write)


def _loops(schema: OpDef) -> Iterator[Example]:
    for index in (I32, LEAVES["i64"]):
        for carried in ((), (F32,), (typed((8,), F32), I32)):

            def write(
                b: Builder, args: tuple[Value, ...], carried: tuple[Type, ...] = carried, index: DType = index
            ) -> None:
                body = Block((index, *carried), ("i",))
                Builder(body).op(_op("scf.yield"), body.args[1:])
                b.op(schema, args, {}, (Region([body]),))

            yield f"{schema.name} {index} {carried}", kernel((index,) * 3 + carried, write)


def _whiles(schema: OpDef) -> Iterator[Example]:
    for carried in ((I32,), (typed((8,), F32), I32)):

        def write(b: Builder, args: tuple[Value, ...], carried: tuple[Type, ...] = carried) -> None:
            before, after = Block(carried), Block(carried)
            test = Builder(before)
            more = test.create(_op("arith.cmpi"), before.args[-1], before.args[-1], predicate="slt")
            test.op(_op("scf.condition"), (more, *before.args))
            Builder(after).op(_op("scf.yield"), after.args)
            b.op(schema, args, {}, (Region([before]), Region([after])), carried)

        yield f"{schema.name} {carried}", kernel(carried, write)


def _calls(schema: OpDef) -> Iterator[Example]:
    for types in ((), (F32,), (typed((8,), F32), I32)):
        helper = Block(types, ("x", "y"))
        Builder(helper).op(_op("tt.return"), helper.args)

        def write(b: Builder, args: tuple[Value, ...], types: tuple[Type, ...] = types) -> None:
            b.op(schema, args, {"callee": "helper"}, types=types)

        module = kernel(types, write)
        module.functions.append(Function("helper", Region([helper]), types, public=False))
        yield f"{schema.name} {types}", module


def _ranges(schema: OpDef) -> Iterator[Example]:
    for start, end in ((0, 16), (3, 7)):
        yield f"{schema.name} {start} {end}", _one(schema, (), start=start, end=end)


def _scaled_dots(schema: OpDef) -> Iterator[Example]:
    formats = {"e2m1": I8, "e4m3": LEAVES["f8e4m3"], "bf16": LEAVES["bf16"]}
    for (a, x), (b, y) in product(formats.items(), repeat=2):
        for scaled, packed in (("ab", True), ("a", True), ("b", b != "e2m1"), ("", True)):
            k, m = (32 if a == "e2m1" else 64, 16)
            right = (32 if b == "e2m1" else 64, 8) if packed else (64, 4)
            scales = {"a": typed((m, 2), I8), "b": typed((8, 2), I8)}
            types = (typed((m, k), x), typed(right, y), typed((m, 8), F32), *(scales[side] for side in scaled))
            attrs: dict[str, Any] = {"a_elem_type": a, "b_elem_type": b, "scaled": scaled, "fastMath": packed}
            if not packed:
                attrs["rhs_k_pack"] = False
            yield f"{schema.name} {a} {b} {scaled or 'whole'}", _one(schema, types, **attrs)


def _dots(schema: OpDef) -> Iterator[Example]:
    totals = {"f16": F32, "bf16": F32, "f32": F32, "f64": LEAVES["f64"], "f8e5m2": LEAVES["f16"], "i8": I32}
    if schema.name == "teeny.dot_unsigned":
        totals = {"i8": I32}
    for dtype, total in totals.items():
        for batch in ((), (2,)):
            shapes = ((16, 32), (32, 64), (16, 64))
            types = tuple(
                typed((*batch, *shape), e)
                for shape, e in zip(shapes, (LEAVES[dtype], LEAVES[dtype], total), strict=True)
            )
            given: dict[str, tuple[dict[str, Any], ...]] = {
                "f32": ({}, {"inputPrecision": "tf32"}), "f8e5m2": ({}, {"maxNumImpreciseAcc": 32}),
            }  # fmt: skip
            for attrs in given.get(dtype, ({},)):
                yield f"{schema.name} {dtype} {batch} {attrs}", _one(schema, types, **attrs)


def _clamps(schema: OpDef) -> Iterator[Example]:
    for dtype in (d for d in STORED if d.kind == "float"):
        for propagate in ("none", "all"):
            yield f"{schema.name} {dtype} {propagate}", _one(schema, (typed((8,), dtype),) * 3, propagateNan=propagate)


def _formats(schema: OpDef) -> Iterator[Example]:
    floats = [d for d in LEAVES.values() if d.kind in ("float", "float8")]
    for source in floats:
        for target in (d for d in floats if d is not source):
            for rounding in ("rtne", "rtz") if target.bits < source.bits else (None,):
                attrs: dict[str, Any] = {} if rounding is None else {"rounding": rounding}
                for x, y in ((source, target), (typed((4, 2), source), typed((4, 2), target))):
                    yield f"{schema.name} {x} {y} {rounding}", _one(schema, (x,), y, **attrs)


TEXT = 'of "n"\\'


def _asserts(schema: OpDef) -> Iterator[Example]:
    for type_ in (BOOL, typed((8,), BOOL)):
        yield f"assert {type_}", _one(schema, (type_,), message=TEXT)


def _prints(schema: OpDef) -> Iterator[Example]:
    yield "print", _one(schema, (), prefix=" here", hex=False, isSigned=())
    yield "print of two", _one(schema, (typed((8,), I32), F32), prefix=f" {TEXT}: ", hex=True, isSigned=(1, 0))
    yield "print of a pointer", _one(schema, (pointer(F32),), prefix="", hex=False, isSigned=(0,))


def _assemblies(schema: OpDef) -> Iterator[Example]:
    tile = typed((8,), I32)
    attrs = {"asm_string": "mov.b32 $0, $1;", "constraints": "=r,r", "packed_element": 1, "pure": True}
    yield "one", _one(schema, (tile,), tile, **attrs)
    yield "none to two", kernel((), lambda b, args: void(b.op(schema, (), attrs, types=(I32, F32))))
    yield "two to two", kernel((tile,) * 2, lambda b, args: void(b.op(schema, args, attrs, types=(tile, tile))))


def _scaled(schema: OpDef) -> Iterator[Example]:
    for dtype in (F32, LEAVES["f64"]):
        for shape in ((), (8,)):
            yield f"{schema.name} {dtype} {shape}", _one(schema, (typed(shape, dtype), typed(shape, I32)))


MAKERS: dict[str, Callable[[OpDef], Iterator[Example]]] = {
    **views.MAKERS,
    "ub.poison": _undefined,
    "tt.grid_dependency_wait": _alone,
    "tt.grid_dependency_launch_dependents": _alone,
    "tt.map_elementwise": _maps,
    "tt.print": _prints,
    "tt.assert": _asserts,
    "tt.elementwise_inline_asm": _assemblies,
    "llvm.intr.assume": lambda schema: iter([("assume", _one(schema, (BOOL,)))]),
    "gpu.barrier": lambda schema: iter([("barrier", _one(schema, ()))]),
    "tt.fp_to_fp": _formats,
    "libdevice.ldexp": _scaled,
    "arith.constant": _constants,
    "arith.cmpi": _compares,
    "arith.cmpf": _compares,
    "arith.select": _selects,
    "tt.clampf": _clamps,
    "tt.get_program_id": _axes,
    "tt.get_num_programs": _axes,
    "tt.make_range": _ranges,
    "tt.call": _calls,
    "tt.reduce": _reduces,
    "tt.scan": _reduces,
    **dict.fromkeys(("tt.join", "tt.split", "tt.cat", "tt.unsplat", "tt.histogram"), _parts),
    "tt.dot": _dots,
    "teeny.dot_unsigned": _dots,
    "tt.dot_scaled": _scaled_dots,
    "scf.if": _branches,
    "scf.for": _loops,
    "scf.while": _whiles,
    **dict.fromkeys(("tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans"), _views),
    **dict.fromkeys(("tt.load", "tt.store", "tt.addptr"), _memory),
    **dict.fromkeys(ATOMICS, _atomics),
    "tt.gather": _gathers,
    "tt.int_to_ptr": lambda schema: iter([(str(t), _one(schema, (t,), with_element(t, pointer(F32)))) for t in LONGS]),
    "tt.ptr_to_int": lambda schema: iter([(str(t), _one(schema, (with_element(t, pointer(F32)),))) for t in LONGS]),
}


def concrete() -> list[OpDef]:
    """The operations that every Triton has too."""
    left_out = ("contract", "hint")
    every = (s for s in registry().values() if not s.generic and s.group not in left_out and s.name not in NEWER)
    return [s for s in every if not s.name.startswith("teeny.")]


NEWER = ("ttg.barrier", "tt.atomic_load", "tt.atomic_store", "tt.atomic_poll")
"""What the oldest Triton lacks."""


def examples(schema: OpDef) -> list[Example]:
    """Modules with one operation in the middle; terminators come with what they end."""
    maker = MAKERS.get(schema.name)
    if maker is None and plain(schema):
        maker = _lanewise if schema.inferred else _casts
    return list(maker(schema)) if maker is not None else []


def missing() -> list[str]:
    """Operations without an example."""
    return [s.name for s in concrete() if not s.terminator and not examples(s)]
