"""Run a kernel's programs, over threads where that pays.

- `launch(address, args_block, programs, scratch_bytes, cost_ns_per_program)`: returns when all programs have run.
- `launch_together(...)`: the same with a thread for each program, for programs that wait for one another.
- `thread_count()`: TEENY_NUM_THREADS, or the processors that this process may use.
- `set_object_source(source)`: where the pool's machine code comes from; a cache hooks in here.

A kernel is `void k(ptr args, i64 start, i64 end, ptr scratch)` and runs programs [start, end) of the linearised grid.
`args` is the block of 64-bit arguments; `scratch` is aligned to 64 bytes, belongs to the thread and holds anything on
entry. Programs start in rising order. During a kernel subnormals are kept and floats round to nearest, whatever
the caller has set; its mode comes back afterwards. Workers are started by the first launch that wants them, and anew
after a fork. Long launches return to Python every so often, so that Ctrl-C works.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from teeny.backends.cpu.engine import compile_object, load
from teeny.backends.cpu.pool_ir import HEADER_BYTES, SLOT_BYTES, pool_text
from teeny.backends.cpu.target import Level, is_x86
from teeny.diag.errors import LaunchError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["ALONE_NS", "MAX_THREADS", "MAX_TOGETHER", "launch", "launch_together", "set_object_source", "thread_count"]

MAX_THREADS = 256
MAX_TOGETHER = 1024
"""Programs that can wait for one another: each has a thread of its own."""
ALONE_NS = 30_000.0
"""Below this much work one thread does it all; a further thread for each half of it."""
_CHUNK_NS = 2_000.0
"""A chunk takes at least this long."""
_SLICE_NS = 50e6
"""How long a launch stays away from Python, roughly."""

_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}

ObjectSource = Callable[[str, Callable[[], bytes]], bytes]
"""`source(text, make)`: the object for a module's text, made by `make()` where it is not at hand."""


def _make_at_once(text: str, make: Callable[[], bytes]) -> bytes:
    del text
    return make()


_source: ObjectSource = _make_at_once


def set_object_source(source: ObjectSource) -> None:
    """Let a cache provide the pool's own object; takes effect before the first launch."""
    global _source
    _source = source


def thread_count() -> int:
    """Threads a launch may use: TEENY_NUM_THREADS if it is a positive number, else the processors of this process.

    256 at most. Another text in TEENY_NUM_THREADS is a RuntimeWarning, once.
    """
    text = os.environ.get("TEENY_NUM_THREADS", "")
    if text.isdecimal() and len(text) < 20 and int(text) > 0:
        return min(int(text), MAX_THREADS)
    count = min(_processors(), MAX_THREADS)
    if text:
        _warn(text, count)
    return count


@functools.cache
def _warn(text: str, count: int) -> None:
    said = f"TEENY_NUM_THREADS is {text[:40]!r}, which is no positive number; kernels run on {count} threads"
    warnings.warn(said, RuntimeWarning, stacklevel=3)


@functools.cache
def _processors() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Native:
    """The functions of the pool's object."""

    def __init__(self) -> None:
        futex = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
        text = pool_text(platform.machine(), futex=futex)
        level: Level = "x86-64" if is_x86() else "native"
        code = _source(text, lambda: compile_object(text, level))
        run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
        self.run: Callable[[int, int, int, int, int], None] = run(load(code, "teeny_run"))
        self.small: Callable[[int], None] = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(load(code, "teeny_small"))
        self.worker = load(code, "teeny_worker") if futex else 0
        many = ctypes.CFUNCTYPE(
            None,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.c_void_p,
        )
        self.launch: Callable[[int, int, int, int, int, int, int, int], None] | None = (
            many(load(code, "teeny_launch")) if futex else None
        )


@functools.cache
def native() -> _Native:
    thread_count()  # the first launch says what is wrong with TEENY_NUM_THREADS, even where it needs one thread
    with _making:
        return _Native()


def _map(size: int) -> tuple[mmap.mmap, int]:
    """Zeroed memory, aligned to a page, and its address."""
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


class _Scratch(threading.local):
    """The calling thread's arena; it grows and is reused."""

    def __init__(self) -> None:
        self.size = 0
        self.address = 0
        self.memory: mmap.mmap | None = None

    def of(self, size: int) -> tuple[int, mmap.mmap | None]:
        """The address of at least `size` bytes, and what keeps them alive."""
        if size > self.size:
            self.size = _rounded(size)
            self.memory, self.address = _map(self.size)
        return self.address, self.memory


def _rounded(size: int) -> int:
    """Whole pages, and at least half again as much as asked for, so that growth stays rare."""
    return (size + size // 2 + mmap.PAGESIZE) // mmap.PAGESIZE * mmap.PAGESIZE


class _Pool:
    """Worker threads of this process and their memory."""

    def __init__(self) -> None:
        self.memory, self.address = _map(HEADER_BYTES + SLOT_BYTES * MAX_THREADS)
        self.workers = 0
        self.scratch_size = 0
        self.arenas: mmap.mmap | None = None

    def _slot(self, index: int) -> int:
        return self.address + HEADER_BYTES + SLOT_BYTES * index

    def prepare(self, workers: int, scratch: int) -> None:
        """Have that many workers, each with that much scratch memory. No job may be running."""
        grown = workers > self.workers
        if scratch > self.scratch_size or (grown and self.scratch_size):
            self.scratch_size = max(self.scratch_size, _rounded(scratch))
            self.arenas, base = _map(self.scratch_size * max(workers, self.workers))
            for index in range(max(workers, self.workers)):
                place = ctypes.c_uint64.from_address(self._slot(index) + 16)
                place.value = base + index * self.scratch_size
        if grown:
            self._start(workers)

    def _start(self, workers: int) -> None:
        library = ctypes.CDLL(None)
        entry = native().worker
        # Signals are for threads that run Python, but for those that a fault of the thread itself raises.
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _FAULTS)
        try:
            while self.workers < workers:
                slot = self._slot(self.workers)
                ctypes.c_uint64.from_address(slot + 8).value = self.address
                thread = ctypes.c_uint64()
                made = library.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(entry), ctypes.c_void_p(slot))
                if made != 0:
                    break
                library.pthread_detach(thread)
                self.workers += 1
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)


