"""Diagnostics: places in source files, findings with stable codes, and the errors that carry them.

What only a found fault needs is imported by itself: `render` (text), `export` (JSON, SARIF), `edits` (mending).
"""

from teeny.diag.codes import Code, Severity, catalogue, code_of, explain
from teeny.diag.diagnostic import Diagnostic, Edit, Fix, Label, also, at, report
from teeny.diag.errors import CompileError, InternalError, KernelError, LaunchError, TeenyError
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
    "at",
    "catalogue",
    "code_of",
    "explain",
    "report",
    "user_location",
]
