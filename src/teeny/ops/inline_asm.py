"""Inline assembly, lane by lane: for the GPU that it is written for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect
from teeny.ir.types import Type, shape_of
from teeny.ops.function import language

if TYPE_CHECKING:
    from teeny.language.typing import Const, D, E, Tensor

__all__ = ["inline_asm_elementwise"]


def _check(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    for type_ in (*types, *results):
        expect(shape_of(type_) == shape_of(results[0]), "operands and results have one shape")


inline_asm_ = define(
    OpDef(
        "tt.elementwise_inline_asm", Structural("asm"), ("args*",), _check,
        Absent("assembly is written for one kind of GPU"), Absent("assembly is written for one kind of GPU"),
        Structural("asm"), Absent("what assembly computes is not known"), results=("results*",),
        attrs=("asm_string", "constraints", "packed_element", "pure"), group="inline_asm", pure=False, inferred=False,
    )
)  # fmt: skip


@overload
def inline_asm_elementwise(
    asm: Const[str], constraints: Const[str], args: Any, dtype: type[D], is_pure: Const[bool], pack: Const[int]
) -> Tensor[D]: ...
@overload
def inline_asm_elementwise(
    asm: Const[str],
    constraints: Const[str],
    args: Any,
    dtype: tuple[type[D], type[E]],
    is_pure: Const[bool],
    pack: Const[int],
) -> tuple[Tensor[D], Tensor[E]]: ...
@overload
def inline_asm_elementwise(
    asm: Const[str],
    constraints: Const[str],
    args: Any,
    dtype: tuple[type[D], ...],
    is_pure: Const[bool],
    pack: Const[int],
) -> tuple[Tensor[D], ...]: ...
@language(construct="inline_asm_elementwise")
def inline_asm_elementwise(asm: Any, constraints: Any, args: Any, dtype: Any, is_pure: Any, pack: Any) -> Any:
    """`asm` run on each `pack` lanes of `args`, which broadcast together: a tile of `dtype`, or one each of a tuple.

    `constraints` are LLVM's, results first ("=r,r,r"): what is narrower than 32 bits is packed into registers, `pack`
    lanes at a time. `is_pure`: the same arguments always give the same result, and nothing else happens. Only the GPUs
    for which it is written can run it: the CPU and the reference refuse it (X008).
    """
    ...
