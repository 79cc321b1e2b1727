"""What messages say about values from outside, pointers as conditions, and names that only Triton has."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from teeny.frontend.triton_names import LACKING


def fault(line: str, below: str = "", **around: Any) -> Any:
    """The one fault of a kernel of this line; `below` stands in its file, and has not run."""
    names = ", ".join(around)
    text = (
        f"def outer({names}):\n"
        "    def k(x_ptr: tl.Ptr[tl.f32], b_ptr: tl.Ptr[tl.f32] | None) -> None:\n"
        f"        {line}\n"
        "    return k\n"
    )
    name = f"<help {line}>"
    lines = (text + below).splitlines(keepends=True)
    linecache.cache[name] = (len(text), None, lines, name)
    scope: dict[str, Any] = {"tl": tl, "np": np}
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    with pytest.raises(tn.KernelError) as caught:
        tn.kernel(scope["outer"](**around))
    (found,) = caught.value.diagnostics
    return found


def test_a_value_of_the_function_around() -> None:
    found = fault("tl.store(x_ptr, v)", v=2.0)
    assert (found.code, found.message.split(";")[0]) == (
        "E012",
        "`v` is a variable of the function around the kernel, which may change",
    )
    assert found.help == ("make it a parameter of the kernel, `v: tl.Const[float]`, and pass it at the launch",)


@pytest.mark.parametrize(("text", "said"), [("np.inf", 'float("inf")'), ("np.nan", 'float("nan")')])
def test_infinity_of_numpy(text: str, said: str) -> None:
    found = fault(f"tl.store(x_ptr, {text})")
    assert (found.code, found.help) == ("E012", (f"write {said}",))
    assert found.fixes[0].edits[0].replacement == said


def test_an_optional_pointer_as_a_condition() -> None:
    found = fault("if b_ptr:\n            tl.store(x_ptr, tl.load(b_ptr))")
    assert (found.code, found.help) == ("T007", ("write `b_ptr is not None`",))


@pytest.mark.parametrize("name", sorted(LACKING))
def test_names_that_only_triton_has(name: str) -> None:
    found = fault(f"tl.store(x_ptr, tl.{name}(1))")
    assert found.code == "E002"
    assert found.message == f"`tl.{name}` is Triton's, and not in teeny"
    assert found.help == (LACKING[name],)
    assert "did you mean" not in " ".join(found.help)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tl.extra.cuda.gdc_wait()", "tl.inline_asm_elementwise"),
        ("tl.store(x_ptr, tl.extra.cuda.libdevice.exp(tl.load(x_ptr)))", "under the same names"),
        ("tl.libdevice.rsqrt(tl.load(x_ptr))", "under the same names"),
        ("tl.target_info.is_cuda()", "Const parameter"),
    ],
)
def test_names_of_one_target(line: str, said: str) -> None:
    found = fault(line)
    assert (found.code, found.message.split(" ", 1)[1]) == ("E002", "is Triton's alone")
    assert said in found.help[0]


def test_a_slip_is_still_a_slip() -> None:
    assert fault("tl.store(x_ptr, tl.exq(1))").help[0].startswith("did you mean")


def test_a_literal_where_a_tensor_is_needed() -> None:
    found = fault("tl.store(x_ptr, tl.exp(2.0))")
    assert (found.code, found.help) == (
        "T010",
        ("make it a tensor, of a dtype that you say: tl.full((), 2.0, tl.f32)",),
    )


def test_a_value_of_another_dtype_than_is_said_beside_it() -> None:
    found = fault("tl.full((4,), tl.program_id(0), tl.f32)")
    assert found.code == "T002"
    assert found.message == "`tl.program_id(0)` is i32 and the dtype is f32; `tl.full` does not convert"
    assert found.fixes[0].edits[0].replacement == ".to(tl.f32)"


@pytest.mark.parametrize(("line", "changed"), [("a += x", "x"), ("a = a + x", "a"), ("a = x + a", "a")])
def test_what_is_converted_can_be(line: str, changed: str) -> None:
    """Of `a += x` the right side, even where the left one is narrower."""
    found = fault(f"a, x = tl.full((4,), 0.0, tl.f16), tl.load(x_ptr); {line}")
    to = "tl.f16" if changed == "x" else "tl.f32"
    assert (found.code, found.help) == ("T002", (f"convert one: {changed}.to({to})",))


def test_a_float_first_beside_integers() -> None:
    found = fault("tl.maximum(0.5, tl.program_id(0))")
    assert (found.code, found.message.split(",")[0]) == ("T006", "the float `0.5` does not fit `tl.program_id(0)`")


def test_a_helper_further_down() -> None:
    found = fault("later(x_ptr)", below="def later(x): ...\n")
    assert (found.code, found.help) == ("E002", ("move `later` above the kernel",))
    assert found.message == "`later` is not defined yet: a kernel is checked where it stands, and line 5 comes later"


@tn.kernel
def launched(x_ptr: tl.Ptr[tl.f32]) -> None:
    tl.store(x_ptr, 0.0)


def test_a_kernel_is_not_called() -> None:
    found = fault("other(x_ptr)", other=launched)
    assert (found.code, found.help[0].split(":")[0]) == ("E004", "a kernel is launched, and not called")


def test_functions_of_triton() -> None:
    triton = pytest.importorskip("triton")
    language = pytest.importorskip("triton.language")

    def helper(x: Any) -> Any:
        return x

    compiled = triton.jit(helper)
    found = fault("helper(tl.load(x_ptr))", helper=compiled)
    assert (found.code, "leave out `@triton.jit`" in found.help[0]) == ("E004", True)
    for line, said in (
        ("triton.exp(tl.load(x_ptr))", "use tl.exp"),
        ("triton.sum(tl.load(x_ptr + tl.arange(0, 4)), 0)", "use tl.sum"),
        ("triton.cdiv(tl.program_id(0), 4)", "use tl.cdiv"),
    ):
        found = fault(line, triton=language)
        assert (found.code, found.help) == ("E004", (said,))
        assert found.fixes[0].edits[0].replacement == said.removeprefix("use ")
    found = fault("triton.next_power_of_2(5)", triton=triton)
    assert (found.code, found.help) == ("E004", ("use tn.next_power_of_2",))


@pytest.mark.parametrize("body", ["pass", "break"])
def test_the_index_after_its_loop(body: str) -> None:
    lines = ("i = 5", f"for i in range(tl.program_id(0)): {body}", "tl.store(x_ptr + i, 0.0)")
    found = fault("\n        ".join(lines))
    assert (found.code, found.message) == ("E003", "`i` is the index of a loop, and not defined after it")
    assert found.help == ("keep it under another name, which has a value before the loop: last = i",)


def test_a_float_that_does_not_fit_f32() -> None:
    found = fault(
        "\n        ".join(("m = 1e300", "for _ in range(tl.program_id(0)): m = tl.maximum(m, tl.load(x_ptr))"))
    )
    assert (found.code, found.message) == ("T006", "the Const 1e+300 becomes a run-time f32 here, and does not fit")
    assert found.help == ("say the dtype: tl.full((), value, tl.f64)",)


def test_a_float_that_enters_a_loop_is_f32() -> None:
    lines = ("m = 0.5", "for _ in range(tl.program_id(0)): m = m + tl.load(x_ptr).to(tl.f16)")
    found = fault("\n        ".join(lines))
    assert found.code == "T002"
    assert "`m` is f32" in found.message


def test_the_names_are_those_of_triton_and_not_ours() -> None:
    triton = pytest.importorskip("triton.language")
    assert not [name for name in LACKING if hasattr(tl, name)]
    assert not [name for name in LACKING if not hasattr(triton, name)]
