"""The examples that come with the package."""

from __future__ import annotations

from pathlib import Path

from teeny.diag.errors import InternalError


def example(name: str) -> Path:
    """The file of an example: in the installed package, or in the checkout that an editable install points to."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "examples", package.parent.parent / "examples"):
        path = folder / name
        if path.is_file():
            return path
    raise InternalError(f"the example {name} is missing from the package")
