"""The pages of docs/reference: one a family of functions, from the registry and from `examples.md` beside this file.

A function that is elementwise needs no example there: it is applied to a few numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from teeny.frontend.describe import Description, descriptions, families, first_sentence, fullest
from teeny.frontend.overload import signatures
from teeny.frontend.signature import EMPTY, Signature, Term, language_signature
from teeny.ops.function import functions

EXAMPLES = Path(__file__).with_name("examples.md")
_SECTION = re.compile(r"^## ([\w.]+)\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LEAF = {"Float": "f32", "Num": "f32", "Int": "i32", "Bits": "i32", "Dtype": "f32", "Num or Bool": "f32"}
_NUMPY = {
    "f32": "np.float32", "f64": "np.float64", "i32": "np.int32", "i64": "np.int64", "u32": "np.uint32",
    "bool": "np.bool_",
}  # fmt: skip
_FLOATS = (
    "[-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0]", "[3.0, 2.0, 1.0, 0.5, 0.5, -1.0, -2.0, 0.0]", "[1.0] * 8",
)  # fmt: skip
_INTEGERS = ("[-7, -3, -1, 0, 1, 3, 7, 100]", "[2, 2, 3, 3, -2, -2, 1, 5]", "[1] * 8")
_NUMBERS: dict[str, tuple[str, ...]] = {
    "f32": _FLOATS, "f64": _FLOATS, "i32": _INTEGERS, "i64": _INTEGERS,
    "u32": ("[0, 1, 2, 3, 7, 100, 1000, 1_000_000]",),
}  # fmt: skip
HEAD = """\
```python
import numpy as np
import teeny as tn
import teeny.language as tl

np.set_printoptions(precision=4, suppress=True)
```
"""
_LANGUAGE = "import teeny.language as tl\n"
GENERATED = "<!-- Written by `make docs` from {source}: edit that. -->"


class MissingExampleError(Exception):
    """A function has no example, and none can be made for it."""


def pages() -> dict[str, str]:
    """The text of each page by its name in docs/reference, with empty blocks for what the examples print."""
    titles = families()
    found = {"README.md": _index(titles)}
    for family, title in titles.items():
        found[f"{family}.md"] = _page(title, [one for one in descriptions().values() if one.family == family])
    return found


def _page(title: str, members: list[Description]) -> str:
    head = [GENERATED.format(source="the docstrings and signatures of the functions"), f"# {title}", HEAD.rstrip()]
    if any(one.name.startswith("libdevice.") for one in members):
        head[-1] = head[-1].replace(_LANGUAGE, f"{_LANGUAGE}from teeny.language.extra import libdevice\n")
    return "\n\n".join((*head, *(part for one in members for part in _section(one)))) + "\n"


def _section(one: Description) -> Iterator[str]:
    yield f"## {one.name}"
    yield "  \n".join(f"`{form}`" for form in one.written)
    yield _linked(one.does)
    yield "```py\n" + "\n".join(one.signatures) + "\n```"
    facts = [(label, lines) for label, lines in one.facts() if label != "signatures"]
    yield "\n".join(f"- **{label}**: {_marked(' '.join(lines), label, one)}" for label, lines in facts)
    yield f"```python\n{example(one)}```\n```text\n```"


def _linked(text: str) -> str:
    """Codes of diagnostics as links to their pages."""
    return re.sub(r"\b([A-Z]\d{3})\b", r"[\1](../errors/\1.md)", text)


def _marked(text: str, label: str, one: Description) -> str:
    """Names of Triton and of operations as code."""
    if label == "in Triton" and one.triton is not None:
        return text.replace(one.triton, f"`{one.triton}`", 1)
    if label == "errors":
        return _linked(text)
    if label == "becomes" and not one.composite:
        return re.sub(r"\b[a-z]+\.\w[\w.]*", lambda found: f"`{found[0]}`", text)
    return text


def examples() -> dict[str, str]:
    """The examples that are written by hand, by function."""
    return dict(_SECTION.findall(EXAMPLES.read_text("utf-8")))


def example(one: Description) -> str:
    """The code of an example. Raises MissingExampleError."""
    written = examples().get(one.name)
    if written is not None:
        return written
    signature = _signature(one)
    tensors = [p for p in signature.params if any(t.kind in ("tensor", "scalar") for t in p.terms)]
    needed = [p for p in signature.params if p.default is EMPTY]
    elementwise = one.composite or functions()[one.name].elementwise
    if not elementwise or needed != tensors[: len(needed)] or len(tensors) > len(_NUMBERS["f32"]):
        raise MissingExampleError(f"{one.name} needs an example in {EXAMPLES.name}")
    return _elementwise(one, signature, len(needed))


def _signature(one: Description) -> Signature:
    if not one.composite:
        return fullest(signatures(functions()[one.name]))
    from typing import get_overloads

    fn = getattr(import_module(one.module), one.name)
    return language_signature((list(get_overloads(fn)) or [fn])[-1])


def _elementwise(one: Description, signature: Signature, count: int) -> str:
    """A kernel that applies the function to eight numbers, or pairs or triples of them."""
    leaf = _leaf(signature.params[0].terms)
    given = signature.result[0].dtype
    result = leaf if given is None or given.is_variable else given.name
    plain = one.name.rpartition(".")[2].rstrip("_")
    names = [p.name for p in signature.params[:count]]
    call = one.written[0] if "(" not in one.written[0] else f"{one.written[0].partition('(')[0]}({', '.join(names)})"
    spelled = "bool_" if result == "bool" else result
    parameters = ", ".join(f"{name}_ptr: tl.Ptr[tl.{leaf}]" for name in names)
    arrays = "".join(
        f"{name} = np.array({numbers}, {_NUMPY[leaf]})\n" for name, numbers in zip(names, _NUMBERS[leaf], strict=False)
    )
    loads = "".join(f"    {name} = tl.load({name}_ptr + lanes)\n" for name in names)
    return (
        f"@tn.kernel\ndef {plain}_example({parameters}, out_ptr: tl.Ptr[tl.{spelled}]) -> None:\n"
        f"    lanes = tl.arange(0, 8)\n{loads}    tl.store(out_ptr + lanes, {call})\n\n\n{arrays}"
        f"out = np.empty(8, {_NUMPY[result]})\n"
        f"{plain}_example[(1,)]({', '.join(names)}, out)\nprint(out)\n"
    )


def _leaf(terms: tuple[Term, ...]) -> str:
    dtype = next(t.dtype for t in terms if t.kind in ("tensor", "scalar") and t.dtype is not None)
    return _LEAF[dtype.bound] if dtype.is_variable else dtype.name


_INTRODUCTION = """\
# Reference of the language

