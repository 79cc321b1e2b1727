"""`teeny explain CODE`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from teeny.cli.report import add_format, print_json
from teeny.cli.usage import Parser, UsageError, close
from teeny.diag.codes import Code, catalogue, explain


def arguments(parser: Parser) -> None:
    parser.add_argument("code", nargs="?", help="a code such as F001; without one, all codes are listed")
    add_format(parser)


def words() -> list[str]:
    """What `CODE` may be."""
    return list(catalogue())


def run(options: argparse.Namespace) -> int:
    """Print the explanation of a code, or the list of all."""
    known = catalogue()
    chosen = list(known.values()) if options.code is None else [_named(options.code)]
    if options.format == "json":
        print_json(codes=[asdict(code) for code in chosen])
    elif options.code is not None:
        print(explain(chosen[0].id), end="")
    else:
        for code in chosen:
            print(f"{code.id}  {code.severity:7}  {code.title}")
    return 0


def _named(text: str) -> Code:
    known = catalogue()
    if text.upper() not in known:
        raise UsageError(f"there is no code `{text}`{close(text.upper(), list(known))}")
    return known[text.upper()]
