"""The memory of checks: an unchanged kernel is not checked again when its file is imported again.

One JSON record a source file lies in the cache. It holds for one version of teeny and one content of the file; each
kernel in it holds while what it uses from elsewhere (`frontend.uses`) stays the same. Hashes decide, never times.
"""

from __future__ import annotations

import atexit
import os
import sys
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any, cast

from teeny.diag.diagnostic import Diagnostic
from teeny.diag.export import from_json, to_json
from teeny.frontend.files import LoadedFile, file_named, load_file
from teeny.frontend.source import KernelSource
from teeny.frontend.uses import Use, still_holds, uses_of
from teeny.ir.build import build
from teeny.ir.store import Json, Store, default_store

_FORMAT = 1
_VARIANTS = 4  # kernels made at one place with different closures or settings
_LAYERS = ("diag", "ir", "ops", "language", "frontend", "passes", "checks")  # that have a say in a check


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the check of a kernel without errors left: warnings, and for specialisation obligations and exclusions."""

    warnings: tuple[Diagnostic, ...] = ()
    obligations: Json = None
    exclusions: Json = None


@dataclass(frozen=True, slots=True)
class _Entry:
    options: str
    uses: list[Use]
    outcome: dict[str, Json]


@dataclass(slots=True)
class _Record:
    """The record of one file in this process, for as long as the file is the same."""

    loaded: LoadedFile
    store: Store
    kernels: dict[str, list[_Entry]] = field(default_factory=dict[str, "list[_Entry]"])


_records: dict[str, _Record] = {}
_unwritten: list[_Record] = []


def recall(fn: FunctionType, options: str = "", store: Store | None = None) -> Remembered | None:
    """What the last check of `fn` left, or None where there is none that still holds. The source is not parsed.

    `options` names settings that the check depends on; `store` is the cache used, else the default one.
    """
    record = _record_of(fn, store)
    if record is None:
        return None
    for entry in record.kernels.get(_key(fn), ()):
        if entry.options == options and still_holds(fn, entry.uses):
            return _outcome(entry.outcome)
    return None


def remember(
    fn: FunctionType, source: KernelSource, outcome: Remembered, options: str = "", store: Store | None = None
) -> bool:
    """Keep the outcome of a check for later processes. Says whether it is kept.

    Not kept: outcomes with an error, kernels that lie in no file, and kernels that use an outer object whose meaning
    cannot be compared. The record is written when a kernel of another file comes, and when Python ends.
    """
    if any(warning.severity == "error" for warning in outcome.warnings):
        return False
    record = _record_of(fn, store)
    if record is None or record.loaded.file is not source.file:
        return False
    uses = uses_of(fn, source)
    if uses is None:
        return False
    entry = _Entry(
        options,
        uses,
        {
            "warnings": [cast("Json", to_json(warning)) for warning in outcome.warnings],
            "obligations": outcome.obligations,
            "exclusions": outcome.exclusions,
        },
    )
    known = record.kernels.get(_key(fn), [])
    others = [e for e in known if e.options != options or e.uses != uses]
    record.kernels[_key(fn)] = [entry, *others][:_VARIANTS]
    if record not in _unwritten:
        flush()
        _unwritten.append(record)
    return True


def flush() -> None:
    """Write what is remembered and not yet on disk."""
    while _unwritten:
        record = _unwritten.pop()
        kernels = {
            key: [{"options": e.options, "uses": [list(use) for use in e.uses], "outcome": e.outcome} for e in entries]
            for key, entries in record.kernels.items()
        }
        body = {"for": fingerprint(), "file": record.loaded.digest, "kernels": kernels}
        record.store.put_record(_name(record.loaded), cast("dict[str, Json]", body))


def forget() -> None:
    """Drop what this process holds in memory (the cache on disk stays), so that the next question reads the disk."""
    _unwritten.clear()
    _records.clear()


@cache
def fingerprint() -> str:
    """What changes with teeny itself, and with Python."""
    return f"{_FORMAT} {sys.version_info[:2]} {build(*_LAYERS)}"


def _key(fn: FunctionType) -> str:
    return f"{fn.__qualname__}:{fn.__code__.co_firstlineno}"


def _name(loaded: LoadedFile) -> str:
    return f"checks of {os.path.abspath(loaded.file.name)}"


def _record_of(fn: FunctionType, store: Store | None) -> _Record | None:
    try:
        loaded = load_file(fn)
    except (UnicodeError, LookupError):
        return None
    if loaded is None or not loaded.digest:
        return None
    known = _records.get(loaded.file.name)
    if known is not None and known.loaded is loaded and (store is None or known.store is store):
        return known
    record = _Record(loaded, store or default_store())
    body = record.store.get_record(_name(loaded))
    if body is not None and body.get("for") == fingerprint() and body.get("file") == loaded.digest:
        record.kernels = _read(cast("dict[str, Any]", body))
    _records[loaded.file.name] = record
    return record


def _read(body: dict[str, Any]) -> dict[str, list[_Entry]]:
    try:
        return {
            key: [_Entry(e["options"], [Use(*use) for use in e["uses"]], e["outcome"]) for e in entries]
            for key, entries in body["kernels"].items()
        }
    except (KeyError, TypeError, AttributeError):
        return {}


def _outcome(data: dict[str, Json]) -> Remembered | None:
    try:
        warnings = tuple(
            from_json(cast("Any", warning), file_named) for warning in cast("list[Json]", data["warnings"])
        )
        return Remembered(warnings, data["obligations"], data["exclusions"])
    except (KeyError, TypeError):
        return None


atexit.register(flush)
