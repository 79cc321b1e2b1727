"""The thread pool: every program runs exactly once, whatever the threads; modes, memory, forks and interrupts."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teeny.backends.cpu import pool
from teeny.backends.cpu.builder import Builder
from teeny.backends.cpu.engine import compile_object, load
from teeny.backends.cpu.target import is_x86
from teeny.ir.lanes import Lane
from tests.backends.cpu.harness import compiled

DEAR = 1e5
"""Nanoseconds a program: more than one thread."""


def const(b: Builder, value: int) -> Lane:
    return b.const("i64", value)


def argument(b: Builder, index: int, dtype: str = "ptr") -> Lane:
    return b.load(b.offset(b.parameter("args", "ptr"), const(b, index), "i64"), dtype)


def count_body(b: Builder) -> None:
    """counts[program] += 1, after `work` dependent divisions."""
    counts, work = argument(b, 0), argument(b, 1, "i64")
    with b.loop(b.parameter("start", "i64"), b.parameter("end", "i64"), const(b, 1)) as programs:
        with b.loop(const(b, 0), work, const(b, 1), [b.const("f64", 1.0)]) as loop:
            loop.yield_([b.fdiv(b.const("f64", 3.0), loop.carried[0])])
        one = b.select(b.fcmp("ogt", loop.results[0], b.const("f64", 0.0)), const(b, 1), const(b, 2))
        at = b.offset(counts, programs.index, "i64")
        b.store(at, b.add(b.load(at, "i64"), one))


def scratch_body(b: Builder) -> None:
    """Fill scratch with the program's number, then sum it into out[program]; out[n + program] is the address mod 64."""
    out, size, n = argument(b, 0), argument(b, 1, "i64"), argument(b, 2, "i64")
    scratch = b.parameter("scratch", "ptr")
    with b.loop(b.parameter("start", "i64"), b.parameter("end", "i64"), const(b, 1)) as programs:
        with b.loop(const(b, 0), size, const(b, 1)) as fill:
            b.store(b.offset(scratch, fill.index, "i64"), programs.index)
        with b.loop(const(b, 0), size, const(b, 1), [const(b, 0)]) as total:
            total.yield_([b.add(total.carried[0], b.load(b.offset(scratch, total.index, "i64"), "i64"))])
        b.store(b.offset(out, programs.index, "i64"), total.results[0])
        place = b.and_(b.bitcast(scratch, "i64"), const(b, 63))
        b.store(b.offset(out, b.add(programs.index, n), "i64"), place)


@pytest.fixture(scope="module")
def kernels() -> dict[str, int]:
    return compiled({"count": count_body, "scratch": scratch_body}, "native", 16)


