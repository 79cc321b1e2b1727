"""Control flow of the builder, and where it places instructions."""

from __future__ import annotations

import numpy as np
import pytest

from teeny.backends.cpu.builder import KERNEL_PARAMETERS, Builder, Module
from teeny.diag import InternalError
from teeny.ir.lanes import Lane, LaneBuilder
from tests.backends.cpu.harness import call, compiled


def argument(b: Builder, index: int, dtype: str = "ptr") -> Lane:
    return b.load(b.offset(b.parameter("args", "ptr"), b.const("i64", index), "i64"), dtype)


def const(b: Builder, value: int) -> Lane:
    return b.const("i64", value)


def text(body: object) -> list[str]:
    module = Module()
    b = Builder(module, "k", KERNEL_PARAMETERS)
    assert callable(body)
    body(b)
    b.finish()
    return [line.strip() for line in module.functions[0].splitlines()]


def test_builder_is_a_lane_builder() -> None:
    module = Module()
    b: LaneBuilder = Builder(module, "k", KERNEL_PARAMETERS)
    assert b.type_of(b.const("i8", 300)) == "i8"
    assert b.const("i8", 300).const == 44


def test_loops_carry_values() -> None:
    def body(b: Builder) -> None:
        lo, hi, step = (argument(b, i, "i64") for i in range(3))
        with b.loop(lo, hi, step, [const(b, 0), b.const("f32", 1.0)]) as loop:
            total, product = loop.carried
            loop.yield_([b.add(total, loop.index), b.fmul(product, b.const("f32", 2.0))])
        out = argument(b, 3)
        b.store(out, loop.results[0])
        b.store(b.offset(out, const(b, 1), "i64"), b.fptosi(loop.results[1], "i64"))

    address = compiled({"k": body}, "native", 16)["k"]
    for lo, hi, step in ((0, 10, 1), (0, 0, 1), (5, 2, 1), (-7, 20, 3), (0, 1, 100)):
        out = np.zeros(2, np.int64)
        call(address, [lo, hi, step, out.ctypes.data])
        assert out.tolist() == [sum(range(lo, hi, step)), 2 ** len(range(lo, hi, step))]


def test_loop_downwards_and_vectors_carried() -> None:
    def body(b: Builder) -> None:
        zero = b.splat(b.const("i32", 0), 8)
        with b.loop(argument(b, 0, "i64"), const(b, 0), const(b, -2), [zero]) as loop:
            loop.yield_([b.add(loop.carried[0], b.mul(b.trunc(loop.index, "i32"), b.lane_ids("i32", 8)))])
        b.store(argument(b, 1), loop.results[0])

    address = compiled({"k": body}, "native", 8)["k"]
    for n in (0, 1, 9, 10):
        out = np.zeros(8, np.int32)
        call(address, [n, out.ctypes.data])
        np.testing.assert_array_equal(out, sum(range(n, 0, -2)) * np.arange(8))


def test_while_loops() -> None:
    def body(b: Builder) -> None:
        with b.while_([argument(b, 0, "i64"), const(b, 0)]) as w:
            value, steps = w.carried
            doubled = b.mul(steps, const(b, 2))
            w.condition(b.icmp("ne", value, const(b, 1)), [steps, doubled, const(b, 5)])
            odd = b.icmp("eq", b.and_(value, const(b, 1)), const(b, 1))
            with b.if_(odd) as branch:
                branch.yield_([b.add(b.mul(value, const(b, 3)), const(b, 1))])
                branch.otherwise()
                branch.yield_([b.lshr(value, const(b, 1))])
            w.yield_([branch.results[0], b.add(steps, const(b, 1))])
        for i, lane in enumerate(w.results):
            b.store(b.offset(argument(b, 1), const(b, i), "i64"), lane)

    address = compiled({"k": body}, "native", 16)["k"]
    for start, steps in ((1, 0), (6, 8), (27, 111)):
        out = np.zeros(3, np.int64)
        call(address, [start, out.ctypes.data])
        assert out.tolist() == [steps, 2 * steps, 5]


