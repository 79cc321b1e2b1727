"""Names of functions as symbols of machine code."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def symbol_of(name: str) -> str:
    """A symbol for a function's name that LLVM, PTX and assemblers read: the name itself where it is one.

    Other characters than ASCII letters, digits and `_` are written `_uXXXX`, by their number in Unicode. PTX takes no
    name of one underscore alone.
    """
    plain = re.sub(r"[^A-Za-z0-9_]", lambda found: f"_u{ord(found[0]):04x}", name)
    return plain if _PLAIN.fullmatch(plain) and plain.strip("_") else f"kernel_{plain}"
