"""What a name in a function refers to, without running anything: closure, type parameters, globals, builtins."""

from __future__ import annotations

import sys
from enum import Enum
from types import FunctionType


class Missing(Enum):
    """Why a name has no object."""

    NOT_FOUND = "not found"
    UNSET = "not assigned yet"


_NOT_FOUND = Missing.NOT_FOUND


def resolve(fn: FunctionType, name: str) -> object:
    """The object that `name` refers to in `fn` where it is no local: a closure cell, else a type parameter of the
    function, else a global, else a builtin. A `Missing` where there is none, or its closure cell is still unset.
    """
    cells = fn.__closure__
    if cells and name in (free := fn.__code__.co_freevars):
        try:
            return cells[free.index(name)].cell_contents
        except ValueError:
            return Missing.UNSET
    if sys.version_info >= (3, 12):
        for parameter in fn.__type_params__:
            if parameter.__name__ == name:
                return parameter
    found = fn.__globals__.get(name, _NOT_FOUND)
    return fn.__builtins__.get(name, _NOT_FOUND) if found is _NOT_FOUND else found
