"""The kernels of `fill_cases.py`: each finding at its line, nothing on the right ones; the texts of some."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from teeny.checks.fill import check_fills
from teeny.diag.diagnostic import Diagnostic
from teeny.diag.render import render
from teeny.frontend.lower import define, lower_concrete, lower_generic
from teeny.ir.dtype import F32, I32, U32
from tests.checks import fill_cases

KERNELS = [
    f for name, f in vars(fill_cases).items() if isinstance(f, FunctionType) and f.__module__ == fill_cases.__name__
]
PUBLIC = [f for f in KERNELS if not f.__name__.startswith("_")]


def findings(fn: Any) -> list[Diagnostic]:
    definition, faults = define(fn)
    assert not faults
    generic = lower_generic(definition)
    assert not generic.faults, [d.message for d in generic.faults]
    return check_fills(generic.module.kernel, generic.facts, generic.table.possible)


def expected(fn: Any) -> list[tuple[str, int]]:
    """Code and line of each mark in the kernel's source, and in the helpers that it calls."""
    found: list[tuple[str, int]] = []
    names = re.findall(r"\b_\w+(?=\()", inspect.getsource(fn))
    for one in (fn, *(getattr(fill_cases, n) for n in names)):
        lines, first = inspect.getsourcelines(one)
        found += [(m[1], first + at) for at, line in enumerate(lines) if (m := re.search(r"# (F\d+)$", line))]
    return found


@pytest.mark.parametrize("fn", PUBLIC, ids=lambda f: f.__name__)
def test_each_finding_is_at_its_line(fn: Any) -> None:
    found: list[tuple[str, int]] = []
    for diagnostic in findings(fn):
        assert diagnostic.primary is not None
        assert diagnostic.kernel == fn.__name__
        assert diagnostic.help
        found.append((diagnostic.code, diagnostic.primary.location.span.line))
    assert found == expected(fn)


@pytest.mark.parametrize("fn", PUBLIC, ids=lambda f: f.__name__)
def test_concrete_ir_gives_the_same_findings(fn: Any) -> None:
    definition, _ = define(fn)
    consts = {
        p.name: (True if "bool" in p.annotation else 64) for p in definition.parameters if "Const" in p.annotation
    }
    dtypes = {v: {"Num": I32, "Unsigned": U32}.get(v.bound, F32) for v in definition.variables}
    module = lower_concrete(definition, dtypes, consts)
    found = [(d.code, d.primary.location.span.line) for d in check_fills(module.kernel) if d.primary]
    assert found == (expected(fn) if fn.__name__ != "a_fill_in_one_branch" else [])


def test_the_text_of_the_design() -> None:
    (diagnostic,) = findings(fill_cases.row_max)
    text = render(diagnostic).split("\n")
    assert text[0] == "error[F001]: undefined lanes of `x` take part in `tl.max`"
    assert re.search(r" -+ lanes with cols >= n are not read$", text[4])
    assert re.search(r" \^{17} and enter this maximum$", text[6])
    assert text[7].strip() == '= help: fill them with the identity of max: other=-float("inf")'


MESSAGES = {
    "softmax_of_zeros": "lanes of `num` outside the mask of `x` hold 1 and take part in `tl.sum`",
    "row_max_of_zeros": "lanes of `x` outside its mask hold 0 and take part in `tl.max`",
    "min_in_pieces": "lanes of `x` outside its mask enter a minimum so far as 0, and with it `tl.min`",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name: str) -> None:
    assert MESSAGES[name] in [d.message for d in findings(getattr(fill_cases, name))]


HELP = {
    "row_max_of_zeros": 'fill them with the identity of max: other=-float("inf")',
    "absmax_of_one": "fill them so that they leave this max as it is: other=0.0",
    "row_sum": "fill them with the identity of sum: other=0.0",
    "softmax_of_zeros": 'fill them so that they leave this sum as it is: other=-float("inf")',
    "max_in_pieces": 'fill them with the identity of max: other=-float("inf")',
    "min_in_pieces": 'fill them with the identity of min: other=float("inf")',
    "variance": "set them to the identity of sum after the computation: tl.where(cols < n, ..., 0.0)",
    "integers": "set them to the identity of max after the computation: "
    "tl.where(cols < n, ..., tl.lowest(x_ptr.dtype))",
    "count_undefined": "fill them with the identity of sum: other=0.0",
    "no_mask_at_the_store": "give the store the mask of the load: mask=offs < n, or the load an `other`",
    "where_on_the_wrong_side": "give the store the mask of the load: mask=mask, or the load an `other`",
    "gather": "give the load an `other` that is a legal place, or this access the same mask: mask=offs < n",
    "product_with_an_unfilled_tail": "fill them with 0, which adds nothing: other=0.0",
    "product_of_what_was_computed": "set them to 0 after the computation: tl.where((r < k)[None, :], ..., 0.0)",
    "guarded": "give the load an `other`, the value that is meant where its mask is false",
}


@pytest.mark.parametrize("name", HELP)
def test_help(name: str) -> None:
    assert findings(getattr(fill_cases, name))[0].help == (HELP[name],)


MENDED = [f for f in PUBLIC if any("other=" in h for d in findings(f) for h in d.help)]


@pytest.mark.parametrize("fn", MENDED, ids=lambda f: f.__name__)
def test_the_fill_that_help_names_mends_it(fn: Any, tmp_path: Path) -> None:
    """Written into the source at the load, it leaves no finding about that reduction."""
    (finding, *_) = (d for d in findings(fn) if any("other=" in h for h in d.help))
    span = finding.labels[1].location.span
    other = finding.help[0].split("other=")[1]
    lines = span.source.text.split("\n")
    call = lines[span.line - 1][span.column : span.end_column]
    plain = re.sub(r", other=.*\)$", ")", call)
    lines[span.line - 1] = lines[span.line - 1].replace(call, f"{plain[:-1]}, other={other})")
    path = tmp_path / "mended.py"
    path.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("mended", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    left = [d.primary.location.span.line for d in findings(getattr(module, fn.__name__)) if d.primary]
    assert finding.primary is not None
    assert finding.primary.location.span.line not in left
