"""`--format text|json`: what the subcommands that report have in common."""

from __future__ import annotations

import json
from typing import Any

from teeny import __version__
from teeny.cli.usage import Parser


def add_format(parser: Parser) -> None:
    """The option of a subcommand that prints text or JSON."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def print_json(**what: Any) -> None:
    """One JSON object on standard output, with the version of teeny."""
    print(json.dumps({"teeny": __version__, **what}, indent=2))
