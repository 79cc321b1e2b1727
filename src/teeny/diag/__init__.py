"""Diagnostics: places in source files, findings with stable codes, their rendering, and the errors that carry them."""

from teeny.diag.codes import Code, Severity, catalogue, code_of, explain
from teeny.diag.diagnostic import Diagnostic, Edit, Fix, Label, also, at, report
from teeny.diag.edits import apply
from teeny.diag.errors import CompileError, InternalError, KernelError, LaunchError, TeenyError
from teeny.diag.render import in_order, render, render_all, render_concise, summary
from teeny.diag.span import Location, SourceFile, Span, user_location

__all__ = [
    "Code",
    "CompileError",
    "Diagnostic",
    "Edit",
    "Fix",
    "InternalError",
    "KernelError",
    "Label",
    "LaunchError",
    "Location",
    "Severity",
    "SourceFile",
    "Span",
    "TeenyError",
    "also",
    "apply",
    "at",
    "catalogue",
    "code_of",
    "explain",
    "in_order",
    "render",
    "render_all",
    "render_concise",
    "report",
    "summary",
    "user_location",
]
