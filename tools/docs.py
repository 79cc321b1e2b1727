"""`make docs`: write docs/reference and docs/errors anew, with what their code prints."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tools import error_pages, reference
from tools.pages import with_output

DOCS = Path(__file__).resolve().parent.parent / "docs"


def generated() -> dict[Path, str]:
    """Every generated page, with empty blocks for what its code prints."""
    folders: Mapping[str, Mapping[str, str]] = {"reference": reference.pages(), "errors": error_pages.pages()}
    return {DOCS / folder / name: text for folder, pages in folders.items() for name, text in pages.items()}


def main() -> None:
    """Write what changed, and remove pages that nothing makes any more."""
    pages = generated()
    for path, text in sorted(pages.items(), key=lambda item: item[0].name != "README.md"):
        path.parent.mkdir(exist_ok=True)
        if path.name == "README.md":
            path.write_text(text, "utf-8")
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(with_output(path, text, Path(folder)), "utf-8")
    for folder in {path.parent for path in pages}:
        for path in folder.glob("*.md"):
            if path not in pages:
                path.unlink()


if __name__ == "__main__":
    main()
