"""Many small jobs in processes of their own: a job that ends or hangs its process is a result, and the others go on."""

from __future__ import annotations

import importlib
import json
import os
import queue
import selectors
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
Result = dict[str, Any]
Job = Callable[[str, Path, str], Result]
"""`(label, folder, argument) -> result`: `folder` is the worker's own, `argument` the same for all. After a result with
`last` the process ends, since nothing more can run in it."""


def run(
    job: str, labels: Sequence[str], *, argument: str = "", jobs: int = 0, seconds: float = 180.0,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, Result]]:  # fmt: skip
    """The results of `module:function` for each label, as they come. Where a process dies or is too slow, the result
    is `{"died": why}`; another process goes on with the rest."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for label in labels:
        waiting.put(label)
    found: queue.SimpleQueue[tuple[str, Result]] = queue.SimpleQueue()
    count = min(jobs or os.cpu_count() or 1, len(labels))
    command = [sys.executable, "-m", "tests.language.workers", job, argument]
    paths = os.pathsep.join((str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))
    full = {**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep), **(environment or {})}
    given = (command, full, waiting, found, seconds)
    threads = [threading.Thread(target=_serve, args=given, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for _ in labels:
        yield found.get()
    for thread in threads:
        thread.join()


def _serve(
    command: list[str],
    environment: dict[str, str],
    waiting: queue.SimpleQueue[str],
    found: queue.SimpleQueue[tuple[str, Result]],
    seconds: float,
) -> None:
    """Feed one process after the other until nothing waits."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        _feed(command, environment, waiting, found, seconds, said)


def _last(said: IO[str]) -> str:
    """The last line of what a process said before it ended."""
    said.seek(0)
    lines = said.read().strip().splitlines()
    return f": {lines[-1].strip()}"[:200] if lines else ""


def _feed(
    command: list[str],
    environment: dict[str, str],
    waiting: queue.SimpleQueue[str],
    found: queue.SimpleQueue[tuple[str, Result]],
    seconds: float,
    said: IO[str],
) -> None:
    process: subprocess.Popen[str] | None = None
    while True:
        try:
            label = waiting.get_nowait()
        except queue.Empty:
            break
        if process is None or process.poll() is not None:
            said.truncate(0)
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=said,
            )  # fmt: skip
        line = _asked(process, label, seconds)
        if line:
            result = json.loads(line)
            if result.get("last"):
                process.wait()
            found.put((label, result))
            continue
        late = line is None
        if late:
            process.kill()
        status = process.wait()
        process = None
        why = f"it took more than {seconds:.0f} s" if late else f"its process ended with status {status}{_last(said)}"
        found.put((label, {"died": why}))
    if process is not None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def _asked(process: subprocess.Popen[str], label: str, seconds: float) -> str | None:
    """The line that the process answers; empty where it ended, None where it is too slow."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(label + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(seconds):
            return None
    return process.stdout.readline()


def main(job: str, argument: str) -> None:
    """Answer labels from standard input by lines of JSON. What jobs print themselves goes to standard error."""
    answers: IO[str] = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    module, _, name = job.partition(":")
    function: Job = getattr(importlib.import_module(module), name)
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            try:
                result = function(line.strip(), Path(folder), argument)
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                at = f"{Path(last.filename).name}:{last.lineno}"
                result = {"died": f"{type(error).__name__} at {at}: {error}"[:400]}
            answers.write(json.dumps(result) + "\n")
            answers.flush()
            if result.get("last"):
                break


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