def block(*values: int) -> ctypes.Array[Any]:
    return (ctypes.c_int64 * len(values))(*values)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_program_runs_exactly_once(
    kernels: dict[str, int], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", str(threads))
    for programs in (0, 1, 2, 3, 7, 8, 63, 64, 65, 1000, 9999, 10000):
        for cost in (1.0, 1e3, DEAR):
            counts = np.zeros(programs + 1, np.int64)
            for _ in range(3):
                pool.launch(kernels["count"], block(counts.ctypes.data, 3), programs, 0, cost)
            assert (counts[:-1] == 3).all(), (programs, cost)
            assert counts[-1] == 0


def test_many_launches_in_a_row(kernels: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", "4")
    counts = np.zeros(16, np.int64)
    args = block(counts.ctypes.data, 0)
    for _ in range(3000):
        pool.launch(kernels["count"], args, 16, 0, 10_000.0)
    assert (counts == 3000).all()


def test_negative_grid_runs_nothing(kernels: dict[str, int]) -> None:
    pool.launch(kernels["count"], block(0, 0), -3, 0, DEAR)


@pytest.mark.parametrize("threads", [1, 5])
def test_scratch_is_aligned_private_and_grows(
    kernels: dict[str, int], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", str(threads))
    for size in (1, 100, 5000, 100, 40000):
        out = np.full(400, -1, np.int64)
        pool.launch(kernels["scratch"], block(out.ctypes.data, size, 200), 200, 8 * size, DEAR)
        np.testing.assert_array_equal(out[:200], np.arange(200) * size)
        assert (out[200:] == 0).all()


def test_launches_from_several_threads(kernels: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", "3")
    results = [np.zeros(300, np.int64) for _ in range(4)]

    def work(counts: np.ndarray[Any, Any]) -> None:
        for _ in range(200):
            pool.launch(kernels["count"], block(counts.ctypes.data, 5), 300, 64, 1000.0)

    threads = [threading.Thread(target=work, args=(counts,)) for counts in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for counts in results:
        assert (counts == 200).all()


def test_pool_is_rebuilt_after_fork(kernels: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", "4")
    counts = np.zeros(500, np.int64)
    pool.launch(kernels["count"], block(counts.ctypes.data, 5), 500, 64, DEAR)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for _ in range(20):
                pool.launch(kernels["count"], block(counts.ctypes.data, 5), 500, 64, DEAR)
            status = 0 if (counts == 21).all() else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    pool.launch(kernels["count"], block(counts.ctypes.data, 5), 500, 64, DEAR)
    assert (counts == 2).all()


MODE = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define i32 @get() { %m = alloca i32
 call void @llvm.x86.sse.stmxcsr(ptr %m)
 %v = load i32, ptr %m
 ret i32 %v }
define void @set(i32 %v) { %m = alloca i32
 store i32 %v, ptr %m
 call void @llvm.x86.sse.ldmxcsr(ptr %m)
 ret void }
"""


@pytest.mark.skipif(not is_x86(), reason="the mode register of x86")
@pytest.mark.parametrize("cost", [1.0, DEAR])
def test_subnormals_are_kept_whatever_the_caller_has_set(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", "3")

    def body(b: Builder) -> None:
        with b.loop(b.parameter("start", "i64"), b.parameter("end", "i64"), const(b, 1)) as programs:
            at = b.offset(argument(b, 0), programs.index, "f32")
            b.store(at, b.fmul(b.load(at, "f32"), b.const("f32", 0.5)))

    address = compiled({"k": body}, "native", 1)["k"]
    code = compile_object(MODE, "x86-64")
    get, set_ = (
        ctypes.CFUNCTYPE(ctypes.c_uint32)(load(code, "get")),
        ctypes.CFUNCTYPE(None, ctypes.c_uint32)(load(code, "set")),
    )
    values = np.full(1000, 2.0**-130, np.float32)
    args = block(values.ctypes.data)
    flush_and_round_up = 0x1F80 | 0x8040 | 0x4000
    before = get()
    set_(flush_and_round_up)
    try:
        pool.launch(address, args, 1000, 0, cost)
        after = get()
    finally:
        set_(before)
    assert after & 0xFFC0 == flush_and_round_up
    assert (values.view(np.uint32) == np.float32(2.0**-131).view(np.uint32)).all()


def test_thread_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", "7")
    assert pool.thread_count() == 7
    monkeypatch.setenv("TEENY_NUM_THREADS", "100000")
    assert pool.thread_count() == pool.MAX_THREADS
    monkeypatch.setenv("TEENY_NUM_THREADS", "")
    assert 1 <= pool.thread_count() <= pool.MAX_THREADS


@pytest.mark.parametrize("text", ["0", "-1", "many of them", "9" * 5000])
def test_a_thread_count_that_is_none_is_said_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", text)
    with pytest.warns(RuntimeWarning, match="TEENY_NUM_THREADS is .*no positive number; kernels run on") as caught:
        counts = {pool.thread_count(), pool.thread_count()}
    assert len(caught) == 1
    assert 1 <= counts.pop() <= pool.MAX_THREADS


ROOT = Path(__file__).resolve().parents[3]


def python(code: str, threads: int) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, TEENY_NUM_THREADS=str(threads), PYTHONPATH=f"{ROOT / 'src'}{os.pathsep}{ROOT}")
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, env=environment
    )


@pytest.mark.parametrize("threads", [1, 3])
def test_interrupt_ends_a_long_launch(threads: int) -> None:
    done = python(
        """
        import signal, time
        import numpy as np
        from teeny.backends.cpu import pool
        from tests.backends.cpu.harness import compiled
        from tests.backends.cpu.test_pool import block, count_body

        address = compiled({"count": count_body}, "native", 16)["count"]
        counts = np.zeros(100000, np.int64)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        begun = time.monotonic()
        try:
            pool.launch(address, block(counts.ctypes.data, 200000), 100000, 0, 1e6)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - begun < 10, counts.max() == 1, 0 < counts.sum() < 100000)
        pool.launch(address, block(counts.ctypes.data, 1), 100000, 0, 100.0)
        print(counts.min() >= 1)
        """,
        threads,
    )
    assert done.stdout.split() == ["interrupted", "True", "True", "True", "True"], done.stderr


def test_process_ends_with_workers_asleep_and_with_python_signals_at_home() -> None:
    done = python(
        """
        import os, signal, time
        import numpy as np
        from teeny.backends.cpu import pool
        from tests.backends.cpu.harness import compiled
        from tests.backends.cpu.test_pool import block, count_body

        address = compiled({"count": count_body}, "native", 16)["count"]
        counts = np.zeros(100, np.int64)
        pool.launch(address, block(counts.ctypes.data, 0), 100, 0, 1e5)
        time.sleep(0.05)
        seen = []
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        os.kill(os.getpid(), signal.SIGUSR1)
        pool.launch(address, block(counts.ctypes.data, 0), 100, 0, 1e5)
        print(seen, (counts == 2).all())
        """,
        4,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[1] True"), done.stderr


def test_pool_object_may_come_from_a_cache() -> None:
    done = python(
        """
        import ctypes, sys
        from teeny.backends.cpu import pool
        from teeny.backends.cpu.engine import compile_object

        kept = {}
        def source(text, make):
            kept[text] = kept.get(text) or make()
            return kept[text]
        pool.set_object_source(source)
        code = compile_object("define void @k(ptr %a, i64 %s, i64 %e, ptr %t) { store i64 %e, ptr %a\\n ret void }")
        from teeny.backends.cpu.engine import load
        args = (ctypes.c_int64 * 1)()
        pool.launch(load(code, "k"), args, 5, 0, 1.0)
        print(args[0], len(kept), type(next(iter(kept.values()))).__name__)
        """,
        1,
    )
    assert done.stdout.split() == ["5", "1", "bytes"], done.stderr


@pytest.mark.parametrize("threads", [1, 4])
def test_python_threads_stand_in_where_there_is_no_futex(
    kernels: dict[str, int], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENY_NUM_THREADS", str(threads))
    monkeypatch.setattr(pool.native(), "launch", None)
    for programs in (1, 5, 1000):
        counts = np.zeros(programs, np.int64)
        pool.launch(kernels["count"], block(counts.ctypes.data, 3), programs, 0, DEAR)
        assert (counts == 1).all()