`import teeny.language as tl`. Every function and operator, by family; `teeny ops` shows the same in a terminal.

A *tile* is a `Tensor[D]`: lanes of one dtype in a shape of powers of two; a scalar is a tile of no axes. A `Ptr[D]`
is a pointer or a block of pointers. A `Const` is known when the kernel is compiled: a number, a bool, a text, a
dtype, a tuple of these.

| in a signature | stands for |
|---|---|
| `D`, `E` | any dtype: `bool`, `N`, `Q` |
| `N` | a number: `I`, `F` |
| `I`, `J` | `i8 i16 i32 i64 u8 u16 u32 u64` |
| `F` | `f16 bf16 f32 f64` |
| `B` | what has bits: `bool`, `I` |
| `S` | `bool`, `N` |
| `Q` | an 8-bit float: `f8e4m3 f8e5m2 f8e4m3fnuz f8e5m2fnuz`, moved, converted and multiplied by `dot` alone |

What holds for all functions:

- The operands have one dtype, and the result has it too: nothing is promoted, where Triton would. i32 beside i64 is
  the one exception. Where a signature says `int` or `float`, a literal (or a Const) takes the dtype of the tile
  beside it.
- Shapes broadcast by NumPy's rule: counted from the last axis, sizes are equal or one of them is 1.
- Faults of a call are reported where the kernel is defined: [T001](../errors/T001.md) for a dtype that the function
  does not take, [T002](../errors/T002.md) for dtypes that differ, [S001](../errors/S001.md) for shapes that do not
  broadcast, [E005](../errors/E005.md) for arguments that are too many, missing or unknown.
- Accuracy is in units in the last place (ulp) of f32 and f64. Of f16 and bf16 elementary functions and divisions
  compute in f32 and round once. What was measured is in [accuracy.md](../accuracy.md).
- A tile has `x.dtype`, its dtype, and `x.shape`, a tuple of Consts; a pointer has `ptr.dtype`, that of its elements.

The dtypes: `bool_`; `i8 i16 i32 i64`; `u8 u16 u32 u64`; `f16 bf16 f32 f64`; `f8e4m3 f8e5m2 f8e4m3fnuz f8e5m2fnuz`. They
answer to Triton's names, too: `int1`; `int8` to `int64`; `uint8` to `uint64`; `float16 bfloat16 float32 float64`;
`float8e4nv float8e5 float8e4b8 float8e5b16`.

`from teeny.language.extra import libdevice` gives the functions that Triton has there; `tl.math` has them too.
"""


def _index(titles: dict[str, str]) -> str:
    parts = [GENERATED.format(source="tools/reference.py"), _INTRODUCTION.rstrip()]
    for family, title in titles.items():
        members = [one for one in descriptions().values() if one.family == family]
        rows = "\n".join(f"| [`{_cell(one.main)}`]({family}.md#{one.name}) | {_cell(one.summary)} |" for one in members)
        parts.append(f"## {first_sentence(title)}\n\n| | |\n|---|---|\n{rows}")
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
