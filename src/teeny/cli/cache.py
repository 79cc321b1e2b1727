"""`teeny cache`: where results are kept, whether the folder can be used, and how much there is."""

from __future__ import annotations

import argparse
import sys
import warnings

from teeny.cli.report import add_format, print_json
from teeny.cli.usage import Parser
from teeny.ir.store import Store, default_root, default_store


def arguments(parser: Parser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("info", "clear", "path"), default="info",
        help="info: what is there (default); clear: remove it all; path: the folder alone",
    )  # fmt: skip
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Exit status 1 where there is no folder that can be used."""
    if options.action == "path":
        return _path(options.format == "json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # X004, whose reason is printed below
        store = default_store()
    return (
        _clear(store, options.format == "json") if options.action == "clear" else _info(store, options.format == "json")
    )


def _path(as_json: bool) -> int:
    root = default_root()
    if as_json:
        print_json(path=None if root is None else str(root))
    elif root is None:
        print("there is no home folder to keep a cache in; set TEENY_CACHE_DIR to a folder of yours", file=sys.stderr)
    else:
        print(root)
    return 0 if root is not None else 1


def _info(store: Store, as_json: bool) -> int:
    entries, records = store.counts()
    if as_json:
        print_json(**_state(store), entries=entries, records=records, bytes=store.size())
    elif store.usable:
        print(f"{store.root}: {entries} compiled, {records} files with checked kernels, {_megabytes(store.size())}")
    else:
        print(_unusable(store))
    return 0 if store.usable else 1


def _clear(store: Store, as_json: bool) -> int:
    entries, records = store.counts()
    size = store.size()
    store.clear()
    if as_json:
        print_json(**_state(store), removed_entries=entries, removed_records=records, removed_bytes=size)
    elif store.usable:
        print(f"{store.root}: removed {entries} compiled, {records} files with checked kernels, {_megabytes(size)}")
    else:
        print(_unusable(store))
    return 0 if store.usable else 1


def _state(store: Store) -> dict[str, object]:
    return {"path": None if store.root is None else str(store.root), "usable": store.usable, "fault": store.fault}


def _unusable(store: Store) -> str:
    return f"not used: {store.fault}; set TEENY_CACHE_DIR to a folder of yours"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
