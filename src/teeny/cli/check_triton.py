"""The part of `teeny check` for files of Triton: their kernels are made without running the rest of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teeny.cli.files import import_fault
from teeny.cli.usage import UsageError
from teeny.diag.errors import TeenyError
from teeny.diag.span import SourceFile

if TYPE_CHECKING:
    from teeny.cli.check import Checked
    from teeny.cli.files import SourcePath
    from teeny.diag.diagnostic import Diagnostic
    from teeny.triton.check import CheckedKernel
    from teeny.triton.extract import Extracted


def check_triton(file: SourcePath, checked: Checked, signatures: Sequence[str]) -> None:
    """Check the kernels of one file. Call it within `importing(root)`. Raises UsageError for signatures alone."""
    from teeny.triton.check import check_file
    from teeny.triton.stated import SignatureError, in_project, read_signatures

    shown = SourceFile(str(file.path), "").display_name
    try:
        stated = {**in_project(file.path), **read_signatures(signatures)}
    except SignatureError as error:
        raise UsageError(str(error)) from None
    try:
        found = check_file(file.path, file.name, stated)
    except TeenyError as error:
        checked.findings.extend(error.diagnostics)
        return
    except (Exception, SystemExit) as error:
        checked.findings.append(import_fault(error, file.path))
        return
    checked.counts[file.path] += len({k.name for k in found.kernels})
    checked.findings.extend(found.unknown)
    told = {_line(one) for one in found.unknown}
    seen: set[str] = set()
    for kernel in found.kernels:
        if any(one.code == "X009" and _line(one) in told for one in kernel.findings):
            continue  # Triton says the same
        if kernel.checked:
            for one in kernel.findings:
                text = repr((one.code, one.message, [str(label.location.span) for label in one.labels]))
                if text not in seen:
                    seen.add(text)
                    checked.findings.append(one)
            checked.notes.append(f"{shown}: {kernel.summary}")
        else:
            checked.unchecked.append(f"{shown}: not checked: {_why(kernel)}")
    for name, (maker, values) in found.extracted.closures.items():
        needs = ", ".join(f"`{value}`" for value in values)
        checked.unchecked.append(
            f"{shown}: not checked: `{name}`: it is made by `{maker}` with values of its own: {needs}"
        )
    checked.notes.extend(f"{shown}: {text}" for text in _left_out(found.extracted))


def _line(found: Diagnostic) -> tuple[str, int] | None:
    """Where a finding stands."""
    return next(((span.source.name, span.line) for span in (label.location.span for label in found.labels)), None)


def _why(kernel: CheckedKernel) -> str:
    first = kernel.findings[0]
    place = next((f" at {label.location.span.position}" for label in first.labels), "")
    advice = f"; state its types: --signature '{kernel.name}: ...'" if first.code == "X009" else ""
    return f"{kernel.summary}: {first.message}{place}{advice}"


def _left_out(found: Extracted) -> list[str]:
    parts = (("not imported", found.unneeded), ("missing, stubbed", found.stubbed), ("left out", found.dropped))
    return [f"{what}: {', '.join(names)}" for what, names in parts if names]