def test_branches_nest_with_loops() -> None:
    def body(b: Builder) -> None:
        n = argument(b, 0, "i64")
        with b.loop(const(b, 0), n, const(b, 1), [const(b, 0)]) as outer:
            with b.if_(b.icmp("eq", b.and_(outer.index, const(b, 1)), const(b, 0))) as branch:
                with b.loop(const(b, 0), outer.index, const(b, 1), [const(b, 0)]) as inner:
                    inner.yield_([b.add(inner.carried[0], inner.index)])
                branch.yield_([inner.results[0]])
                branch.otherwise()
                with b.if_(b.icmp("sgt", outer.index, const(b, 5))) as nested:
                    nested.yield_([const(b, 1000)])
                    nested.otherwise()
                    nested.yield_([const(b, 1)])
                branch.yield_([nested.results[0]])
            with b.if_(b.icmp("eq", outer.index, const(b, 3))):
                b.store(argument(b, 2), outer.index)
            outer.yield_([b.add(outer.carried[0], branch.results[0])])
        b.store(argument(b, 1), outer.results[0])

    address = compiled({"k": body}, "native", 16)["k"]
    for n in (0, 1, 3, 4, 11):
        out, seen = np.zeros(1, np.int64), np.zeros(1, np.int64)
        call(address, [n, out.ctypes.data, seen.ctypes.data])
        assert out[0] == sum(sum(range(i)) if i % 2 == 0 else 1000 if i > 5 else 1 for i in range(n))
        assert seen[0] == (3 if n > 3 else 0)


def test_invariant_code_leaves_loops_and_equal_code_is_shared() -> None:
    def body(b: Builder) -> None:
        x = argument(b, 0, "f32")
        with b.loop(b.parameter("start", "i64"), b.parameter("end", "i64"), const(b, 1)) as loop:
            square = b.fmul(x, x)
            with b.loop(const(b, 0), const(b, 9), const(b, 1)) as inner:
                again = b.fmul(x, x)
                assert again is square
                scaled = b.fmul(b.sitofp(loop.index, "f32"), square)
                at = b.offset(argument(b, 1), b.add(loop.index, inner.index), "f32")
                b.store(at, scaled)

    lines = text(body)
    squares = [i for i, line in enumerate(lines) if "fmul float" in line]
    headers = [i for i, line in enumerate(lines) if line.startswith("loop")]
    assert len(squares) == 2
    assert squares[0] < headers[0] < squares[1] < headers[1]


def test_nothing_leaves_a_branch_but_what_is_known_outside_is_used() -> None:
    def body(b: Builder) -> None:
        x = argument(b, 0, "f32")
        outside = b.fadd(x, x)
        with b.if_(b.fcmp("ogt", x, b.const("f32", 0.0))):
            assert b.fadd(x, x) is outside
            b.store(argument(b, 1), b.fdiv(x, outside))

    lines = text(body)
    assert lines.index(next(line for line in lines if "fdiv" in line)) > lines.index(
        next(line for line in lines if line.startswith("then"))
    )


def test_loads_stay_unless_a_region_is_open() -> None:
    def body(b: Builder, region: bool = False) -> None:
        x, y, n = argument(b, 0), argument(b, 1), argument(b, 2, "i64")

        def loop() -> None:
            with b.loop(const(b, 0), n, const(b, 1)) as loop:
                first, second = b.load(x, "f32"), b.load(x, "f32")
                assert first is second
                b.store(b.offset(y, loop.index, "f32"), first)
                assert b.load(x, "f32") is not first

        if region:
            with b.region():
                loop()
        else:
            loop()

    for region in (False, True):
        lines = text(lambda b, region=region: body(b, region))
        header = next(i for i, line in enumerate(lines) if line.startswith("loop"))
        inside = [line for line in lines[header:] if "load float" in line]
        assert len(inside) == (0 if region else 2)


def test_use_of_a_value_outside_its_scope_is_refused() -> None:
    b = Builder(Module(), "k", KERNEL_PARAMETERS)
    with b.loop(const(b, 0), const(b, 9), const(b, 1)) as loop:
        inside = b.add(loop.index, const(b, 1))
    with pytest.raises(InternalError, match="outside the scope"):
        b.mul(inside, const(b, 2))
    with b.loop(const(b, 0), const(b, 9), const(b, 1)), pytest.raises(InternalError, match="outside the scope"):
        b.mul(inside, const(b, 3))


def test_malformed_control_flow_is_refused() -> None:
    b = Builder(Module(), "k", KERNEL_PARAMETERS)
    with (
        pytest.raises(InternalError, match="a loop ends"),
        b.loop(const(b, 0), const(b, 9), const(b, 1), [const(b, 0)]) as loop,
    ):
        loop.yield_([])
    b = Builder(Module(), "k", KERNEL_PARAMETERS)
    with pytest.raises(InternalError, match="a branch ends"), b.if_(b.const("i1", 1)) as branch:
        branch.yield_([const(b, 0)])
    b = Builder(Module(), "k", KERNEL_PARAMETERS)
    with pytest.raises(InternalError, match="a while loop ends"), b.while_([]):
        pass
