"""What kernels print and assert: the reference and the CPU say the same, in the order of the programs."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny as tn
from teeny.backends.reference import ExecutionError, FailedAssertionError, PoisonError
from tests.language.executors import EXECUTORS, kernel_of, launch
from tests.language.rounding import DTYPES
from tests.language.sheet import spelled
from tests.language.values import specials

SAID = """@tn.kernel
def kernel(x: tl.Ptr[tl.{dtype}], n: tl.Scalar[tl.i32]) -> None:
    at = tl.arange(0, {size})
    v = tl.load(x + at)
    tl.device_print("v", v, n{hex})
    tl.device_print("row:", v[:, None])
    tl.device_print(" 1st ", tl.load(x))
    tl.device_print("here")
"""


def said(kernel: Any, executor: str, arguments: list[Any], capsys: Any, grid: tuple[int, ...] = (1,)) -> list[str]:
    capsys.readouterr()
    launch(kernel, executor, arguments, grid)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("dtype", sorted(DTYPES))
@pytest.mark.parametrize("size", [1, 16])
def test_lines(dtype: str, size: int, tmp_path: Path, capsys: Any) -> None:
    kernel = kernel_of(SAID.format(dtype=spelled(dtype), size=size, hex=""), tmp_path)
    values = np.arange(size, dtype=np.uint8).view(DTYPES[dtype]) if dtype[:2] == "f8" else specials(dtype)[:size]
    words = [str(int(v)) if dtype == "bool" else str(v) for v in values]
    place = "pid (0, 0, 0)"
    wanted = [f"{place} idx ({at}) v: (operand 0) {word}" for at, word in enumerate(words)]
    wanted += [f"{place} idx () v: (operand 1) -7"]
    wanted += [f"{place} idx ({at}, 0) row: {word}" for at, word in enumerate(words)]
    wanted += [f"{place} idx () 1st {words[0]}", f"{place} here"]
    for executor in EXECUTORS:
        assert said(kernel, executor, [values, -7], capsys) == wanted


def test_hexadecimal(tmp_path: Path, capsys: Any) -> None:
    kernel = kernel_of(SAID.format(dtype="f32", size=2, hex=", hex=True"), tmp_path)
    for executor in EXECUTORS:
        found = said(kernel, executor, [np.array([1, -0.0], np.float32), -2], capsys)
        assert [line.split(") ")[-1] for line in found[:3]] == ["0x3f800000", "0x80000000", "0xfffffffe"]


POINTERS = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    tl.device_print("p", x + tl.arange(0, 2), x, n, n > 0)
"""


def test_pointers_are_addresses(tmp_path: Path, capsys: Any) -> None:
    kernel = kernel_of(POINTERS, tmp_path)
    x = np.zeros(2, np.float32)
    wanted = [x.ctypes.data, x.ctypes.data + 4, x.ctypes.data]
    for executor in EXECUTORS:
        found = [line.rsplit(" ", 1)[1] for line in said(kernel, executor, [x, -3], capsys)]
        assert [int(word, 16) for word in found[:3]] == wanted
        assert found[3:] == ["-3", "0"]


CONSTS = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32], K: tl.Const[int], F: tl.Const[float], B: tl.Const[bool]) -> None:
    tl.device_print(f"K is {K}", K, F, B, 2.5)
"""


def test_compile_time_numbers(tmp_path: Path, capsys: Any) -> None:
    kernel = kernel_of(CONSTS, tmp_path)
    kernel[(1,)](np.zeros(1, np.float32), K=3, F=0.5, B=True)
    found = capsys.readouterr().out.splitlines()
    assert [line.split("idx () ")[1] for line in found] == [
        f"K is 3: (operand {at}) {word}" for at, word in enumerate(("3", "0.5", "1", "2.5"))
    ]


GRID = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32]) -> None:
    pid = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)
    acc = tl.zeros((512,), tl.f32)
    for i in tl.range(pid % 3):
        tl.device_print("i", i)
        acc += tl.exp(tl.load(x + tl.arange(0, 512) + i))
    if pid % 2 == 0:
        tl.device_print("even", pid)
    tl.store(x + pid * 512 + tl.arange(0, 512), acc)
"""


def test_many_programs_print_in_their_order(tmp_path: Path, capsys: Any) -> None:
    kernel = kernel_of(GRID, tmp_path)
    x = np.zeros(512 * 1024, np.float32)
    grid = (64, 8)
    found = {one: said(kernel, one, [x.copy(), 0], capsys, grid) for one in EXECUTORS}
    assert found["cpu"] == found["reference"]
    assert len(found["cpu"]) == sum(p % 3 + (p % 2 == 0) for p in range(512))