_scratch = _Scratch()
_making = threading.RLock()
_busy = threading.Lock()
_pool: _Pool | None = None


def _forget() -> None:
    """In a child process: its parent's workers do not exist here."""
    global _pool, _busy, _making
    _pool, _busy, _making = None, threading.Lock(), threading.RLock()
    _executor.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def launch(
    address: int, args_block: ctypes.Array[Any], programs: int, scratch_bytes: int, cost_ns_per_program: float
) -> None:
    """Run programs 0 .. programs-1 of the kernel at `address`; returns when all have run.

    `args_block` is passed by address. `cost_ns_per_program` is an estimate and decides on threads and chunks only. A
    launch made while another thread's is running is done by the calling thread alone.
    """
    if programs <= 0:
        return
    args = ctypes.addressof(args_block)
    # Held: a signal's handler may launch in between, and need a larger arena.
    scratch, _held = _scratch.of(scratch_bytes)
    total = programs * cost_ns_per_program
    if total < ALONE_NS or programs == 1:
        native().run(address, args, 0, programs, scratch)
        return
    threads = min(thread_count(), programs, int(total / (ALONE_NS / 2)))
    busy = _busy
    if threads > 1 and busy.acquire(blocking=False):
        try:
            _shared(address, args, programs, scratch, scratch_bytes, cost_ns_per_program, threads)
        finally:
            busy.release()
        return
    run = native().run
    _sliced(lambda start, end: run(address, args, start, end, scratch), programs, cost_ns_per_program)


def launch_together(
    address: int, args_block: ctypes.Array[Any], programs: int, scratch_bytes: int, cost_ns_per_program: float
) -> None:
    """Run all programs at the same time, in threads of their own that are started in rising order.

    Raises LaunchError L018 for more than `MAX_TOGETHER` programs, or where there are not as many threads to be had.
    """
    if programs > MAX_TOGETHER:
        raise _too_many(f"{programs} programs", f"{MAX_TOGETHER} programs at most")
    if programs <= 1:
        launch(address, args_block, programs, scratch_bytes, cost_ns_per_program)
        return
    args, run = ctypes.addressof(args_block), native().run
    begin, given_up = threading.Event(), False

    def one(program: int) -> None:
        scratch, _held = _scratch.of(scratch_bytes)
        begin.wait()
        if not given_up:
            run(address, args, program, program + 1, scratch)

    threads = [threading.Thread(target=one, args=(p,), name=f"teeny-{p}", daemon=True) for p in range(programs)]
    started: list[threading.Thread] = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        given_up = True
        raise _too_many(f"{len(started)} threads, and then: {error}", f"{programs} threads") from error
    finally:
        begin.set()
        for thread in started:
            thread.join()


def _too_many(found: str, needed: str) -> LaunchError:
    message = "the kernel's programs wait for one another, and need a thread each"
    help_ = ("launch fewer programs, and let each do more in a loop",)
    return LaunchError.of("L018", message, found=found, needed=needed, help=help_)


def _shared(
    address: int, args: int, programs: int, scratch: int, scratch_bytes: int, cost: float, threads: int
) -> None:
    global _pool
    found = native()
    chunk = max(1, min(programs // (threads * 8), 1 << 40), int(_CHUNK_NS / cost))
    start_all = found.launch
    if start_all is None:
        _sliced(_by_executor(found, address, args, scratch_bytes, threads), programs, cost / threads)
        return
    if _pool is None:
        _pool = _Pool()
    pool = _pool
    pool.prepare(threads - 1, scratch_bytes)
    workers = min(threads - 1, pool.workers)
    _sliced(
        lambda start, end: start_all(
            pool.address, address, args, start, end, min(chunk, -(-(end - start) // threads)), workers, scratch
        ),
        programs,
        cost / threads,
    )


def _sliced(run: Callable[[int, int], None], programs: int, cost_ns: float) -> None:
    """Run ranges of programs, one after the other, each for about the time of a slice; signals arrive in between."""
    if programs * cost_ns <= _SLICE_NS:
        run(0, programs)
        return
    step = max(1, int(_SLICE_NS / cost_ns))
    start = 0
    while start < programs:
        end = min(start + step, programs)
        begun = time.perf_counter_ns()
        run(start, end)
        ratio = _SLICE_NS / max(time.perf_counter_ns() - begun, 1)
        step = max(1, int(step * min(max(ratio, 0.125), 8.0)))
        start = end


@functools.cache
def _executor(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, "teeny")


def _by_executor(
    native: _Native, address: int, args: int, scratch_bytes: int, threads: int
) -> Callable[[int, int], None]:
    """The same with Python's threads, where the native pool has no futex to sleep on."""

    def run(start: int, end: int) -> None:
        size = max(1, (end - start) // (4 * threads))

        def part(begin: int) -> None:
            native.run(address, args, begin, min(begin + size, end), _scratch.of(scratch_bytes)[0])

        list(_executor(threads).map(part, range(start, end, size)))

    return run
