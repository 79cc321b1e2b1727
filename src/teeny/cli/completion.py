"""`teeny completion SHELL`: completion of commands, options and their values, written from the argument parsers."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module

from teeny.cli.main import COMMANDS
from teeny.cli.usage import Parser

_EPILOG = """\
bash:  source <(teeny completion bash)           in ~/.bashrc
zsh:   source <(teeny completion zsh)            in ~/.zshrc, after compinit
fish:  teeny completion fish | source            in ~/.config/fish/config.fish
"""


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its spellings, help, and what follows it (`values`; None: nothing follows; empty: anything)."""

    names: tuple[str, ...]
    help: str
    values: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Known:
    """What a subcommand takes: options, and words for its first positional argument (files where there are none)."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]


def arguments(parser: Parser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell to write for")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    print(SHELLS[options.shell](known_commands()), end="")
    return 0


def known_commands() -> list[Known]:
    """Every subcommand, asked for its parser."""
    return [_known(name, summary) for name, summary in COMMANDS.items()]


def _known(name: str, summary: str) -> Known:
    module = import_module(f"teeny.cli.{name}")
    parser = Parser(prog=name)
    module.arguments(parser)
    found: list[Option] = []
    words: tuple[str, ...] = ()
    for action in parser._get_optional_actions():
        values = None if action.nargs == 0 else tuple(map(str, action.choices or ()))
        found.append(Option(tuple(action.option_strings), action.help or "", values))
    for action in parser._get_positional_actions()[:1]:
        words = tuple(map(str, action.choices or ()))
    dynamic: Callable[[], Iterable[str]] | None = getattr(module, "words", None)
    return Known(name, summary, tuple(found), words if dynamic is None else tuple(dynamic()))


def bash(commands: list[Known]) -> str:
    """A function for bash's `complete`."""
    cases = "".join(_bash_case(one) for one in commands)
    names = " ".join((*(one.name for one in commands), "--help", "--version"))
    return f"""\
# bash completion of teeny: source <(teeny completion bash)
_teeny() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= at
    for ((at = 1; at < COMP_CWORD; at++)); do
        if [[ ${{COMP_WORDS[at]}} != -* ]]; then
            command=${{COMP_WORDS[at]}}
            break
        fi
    done
    COMPREPLY=()
    case $command in
    "")
        COMPREPLY=($(compgen -W "{names}" -- "$current"))
        ;;
{cases}    esac
}}
complete -o filenames -F _teeny teeny
"""


def _bash_case(one: Known) -> str:
    taking = [option for option in one.options if option.values is not None]
    follows = [("|".join(o.names), f'-W "{" ".join(o.values)}"') for o in taking if o.values]
    follows += [("|".join(name for o in taking if not o.values for name in o.names), "-f")]
    cases = "".join(
        f"        {names})\n            {_reply(words)}\n            return\n            ;;\n"
        for names, words in follows
        if names
    )
    choice = f"        case $previous in\n{cases}        esac\n" if cases else ""
    flags = " ".join(name for option in one.options for name in option.names)
    plain = f'-W "{" ".join(one.words)}"' if one.words else "-f"
    return f"""\
    {one.name})
{choice}        if [[ $current == -* ]]; then
            {_reply(f'-W "{flags}"')}
        else
            {_reply(plain)}
        fi
        ;;
"""


def _reply(words: str) -> str:
    return f'COMPREPLY=($(compgen {words} -- "$current"))'


def zsh(commands: list[Known]) -> str:
    """The one for bash, through zsh's own bridge."""
    head = "# zsh completion of teeny: source <(teeny completion zsh)\nautoload -U +X bashcompinit && bashcompinit\n"
    return head + bash(commands)


def fish(commands: list[Known]) -> str:
    """A `complete` for each command and option."""
    lines = [
        "# fish completion of teeny: teeny completion fish | source",
        "complete -c teeny -n __fish_use_subcommand -f",
    ]
    lines += [f"complete -c teeny -n __fish_use_subcommand -a {one.name} -d {_quoted(one.help)}" for one in commands]
    for one in commands:
        seen = f"complete -c teeny -n '__fish_seen_subcommand_from {one.name}'"
        if one.words:
            lines.append(f"{seen} -f -a {_quoted(' '.join(one.words))}")
        for option in one.options:
            flags = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            follows = (
                ""
                if option.values is None
                else f" -x -a {_quoted(' '.join(option.values))}"
                if option.values
                else " -r"
            )
            lines.append(f"{seen} {flags}{follows} -d {_quoted(option.help)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Text in fish's single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[list[Known]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