def test_launches_at_the_same_time(tmp_path: Path, capsys: Any) -> None:
    """Each thread's lines are its own, and nobody waits for anybody."""
    kernel = kernel_of(GRID, tmp_path)
    launch(kernel, "cpu", [np.zeros(512 * 1024, np.float32), 0], (64, 8))
    one = capsys.readouterr().out
    threads = [
        threading.Thread(target=launch, args=(kernel, "cpu", [np.zeros(512 * 1024, np.float32), 0], (64, 8)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(one.splitlines() * 4)


UNDEFINED = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32]) -> None:
    at = tl.arange(0, 4)
    tl.device_print("v", tl.load(x + at, mask=at < 3))
"""


def test_undefined_lanes_are_marked(tmp_path: Path, capsys: Any) -> None:
    found = said(kernel_of(UNDEFINED, tmp_path), "reference", [np.ones(3, np.float32)], capsys)
    assert [line.rsplit(" ", 1)[1] for line in found] == ["1.0", "1.0", "1.0", "?"]


# ---- assertions -----------------------------------------------------------------------------------------------------

ASSERTED = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32], y: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], SIZE: tl.Const[int]) -> None:
    pid = tl.program_id(0)
    at = tl.arange(0, SIZE)
    v = tl.load(x + pid * SIZE + at, mask=at < n, other=0)
    tl.device_assert(v >= 0, "negative", mask=at < n)
    tl.device_assert(n < 100, f"too many for {SIZE}")
    tl.store(y + pid * SIZE + at, tl.load(x + v, mask=at < n), mask=at < n)
"""


@pytest.mark.parametrize("size", [1, 2, 4, 8, 64, 256])
def test_assertions(size: int, tmp_path: Path) -> None:
    kernel = kernel_of(ASSERTED, tmp_path)
    x = np.zeros(size * 64, np.int32)
    y = np.ones_like(x)
    constants = {"SIZE": size}
    for executor in EXECUTORS:
        launch(kernel, executor, [x, y, size if size < 100 else 99], (64,), constants)
        assert not y[: min(size, 99)].any()
    bad = x.copy()
    for place in (40 * size + size - 1, 41 * size, 63 * size):
        bad[place] = -(1 << 30)  # followed, this address would end the process
    if size < 100:
        with pytest.raises(FailedAssertionError) as stopped:
            launch(kernel, "reference", [bad, y, size], (64,), constants)
        assert (stopped.value.program, stopped.value.lane) == ((40, 0, 0), (size - 1,))
        for _ in range(3):
            with pytest.raises(tn.LaunchError) as caught:
                launch(kernel, "cpu", [bad, y, size], (64,), constants)
            (found,) = caught.value.diagnostics
            assert (found.code, found.message) == ("L017", "an assertion of `kernel` failed: negative")
            assert dict(found.facts)["witness"] == f"program (40, 0, 0), lane ({size - 1},)"
            assert found.primary is not None
            assert "tl.device_assert(v >= 0" in found.primary.location.span.text
    with pytest.raises(tn.LaunchError, match=f"too many for {size}"):
        launch(kernel, "cpu", [x, y, 100], (1,), constants)


def test_a_saved_program_asserts(tmp_path: Path) -> None:
    kernel = kernel_of(ASSERTED, tmp_path)
    tn.compile(kernel.specialize(SIZE=4), "cpu").save(tmp_path / "saved")
    program = tn.Program.load(tmp_path / "saved")
    x = np.array([0, 1, -1, 0], np.int32)
    with pytest.raises(tn.LaunchError, match="negative") as caught:
        tn.device("cpu").launch(program, 1, x=x, y=x.copy(), n=4)
    assert "it stands at" in str(caught.value)


FLOW = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32], n: tl.Scalar[tl.i32], K: tl.Const[int]) -> None:
    assert K > 2, f"K is {K}"
    i = 0
    while i < n:
        if i == 5:
            assert i < K, "late"
        elif i > 8:
            tl.device_assert(False, "never")
        i += 1
    tl.store(x, i)
