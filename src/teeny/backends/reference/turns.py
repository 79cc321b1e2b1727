"""Programs that wait for one another: each in a thread, of which one at a time runs and hands on where it waits.

So what happens is the same every time: program 0 runs until it waits, then 1, and so on in turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

__all__ = ["PATIENCE", "Turns", "in_turns"]

PATIENCE = 100_000
"""Turns of a waiting loop after which what it waits for is taken never to come."""


class _StoppedError(Exception):
    """Another program went wrong; this one ends."""


class Turns:
    """Whose turn it is, by number; `live` are those that have not ended."""

    def __init__(self, count: int) -> None:
        self.places = [threading.Semaphore(0) for _ in range(count)]
        self.live = list(range(count))
        self.current = 0
        self.error: BaseException | None = None

    def start(self) -> None:
        """Give program 0 its turn."""
        self.places[0].release()

    def hand_on(self) -> None:
        """Let the others run, and wait until it is this program's turn again."""
        me = self.current
        following = self._after(me)
        if following != me:
            self._give(following)
            self.await_turn(me)

    def await_turn(self, number: int) -> None:
        """Wait for the turn of a program. Raises where another one has gone wrong."""
        self.places[number].acquire()
        if self.error is not None:
            raise _StoppedError

    def end(self, number: int) -> None:
        """The program has ended: the next one's turn."""
        following = self._after(number)
        self.live.remove(number)
        if self.live:
            self._give(following)

    def _after(self, number: int) -> int:
        at = self.live.index(number)
        return self.live[(at + 1) % len(self.live)]

    def _give(self, number: int) -> None:
        self.current = number
        self.places[number].release()


def in_turns(turns: Turns, programs: Sequence[Callable[[], None]]) -> None:
    """Run programs, each in a thread of its own, one at a time. Raises what the first that goes wrong raises."""

    def body(number: int) -> None:
        try:
            turns.await_turn(number)
            programs[number]()
        except _StoppedError:
            pass
        except BaseException as error:
            turns.error = error
        finally:
            turns.end(number)

    threads = [threading.Thread(target=body, args=(n,), daemon=True) for n in range(len(programs))]
    for thread in threads:
        thread.start()
    turns.start()
    for thread in threads:
        thread.join()
    if turns.error is not None:
        raise turns.error
