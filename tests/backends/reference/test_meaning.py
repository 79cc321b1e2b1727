"""What programs mean: memory, grids, control flow, calls, arithmetic at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teeny.backends.reference import AccessError, Buffer, Event, ExecutionError, Memory, bind, run
from teeny.ir.builder import Builder
from teeny.ir.core import Block, Function, Module, Region, Value
from teeny.ir.dtype import BOOL, F16, F32, I8, I32, I64, DType
from teeny.ir.types import typed
from teeny.ops.arith import muli
from teeny.ops.bits import andi
from teeny.ops.cast import fptosi, sitofp
from teeny.ops.compare import select
from teeny.ops.control import call_, condition_, return_, while_, yield_
from teeny.ops.division import divsi, remsi
from teeny.ops.program import get_num_programs, get_program_id
from tests.drafts import Draft

ONE = (1, 1, 1)


def unary(dtype: DType, target: DType, size: int, schema: Any, **attrs: Any) -> Module:
    """y[i] = schema(x[i])"""
    d = Draft()
    d.pointer("x", dtype)
    d.pointer("y", target)
    x, y = d.begin()
    offsets = d.range(size)
    value = d.load(d.at(x, offsets))
    d.store(d.at(y, offsets), d.b.create(schema, value, type=typed((size,), target), **attrs))
    return d.end()


def test_programs_run_in_rising_order_x_fastest() -> None:
    d = Draft()
    d.pointer("count", I32)
    d.pointer("order", I32)
    count, order = d.begin()
    at = d.load(count)
    x, y, z = (d.program(axis) for axis in range(3))
    d.store(d.at(order, at), d.add(x, d.add(d.mul(y, d.const(10, I32)), d.mul(z, d.const(100, I32)))))
    d.store(count, d.add(at, d.const(1, I32)))
    counted, found = np.zeros(1, np.int32), np.zeros(12, np.int32)
    run(d.end(), [counted, found], (2, 3, 2))
    assert found.tolist() == [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121]


def test_num_programs() -> None:
    d = Draft()
    d.pointer("y", I32)
    (y,) = d.begin()
    for axis in range(3):
        d.store(d.at(y, d.const(axis, I32)), d.apply(get_num_programs, axis=axis))
    found = np.zeros(3, np.int32)
    run(d.end(), [found], (4, 5, 6))
    assert found.tolist() == [4, 5, 6]


def test_a_grid_with_a_zero_does_nothing() -> None:
    module = unary(F32, I32, 4, fptosi)
    y = np.full(4, 7, np.int32)
    run(module, [np.ones(4, np.float32), y], (0, 1, 1))
    assert y.tolist() == [7, 7, 7, 7]


def test_inactive_lanes_are_never_touched() -> None:
    d = Draft()
    d.pointer("x", F32)
    d.pointer("y", F32)
    d.scalar("n")
    x, y, n = d.begin()
    offsets = d.range(8)
    mask = d.compare("lt", offsets, d.fill(n, (8,)))
    d.store(d.at(y, offsets), d.load(d.at(x, offsets), mask, -1.0), mask)
    module = d.end()
    x0, y0 = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    run(module, [x0, y0, 5], ONE)
    assert np.array_equal(x0, y0)
    with pytest.raises(AccessError) as caught:
        run(module, [x0, y0, 6], ONE)
    error = caught.value
    assert (error.program, error.lane, error.argument, error.offset, error.size) == ((0, 0, 0), (5,), 0, 20, 4)
    assert str(error) == (
        "tt.load: reads 4 bytes at byte 20 of argument 0, which has the bytes 0 to 20 (program (0, 0, 0), lane (5,))"
    )


def test_a_buffer_starts_at_its_offset() -> None:
    module = unary(F32, I32, 4, fptosi)
    memory = Memory.of(np.arange(8, dtype=np.float32).view(np.uint8))
    y = np.zeros(4, np.int32)
    run(module, [Buffer(memory, 16), y], ONE)
    assert y.tolist() == [4, 5, 6, 7]
    with pytest.raises(AccessError, match="bytes -20 to 12"):
        run(module, [Buffer(memory, 20), y], ONE)


def test_views_that_overlap_are_one_memory() -> None:
    d = Draft()
    d.pointer("x", I32)
    d.pointer("y", I32)
    x, y = d.begin()
    offsets = d.range(4)
    d.store(d.at(y, offsets), d.load(d.at(x, offsets)))
    d.store(d.at(y, offsets), d.load(d.at(x, offsets)))
    module = d.end()
    base = np.arange(6, dtype=np.int32)
    run(module, [base[:4], base[1:5]], ONE)
    assert base.tolist() == [0, 0, 0, 1, 2, 5]
    backward = np.arange(4, dtype=np.int32)[::-1]
    with pytest.raises(AccessError):
        run(module, [backward, np.zeros(4, np.int32)], ONE)


def test_a_read_only_array_is_not_written() -> None:
    module = unary(F32, I32, 4, fptosi)
    y = np.zeros(4, np.int32)
    y.flags.writeable = False
    with pytest.raises(AccessError, match="read-only"):
        run(module, [np.ones(4, np.float32), y], ONE)


def test_of_two_lanes_at_one_place_the_last_wins() -> None:
    d = Draft()
    d.pointer("y", I32)
    (y,) = d.begin()
    offsets = d.range(8)
    d.store(d.at(y, d.apply(andi, offsets, d.const(1, offsets.type))), offsets)
    found = np.zeros(2, np.int32)
    run(d.end(), [found], ONE)
    assert found.tolist() == [6, 7]


def test_a_loop_carries_values_and_may_run_backward_or_not_at_all() -> None:
    d = Draft()
    d.pointer("y", I32)
    for name in ("start", "end", "step"):
        d.scalar(name)
    y, start, end, step = d.begin()

    def body(index: Value, total: Value, trips: Value) -> tuple[Value, ...]:
        return d.add(d.mul(total, d.const(10, I32)), index), d.add(trips, d.const(1, I32))

    total, trips = d.loop(start, end, step, (d.const(0, I32), d.const(0, I32)), body)
    d.store(y, total)
    d.store(d.at(y, d.const(1, I32)), trips)
    module = d.end()
    found = np.zeros(2, np.int32)
    for bounds, expected in {(1, 4, 1): [123, 3], (1, 6, 2): [135, 3], (3, 0, -1): [321, 3], (4, 4, 1): [0, 0]}.items():
        run(module, [found, *bounds], ONE)
        assert found.tolist() == expected
    with pytest.raises(ExecutionError, match="step of the loop is 0"):
        run(module, [found, 0, 1, 0], ONE)


def test_while_stops_when_its_condition_fails() -> None:
    d = Draft()
    d.pointer("y", I32)
    d.scalar("n")
    y, n = d.begin()
    before, after = Block((I32, I32)), Block((I32, I32))
    outer, d.b = d.b, Builder(before)
    d.b.op(condition_, (d.compare("gt", before.args[0], d.const(1, I32)), *before.args))
    d.b = Builder(after)
    half = d.apply(divsi, after.args[0], d.const(2, I32))
    d.b.op(yield_, (half, d.add(after.args[1], d.const(1, I32))))
    d.b = outer
    regions = (Region([before]), Region([after]))
    found = d.b.op(while_, (n, d.const(0, I32)), regions=regions, types=(I32, I32)).results
    d.store(y, found[1])
    log = np.zeros(1, np.int32)
    run(d.end(), [log, 1000], ONE)
    assert log[0] == 9


def test_calls_have_values_of_their_own() -> None:
    block = Block((I32,))
    b = Builder(block)
    b.op(return_, (b.create(muli, block.args[0], block.args[0]),))
    square = Function("square", Region([block]), (I32,), public=False)
    d = Draft()
    d.pointer("y", I32)
    (y,) = d.begin()
    once = d.b.op(call_, (d.const(3, I32),), {"callee": "square"}, types=(I32,)).result
    twice = d.b.op(call_, (once,), {"callee": "square"}, types=(I32,)).result
    d.store(y, d.add(once, twice))
    module = d.end()
    found = np.zeros(1, np.int32)
    run(Module([square, *module.functions]), [found], ONE)
    assert found[0] == 90


@pytest.mark.parametrize(
    ("x", "y", "quotient", "remainder"), [(7, -2, -3, 1), (-7, 2, -3, -1), (-(2**31), -1, -(2**31), 0), (6, 3, 2, 0)]
)
def test_integer_division_truncates_and_wraps(x: int, y: int, quotient: int, remainder: int) -> None:
    d = Draft()
    d.pointer("out", I32)
    d.scalar("x")
    d.scalar("y")
    out, x0, y0 = d.begin()
    d.store(out, d.apply(divsi, x0, y0))
    d.store(d.at(out, d.const(1, I32)), d.apply(remsi, x0, y0))
    found = np.zeros(2, np.int32)
    run(d.end(), [found, x, y], ONE)
    assert found.tolist() == [quotient, remainder]


def test_float_to_integer_saturates() -> None:
    x = np.array([1.9, -1.9, 300, -300, np.nan, np.inf, -np.inf, 127], np.float32)
    y = np.zeros(8, np.int8)
    run(unary(F32, I8, 8, fptosi), [x, y], ONE)
    assert y.tolist() == [1, -1, 127, -128, 0, 127, -128, 127]


def test_wide_integers_round_once_to_f16() -> None:
    x = np.array([2049, 2051, 65519, 65520, (1 << 24) + 1, -2049, 0, 1], np.int32)
    y = np.zeros(8, np.float16)
    run(unary(I32, F16, 8, sitofp), [x, y], ONE)
    assert y.tolist() == [2048, 2052, 65504, np.inf, np.inf, -2048, 0, 1]


def test_scalars_take_the_bits_of_their_type() -> None:
    d = Draft()
    d.pointer("y", I64)
    d.scalar("n", I64)
    y, n = d.begin()
    d.store(y, n)
    found = np.zeros(1, np.int64)
    run(d.end(), [found, 2**64 - 1], ONE)
    assert found[0] == -1


def test_a_bool_takes_a_byte_in_memory() -> None:
    d = Draft()
    d.pointer("x", BOOL)
    d.pointer("y", BOOL)
    x, y = d.begin()
    offsets = d.range(4)
    d.store(d.at(y, offsets), d.load(d.at(x, offsets)))
    x0, y0 = np.array([0, 1, 2, 255], np.uint8), np.full(4, 9, np.uint8)
    run(d.end(), [x0, y0], ONE)
    assert y0.tolist() == [0, 1, 1, 1]


def test_arguments_are_checked() -> None:
    module = unary(F32, I32, 4, fptosi)
    with pytest.raises(ValueError, match="takes 2 arguments, found 1"):
        run(module, [np.zeros(4, np.float32)], ONE)
    with pytest.raises(ValueError, match="argument 1 is a pointer"):
        run(module, [np.zeros(4, np.float32), 3], ONE)


def test_the_trace_sees_every_operation_of_every_program() -> None:
    d = Draft()
    d.pointer("y", I32)
    (y,) = d.begin()
    at = d.apply(get_program_id, axis=0)
    d.store(d.at(y, at), d.apply(select, d.compare("gt", at, d.const(0, I32)), at, d.const(9, I32)))
    events: list[Event] = []
    found = np.zeros(2, np.int32)
    run(d.end(), [found], (2, 1, 1), trace=events.append)
    assert found.tolist() == [9, 1]
    assert [e.op.name for e in events if e.program == (1, 0, 0)] == [
        "tt.get_program_id", "tt.addptr", "arith.constant", "arith.cmpi", "arith.constant", "arith.select", "tt.store",
    ]  # fmt: skip
    assert [int(e.results[0].value) for e in events if e.op.name == "arith.select"] == [9, 1]


def test_the_undefined_elements_of_a_view() -> None:
    (buffer,) = bind([np.zeros((4, 4), np.float32)])
    buffer.memory.poison[4 * 4 + 2] = True
    whole = buffer.memory.bytes.view(np.float32).reshape(4, 4)
    assert np.argwhere(buffer.undefined(whole)).tolist() == [[1, 0]]
    assert buffer.undefined(whole[1::2, ::-2]).tolist() == [[False, False], [False, False]]
    assert buffer.undefined(whole.T).tolist()[0] == [False, True, False, False]
