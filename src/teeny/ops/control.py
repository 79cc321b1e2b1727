"""Control flow: loops, branches, returns. In generic IR also the joins of compile-time branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.dtype import BOOL
from teeny.ir.rules import Absent, Structural
from teeny.ir.schema import OpDef, define, expect, same_types
from teeny.ir.types import Type
from teeny.ops.function import language

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny.language.typing import Const, Tensor, bool_, i32

__all__ = ["condition", "range", "static_range"]

_BY_REGION = Absent("read off the region by the analysis")
_NO_RESULT = Absent("it has no result")


def _for(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    expect(len(types) >= 3, "a loop has a start, an end and a step")
    same_types(types[:3])
    return types[3:]


def _if(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    expect(types[0] is BOOL, f"the condition must be i1, found {types[0]}")


def _any(types: tuple[Type, ...], attrs: dict[str, Any], results: tuple[Type, ...]) -> None:
    return None


def _nothing(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return ()


def _phi(types: tuple[Type, ...], attrs: dict[str, Any]) -> tuple[Type, ...]:
    return (same_types(types),)


def _region_op(name: str, operands: tuple[str, ...], types: Any, regions: int, inferred: bool) -> OpDef:
    kind = Structural(name.split(".")[1])
    return define(
        OpDef(
            name, kind, operands, types, kind, kind, kind, _BY_REGION,
            results=("results*",), regions=regions, inferred=inferred, group=kind.kind, pure=False,
        )
    )  # fmt: skip


def _terminator(name: str, operands: tuple[str, ...], text: str | Structural) -> OpDef:
    kind = Structural("terminator")
    return define(
        OpDef(
            name,
            text,
            operands,
            _nothing,
            kind,
            kind,
            kind,
            _NO_RESULT,
            results=(),
            terminator=True,
            group="terminator",
        )
    )


for_ = _region_op("scf.for", ("start", "end", "step", "inits*"), _for, 1, True)
if_ = _region_op("scf.if", ("condition",), _if, 2, False)
"""Two regions, each of one block that ends in `scf.yield`; the second yields nothing where there is no else."""
while_ = _region_op("scf.while", ("inits*",), _any, 2, False)
"""The first region tests (its block takes the carried values and ends in `scf.condition`), the second runs."""
yield_ = _terminator("scf.yield", ("x*",), "($x^ `:` type($x))?")
condition_ = _terminator("scf.condition", ("condition", "args*"), Structural("condition"))
return_ = _terminator("tt.return", ("x*",), "($x^ `:` type($x))?")
call_ = define(
    OpDef(
        "tt.call", Structural("call"), ("args*",), _any, Structural("call"), Structural("call"), Structural("call"),
        _BY_REGION,
        results=("results*",), attrs=("callee",), inferred=False, group="call", pure=False,
    )
)  # fmt: skip
phi_ = define(
    OpDef(
        "teeny.phi", "$x attr-dict `:` type($result)", ("x*",), _phi, Absent("generic IR only"),
        Absent("generic IR only"),
        Structural("phi"), _BY_REGION, attrs=("guards",), generic=True, group="phi",
    )
)  # fmt: skip
"""The one of its operands whose guard (`guards`, in the order of the operands) holds."""


@language(construct="range", differs="The first two arguments are `arg1` and `arg2` there.")
def range(
    start: Tensor[i32] | int,
    end: Tensor[i32] | int | None = None,
    step: Tensor[i32] | int = 1,
    num_stages: Const[int | None] = None,
    loop_unroll_factor: Const[int | None] = None,
    disallow_acc_multi_buffer: Const[bool] = False,
    flatten: Const[bool] = False,
    warp_specialize: Const[bool] = False,
    disable_licm: Const[bool] = False,
) -> Iterator[Tensor[i32]]:
    """A run-time loop: start, start + step, ... below `end` (above it, for a negative step).

    One argument alone is the end. `break`, `continue` and `else` are Python's. The rest are hints for GPUs, and change
    no value: `num_stages` loads so many iterations ahead; `loop_unroll_factor` repeats the body so often in an
    iteration; `disallow_acc_multi_buffer` keeps one accumulator of a product; `flatten` joins the loops nested inside
    with this one; `warp_specialize` shares the work between groups of warps (sm_100); `disable_licm` leaves inside what
    no iteration changes. A loop that `break` may end takes none of them.
    """
    ...


@language(construct="static_range")
def static_range(start: Const[int], end: Const[int | None] = None, step: Const[int] = 1) -> Iterator[int]:
    """A loop unrolled at compile time; its index is a Const."""
    ...


@language(construct="condition")
def condition(arg1: Tensor[bool_] | bool, disable_licm: Const[bool] = False) -> bool:
    """The condition of a `while`, with a hint for GPUs.

    `disable_licm` leaves inside the loop what no iteration changes.
    """
    ...
