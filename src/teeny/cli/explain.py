"""`teeny explain CODE`."""

from __future__ import annotations

import argparse

from teeny.cli.usage import Parser, UsageError, close
from teeny.diag.codes import catalogue, explain


def arguments(parser: Parser) -> None:
    parser.add_argument("code", nargs="?", help="a code such as F001; without one, all codes are listed")


def run(options: argparse.Namespace) -> int:
    """Print the explanation of a code, or the list of all."""
    known = catalogue()
    if options.code is None:
        for code in known.values():
            print(f"{code.id}  {code.severity:7}  {code.title}")
        return 0
    name = str(options.code).upper()
    if name not in known:
        raise UsageError(f"there is no code `{options.code}`{close(name, list(known))}")
    print(explain(name), end="")
    return 0
