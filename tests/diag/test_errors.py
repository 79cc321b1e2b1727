"""The exceptions: their text is the rendering, they survive pickling, and each kind says what it must."""

from __future__ import annotations

import pickle
import platform

import pytest

import teeny
from teeny.diag import (
    CompileError,
    InternalError,
    KernelError,
    LaunchError,
    Location,
    SourceFile,
    Span,
    TeenyError,
    at,
    report,
)
from teeny.diag.render import render_all

PLACE = Location(Span(SourceFile("k.py", "x = tl.exp(y)"), 1, 4, 1, 13), "tl.exp")
LAUNCH = LaunchError.of(
    "L007",
    "`softmax` reads past the end of `x_ptr`",
    kernel="softmax",
    argument="x_ptr",
    found="4000 elements",
    needed="4096 elements",
    witness="program (3,), lane 927, offset 4000",
    help=("pass n_cols=1000",),
)
ERRORS = (
    KernelError(
        [report("T001", "`tl.exp` needs Float", at(PLACE, "i32")), report("E002", "name not found", at(PLACE))]
    ),
    CompileError([report("X001", "Triton is not installed")]),
    LAUNCH,
    InternalError("no rule for `tt.scan`", PLACE, kernel="softmax"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_are_alike_after_pickling(error: TeenyError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.diagnostics == error.diagnostics
    assert str(again) == str(error) == render_all(error.diagnostics)
    assert isinstance(again, TeenyError)


def test_a_launch_error_without_source() -> None:
    assert str(LAUNCH).split("\n") == [
        "error[L007]: `softmax` reads past the end of `x_ptr`",
        "  --> kernel `softmax`, argument `x_ptr`",
        "   = found: 4000 elements",
        "   = needed: 4096 elements",
        "   = witness: program (3,), lane 927, offset 4000",
        "   = help: pass n_cols=1000",
    ]


def test_a_launch_error_at_a_contract() -> None:
    error = LaunchError.of("L006", "a row must fit in one block", kernel="softmax", found="2000", location=PLACE)
    assert str(error).split("\n") == [
        "error[L006]: a row must fit in one block",
        "  --> k.py:1:5",
        "   |",
        " 1 | x = tl.exp(y)",
        "   |     ^^^^^^^^^",
        "   = found: 2000",
    ]


def test_an_internal_error_asks_for_a_report_with_the_versions() -> None:
    text = str(InternalError("no rule for `tt.scan`", PLACE))
    assert text.startswith("error[I001]: teeny failed: no rule for `tt.scan`\n  --> k.py:1:5\n")
    assert "this is a fault in teeny, not in your code; please report it" in text
    assert f"teeny {teeny.__version__}, Python {platform.python_version()}" in text


def test_the_severity_comes_from_the_catalogue_unless_stated() -> None:
    assert report("F003", "m").severity == "warning"
    assert report("F001", "m").severity == "error"
    assert report("F001", "m", severity="note").severity == "note"
    with pytest.raises(KeyError):
        report("Z999", "m")


def test_the_primary_label_is_the_first_primary_one() -> None:
    from teeny.diag import also

    first, second = also(PLACE, "a"), at(PLACE, "b")
    assert report("E001", "m", first, second).primary is second
    assert report("E001", "m", first).primary is first
    assert report("E001", "m").primary is None
