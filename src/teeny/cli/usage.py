"""Mistakes in the use of the command line: one sentence, exit status 2."""

from __future__ import annotations

import argparse
from typing import NoReturn


class UsageError(Exception):
    """What was typed has no meaning; the text is one sentence without a full stop."""


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` where argparse would print its usage and leave."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def close(name: str, known: list[str]) -> str:
    """` (did you mean ...?)` where a known name is near, else nothing."""
    from difflib import get_close_matches

    found = get_close_matches(name, known, 1)
    return f" (did you mean `{found[0]}`?)" if found else ""
