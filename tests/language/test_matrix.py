"""One matrix of functions x dtypes x shapes x executors against the meaning in plain NumPy.

By default the cells of f32 and i32 run, and a sixth of the others, the same each time; `TEENY_FULL=1` runs all of them.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from teeny.diag.errors import KernelError
from teeny.ops.function import functions
from tests.language.cells import cells
from tests.language.executors import module_of
from tests.language.forms import FORMS, SWAPPED, arity
from tests.language.meaning import EXACT, MEANING
from tests.language.sheet import spelled
from tests.language.values import ALL, CLASSES

FULL = bool(os.environ.get("TEENY_FULL"))
CELLS = cells()
ELSEWHERE = {
    "expand": "`x[:, None]` is in the cells of shapes",
    "expand_ptr": "`(x + at)[None, :]` is in the cells of loads",
    "expand_dims": "in the cells of shapes",
    "broadcast_to": "in the cells of shapes",
    "trans": "in the cells of shapes",
    **dict.fromkeys(("permute", "squeeze", "unsqueeze", "zeros_like", "item", "transposed"), "in the cells of views"),
    **dict.fromkeys(("split", "interleave", "cat"), "in the cells of joins"),
    **dict.fromkeys(("topk", "bitonic_merge"), "in the cells of sorts"),
    "associative_scan": "in the cells of reductions by a function",
    "store": "every cell stores",
    "arange": "every cell makes ranges",
    "zeros": "in the cells of constants",
    "to_tensor": "test_ported",
    "lowest": "in the cells of constants",
    "highest": "in the cells of constants",
    "pointer_type": "in the cells of pointers",
    "program_id": "test_structure",
    "num_programs": "test_structure",
    "range": "test_structure",
    "static_range": "test_structure",
    "condition": "test_constructs",
    "require": "erased by code generation; its launches are tests of the runtime",
    "extent": "erased by code generation; its launches are tests of the runtime",
    "static_assert": "test_structure",
    **dict.fromkeys(("static_print", "device_print", "device_assert"), "test_debug: what is said is compared"),
    **dict.fromkeys(("multiple_of", "max_contiguous", "max_constancy", "assume", "debug_barrier"), "test_hints"),
    "inline_asm_elementwise": "test_hints: assembly runs on GPUs alone",
    **dict.fromkeys(("make_block_ptr", "advance"), "test_block_pointers: against slices of arrays"),
    **{f"{name}_tensor_descriptor": "test_descriptors" for name in ("make", "load", "store")},
    **dict.fromkeys(("descriptor_gather", "descriptor_scatter"), "test_descriptors: rows"),
    **{f"descriptor_atomic_{name}": "test_descriptors" for name in ("add", "min", "max", "and", "or", "xor")},
    "rshl": "in the cells of shl with literals",
    "libdevice.ldexp": "test_libdevice",
    "philox_key": "test_random",
}
"""Functions without cells of their own name, and where they are."""


def chosen(label: str) -> bool:
    return FULL or zlib.crc32(label.encode()) % 6 == 0 or label.split("-")[1:2] in (["f32"], ["i32"])


@pytest.mark.parametrize("label", [label for label in CELLS if chosen(label)])
def test_cell(label: str, tmp_path: Path) -> None:
    CELLS[label][1]().check(tmp_path)


def test_every_function_has_cells() -> None:
    """A new function needs a line in `meaning` and a form in `cells`, or a reason here."""
    covered = {function for function, _ in CELLS.values()} | set(SWAPPED.values())
    missing = [name for name in functions() if name not in covered and name not in ELSEWHERE]
    assert not missing, f"no cell says what these mean: {', '.join(missing)}"
    lacking = [name for name in FORMS if name not in MEANING and name not in EXACT]
    assert not lacking, f"no meaning in NumPy: {', '.join(lacking)}"
    assert not [name for name in ELSEWHERE if name not in functions()]


def refusals() -> list[str]:
    return [name for name in FORMS if name in functions()]


@pytest.mark.parametrize("name", refusals())
def test_other_dtypes_are_refused(name: str, tmp_path: Path) -> None:
    """A dtype outside the function's class is a fault at the definition, and so are two different dtypes."""
    form = FORMS[name]
    letters = "xyz"[: arity(form)]
    text = form.text.format(*(f"{letter}1" for letter in letters))

    def source(*dtypes: str) -> str:
        parameters = ", ".join(f"{a}: tl.Ptr[tl.{spelled(d)}]" for a, d in zip(letters, dtypes, strict=True))
        loads = "".join(f"    {a}1 = tl.load({a} + tl.arange(0, 8))\n" for a in letters)
        return f"@tn.kernel\ndef kernel({parameters}) -> None:\n{loads}    {text}\n"

    outside = [(dtype,) * len(letters) for dtype in ALL if dtype not in CLASSES[form.of]]
    if len(letters) > 1:
        of = CLASSES[form.of]
        pairs = [(of[at], of[at - 1]) for at in range(len(of))]
        outside += [(a, *[b] * (len(letters) - 1)) for a, b in pairs if a != b and {a, b} != {"i32", "i64"}]
    for dtypes in outside:
        with pytest.raises(KernelError) as caught:
            module_of(source(*dtypes), tmp_path)
        codes = {d.code for d in caught.value.diagnostics}
        assert codes <= {"T001", "T002", "T005", "T010"}, f"{text} of {dtypes}: {codes}"


@pytest.mark.parametrize("dtype", [d for d in ALL if d in ("bool", "i8", "i16", "u8", "u16")])
def test_a_sum_of_narrow_integers_states_its_dtype(dtype: str, tmp_path: Path) -> None:
    text = (
        f"@tn.kernel\ndef kernel(x: tl.Ptr[tl.{spelled(dtype)}]) -> None:\n    tl.sum(tl.load(x + tl.arange(0, 8)))\n"
    )
    with pytest.raises(KernelError):
        module_of(text, tmp_path)
