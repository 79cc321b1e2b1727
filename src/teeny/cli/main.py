"""The `teeny` command: chooses the subcommand, and turns what goes wrong into sentences and exit statuses.

Statuses: 0 done, 1 findings or an error, 2 usage, 70 a fault in teeny, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from teeny import __version__
from teeny.cli.usage import Parser, UsageError, close
from teeny.diag.errors import InternalError, TeenyError

FAILED, USAGE, FAULT, INTERRUPTED, PIPE = 1, 2, 70, 130, 141

COMMANDS = {
    "check": "check every kernel in files or folders",
    "compile": "compile a kernel to MLIR, PTX, a cubin or native code; needs no GPU",
    "run": "run a kernel on random arrays or arrays from files",
    "record": "run a program with its launches of Triton kernels checked instead of executed",
    "explain": "what a code of a diagnostic means, and what to do",
    "ops": "the functions of the language, and what each is in Triton",
    "cache": "where results are kept, and how much there is",
    "doctor": "what is installed and which devices are there",
    "demo": "a softmax, checked, compiled and run",
    "completion": "completion in bash, zsh and fish",
}


class Command(Protocol):
    """What each file of a subcommand defines; one with `AFTER_DASHES`, a name, gets all after `--` under that."""

    def arguments(self, parser: Parser) -> None: ...

    def run(self, options: object) -> int: ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (those of the process, if None) and give its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    show_traceback = "--traceback" in given
    if show_traceback:
        given.remove("--traceback")
    name = next((word for word in given if not word.startswith("-")), "")
    try:
        status = _run(given, name)
        sys.stdout.flush()
        return status
    except UsageError as error:
        prog = f"teeny {name}" if name in COMMANDS else "teeny"
        return _say(f"{prog}: {error}; see `{prog} --help`", USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE
    except KeyboardInterrupt:
        return _say("teeny: interrupted", INTERRUPTED)
    except TeenyError as error:
        if show_traceback:
            raise
        from teeny.cli.terminal import colored
        from teeny.diag.render import render_all

        status = FAULT if isinstance(error, InternalError) else FAILED
        return _say(render_all(error.diagnostics, color=colored(sys.stderr)), status)
    except Exception as error:
        if show_traceback:
            raise
        fault = InternalError(f"{type(error).__name__}: {error}")
        return _say(f"{fault}\n   = help: --traceback shows where it happened", FAULT)


def _run(given: list[str], name: str) -> int:
    if not name:
        _general().parse_args(given)
        _general().print_help()
        return USAGE
    if name not in COMMANDS:
        raise UsageError(f"there is no command `{name}`{close(name, list(COMMANDS))}")
    chosen = cast("Command", import_module(f"teeny.cli.{name}"))
    summary = COMMANDS[name]
    parser = Parser(prog=f"teeny {name}", description=f"{summary[0].upper()}{summary[1:]}.")
    chosen.arguments(parser)
    at = given.index(name)
    words = given[:at] + given[at + 1 :]
    rest: str | None = getattr(chosen, "AFTER_DASHES", None)
    if rest is None or "--" not in words:
        return chosen.run(parser.parse_intermixed_args(words))
    dashes = words.index("--")
    options = parser.parse_intermixed_args(words[:dashes])
    setattr(options, rest, [*getattr(options, rest), *words[dashes + 1 :]])
    return chosen.run(options)


def _general() -> Parser:
    """The parser that shows what there is."""
    parser = Parser(prog="teeny", description="Typed block kernels in Python: checked, compiled and run.")
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, max_help_position=20)
    parser.add_argument("--version", action="version", version=f"teeny {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show Python's traceback of an error")
    commands = parser.add_subparsers(metavar="COMMAND")
    for command, summary in COMMANDS.items():
        commands.add_parser(command, help=summary)
    return parser


def _say(text: str, status: int) -> int:
    print(text, file=sys.stderr)
    return status
