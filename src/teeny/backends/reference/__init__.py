"""The reference executor: each operation's meaning in plain NumPy, one program after the other. Slow and plain.

It says what a program means. A lane is a value and whether it is *poisoned*: a masked load without `other` leaves its
other lanes undefined, and what is computed from them is undefined, too.
"""

from teeny.backends.reference.errors import AccessError, ExecutionError, FailedAssertionError, PoisonError
from teeny.backends.reference.lanes import Lanes
from teeny.backends.reference.memory import Buffer, Memory, bind
from teeny.backends.reference.run import Event, run

__all__ = [
    "AccessError",
    "Buffer",
    "Event",
    "ExecutionError",
    "FailedAssertionError",
    "Lanes",
    "Memory",
    "PoisonError",
    "bind",
    "run",
]
