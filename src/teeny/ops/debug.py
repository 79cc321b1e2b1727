"""Looking into a kernel: what it prints, and what must hold, at compile time and while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, dtype_of, expect
from teeny.ir.types import Type
from teeny.ops.function import language

if TYPE_CHECKING:
    from teeny.language.typing import Const, Tensor, bool_

__all__ = ["device_assert", "device_print", "static_assert", "static_print"]

_NO_RESULT = Absent("it has no result")


def _print(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(len(attrs["isSigned"]) == len(types), "`isSigned` says for each operand whether it has a sign")
    return ()


def _assert(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(dtype_of(types[0]) is BOOL, f"the condition must be i1, found {types[0]}")
    return ()


print_ = define(
    OpDef(
        "tt.print", Structural("print"), ("args*",), _print, Structural("print"), Structural("print"),
        Structural("nothing"), _NO_RESULT, results=(), attrs=("prefix", "hex", "isSigned"), group="print", pure=False,
    )
)  # fmt: skip
"""A line for each lane: where it stands, `prefix`, its value. `isSigned` holds 1 where an operand has a sign."""
assert_ = define(
    OpDef(
        "tt.assert", Structural("assert"), ("condition",), _assert, Structural("assert"), Structural("assert"),
        Structural("assert"), _NO_RESULT, results=(), attrs=("message",), group="assert", pure=False,
    )
)  # fmt: skip
"""The condition holds in every lane; the launch fails where it does not."""


@language(construct="static_print")
def static_print(
    *values: Any, sep: Const[str] = " ", end: Const[str] = "\n", file: None = None, flush: Const[bool] = False
) -> None:
    """Print, while the kernel is compiled, compile-time values, and of run-time ones what they are: dtype and shape.

    Once for each specialisation that is compiled in the process; nothing at the definition, where Consts have no
    values yet.
    """
    ...


@language(construct="static_assert")
def static_assert(cond: Const[bool], msg: Const[str] = "") -> None:
    """A condition on Consts that must hold (else E013); decided at specialisation, and a fact for the checks before.

    The message may be an f-string of compile-time values.
    """
    ...


@language(
    construct="device_print",
    differs="Triton's GPU code prints floats with six decimals.",
)
def device_print(prefix: Const[str], *args: Any, hex: Const[bool] = False) -> None:
    """Print a line for each lane of each argument: the program, the lane's index, `prefix`, the value.

    On the CPU the lines come out when the launch ends (or fails), in the order of the programs; on a GPU at the next
    synchronisation, in any order. Arguments are scalars, tiles, pointers and compile-time numbers; with none the prefix
    alone is printed, once a program. With `hex` integers and pointers are printed in hexadecimal, floats by their
    bits.
    """
    ...


@language(construct="device_assert")
def device_assert(cond: Tensor[bool_] | bool, msg: Const[str] = "", mask: Tensor[bool_] | bool | None = None) -> None:
    """A condition that must hold in every lane where `mask` holds, each time a program gets here.

    On the CPU a program ends at an assertion that fails, and the launch raises L017 with the line, the program and the
    lane; the reference stops there. On a GPU assertions are compiled in with the option `debug=True` or with
    TRITON_DEBUG=1 in the environment; one that fails makes the launch fail at the next synchronisation. A condition
    that is False itself says that no program gets here.
    """
    ...