"""


def test_assertions_in_loops_and_branches(tmp_path: Path) -> None:
    kernel = kernel_of(FLOW, tmp_path)
    for executor in EXECUTORS:
        x = np.zeros(1, np.int32)
        launch(kernel, executor, [x, 9], (1,), {"K": 6})
        assert x[0] == 9
        for n, k, message in ((10, 6, "never"), (7, 5, "late")):
            x[0] = -1
            with pytest.raises(FailedAssertionError if executor == "reference" else tn.LaunchError, match=message):
                launch(kernel, executor, [x, n], (1,), {"K": k})
            assert x[0] == -1
    with pytest.raises(tn.KernelError, match="K is 2"):
        kernel.specialize(K=2)


DOUBTFUL = """@tn.kernel
def kernel(x: tl.Ptr[tl.i32]) -> None:
    at = tl.arange(0, 4)
    v = tl.load(x + at, mask=at < 3)
    tl.device_assert(v > 0{mask})
"""


def test_an_undefined_assertion(tmp_path: Path) -> None:
    """It is found before anything runs; with the mask it is none."""
    with pytest.warns(tn.KernelWarning, match="decide an assertion"):
        kernel = kernel_of(DOUBTFUL.format(mask=""), tmp_path)
    with pytest.raises(tn.KernelError, match="F006"):
        kernel.specialize()
    masked = kernel_of(DOUBTFUL.format(mask=", mask=at < 3"), tmp_path)
    for executor in EXECUTORS:
        launch(masked, executor, [np.ones(3, np.int32)])
    assert issubclass(PoisonError, ExecutionError)


# ---- at compile time ------------------------------------------------------------------------------------------------

STATIC = """@tn.kernel
def kernel(x: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int], R: tl.Const[float], NAME: tl.Const[str]) -> None:
    tl.static_print("B", B, R, NAME, tl.f16, None, (B, x.dtype))
    tl.static_print(tl.load(x + tl.arange(0, B)), n, x, sep=" | ", end=";\\n")
    tl.static_print(f"{B:04d} {R!r} {NAME!s:>4} {x.dtype} {B * 2 if B > 2 else 0} {{}}")
    for i in tl.static_range(2):
        tl.static_print(i, end=" ")
    tl.static_assert(B > 2, f"B is {B}, R is {R:.1f}")
"""


def test_static_print(tmp_path: Path, capsys: Any) -> None:
    kernel = kernel_of(STATIC, tmp_path)
    assert capsys.readouterr().out == ""
    kernel.specialize(B=4, R=0.25, NAME="ab")
    assert capsys.readouterr().out.splitlines() == [
        "B 4 0.25 ab f16 None (4, f32)",
        "Tensor[f32] of shape (4,) | Scalar[i32] | Ptr[f32];",
        "0004 0.25   ab f32 8 {}",
        "0 1 ",
    ]
    with pytest.raises(tn.KernelError, match=r"B is 2, R is 0\.2"):
        kernel.specialize(B=2, R=0.25, NAME="ab")


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ('tl.static_assert(B > 0, f"{n}")', "E008", "an f-string holds compile-time values; `n` is Scalar[i32]"),
        ('tl.static_assert(B > 0, f"{B:s}")', "E009", "cannot be formatted"),
        ("tl.static_assert(n > 0)", "E008", "needs a compile-time condition"),
        ("tl.device_assert(n)", "T007", "needs conditions"),
        ("tl.device_assert(n > 0, 3)", "T010", "`msg` of `tl.device_assert` must be a compile-time text"),
        ("tl.device_assert(n > 0, mask=n)", "T007", "needs conditions"),
        ("tl.device_assert()", "E005", "needs a condition"),
        ("assert n", "T007", "needs conditions"),
        ("tl.device_print(n)", "T010", "`prefix` of `tl.device_print` must be a compile-time text"),
        ('tl.device_print("n", "m")', "T010", "takes tiles, scalars, pointers and numbers"),
        ('tl.device_print("ä", n)', "T010", "printable ASCII"),
        ('tl.device_print("n", n, base=16)', "E005", "has no argument `base`"),
        ("tl.static_print(n, sep=n)", "T010", "`sep` of `tl.static_print` must be a compile-time text"),
        ("tl.assume(n)", "T007", "needs a scalar bool"),
        ("tl.assume(tl.arange(0, 4) > n)", "T007", "needs a scalar bool"),
    ],
)
def test_wrong_use(line: str, code: str, said: str, tmp_path: Path) -> None:
    text = f"@tn.kernel\ndef kernel(x: tl.Ptr[tl.f32], n: tl.Scalar[tl.i32], B: tl.Const[int]) -> None:\n    {line}\n"
    with pytest.raises(tn.KernelError) as caught:
        kernel_of(text, tmp_path).specialize(B=4)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert said in found.message
