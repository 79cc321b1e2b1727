"""`teeny ops`: the functions of the language, from the registry."""

from __future__ import annotations

import argparse
import sys
import textwrap
from typing import TYPE_CHECKING

from teeny.cli.report import add_format, print_json
from teeny.cli.terminal import colored
from teeny.cli.usage import Parser, UsageError, close
from teeny.diag.display import paint

if TYPE_CHECKING:
    from teeny.frontend.describe import Description

_WIDTH = 100
_LABEL = 12


def arguments(parser: Parser) -> None:
    parser.add_argument("name", nargs="?", help="one function, such as exp, tl.sum, x.to or +; without it, all")
    add_format(parser)


def words() -> list[str]:
    """What `NAME` may be."""
    from teeny.frontend.describe import descriptions

    return list(descriptions())


def run(options: argparse.Namespace) -> int:
    """Print all functions, or everything about one."""
    from teeny.frontend.describe import descriptions, named

    known = descriptions()
    if options.name is None:
        if options.format == "json":
            print_json(functions=[one.to_json() for one in known.values()])
        else:
            _print_all(list(known.values()))
        return 0
    found = named(options.name)
    if found is None:
        raise UsageError(f"the language has no function `{options.name}`{close(options.name, list(known))}")
    if options.format == "json":
        print_json(functions=[found.to_json()])
    else:
        _print_one(found)
    return 0


def _print_all(known: list[Description]) -> None:
    from teeny.frontend.describe import families

    color = colored(sys.stdout)
    width = max(len(one.main) for one in known)
    for at, (family, title) in enumerate(families().items()):
        print(f"{'' if at == 0 else chr(10)}{paint(title, 'bold', color)}")
        for one in known:
            if one.family == family:
                print(f"  {one.main:{width}}  {one.summary}")


def _print_one(one: Description) -> None:
    color = colored(sys.stdout)
    print(paint("   ".join(one.written), "bold", color))
    for part in one.does.split("\n\n"):
        print(f"\n{textwrap.fill(' '.join(part.split()), _WIDTH)}")
    print()
    for label, lines in one.facts():
        for at, line in enumerate(lines):
            print(f"{paint(f'{label if at == 0 else str():{_LABEL}}', 'note', color)}{line}")
