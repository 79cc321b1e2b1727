"""Runs pip with one line of progress a package and turns its failures into one sentence."""

from __future__ import annotations

import queue
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import IO

QUIET_SECONDS = 15.0

DISK_FULL = re.compile(r"No space left on device|\[Errno 28\]|Disk quota exceeded|\[Errno 122\]")
UNAVAILABLE = re.compile(r"No matching distribution found for ([A-Za-z0-9_.-]+)")
OFFLINE = re.compile(
    r"Failed to establish a new connection|NameResolutionError|Temporary failure in name resolution|"
    r"Network is unreachable|ConnectTimeoutError|ReadTimeoutError|Read timed out|ProxyError|Connection refused|SSLError"
)


class SetupError(Exception):
    """What is in the way, in one sentence; `unavailable` names the package that no index has for this platform."""

    def __init__(self, sentence: str, unavailable: str | None = None) -> None:
        super().__init__(sentence)
        self.unavailable = unavailable


def explain(lines: list[str], log: Path) -> SetupError:
    """The failure that pip's output tells of."""
    text = "\n".join(lines)
    if DISK_FULL.search(text):
        return SetupError("the disk is full; free some space and run make again")
    missing = UNAVAILABLE.search(text)
    if OFFLINE.search(text):
        return SetupError("the package registry cannot be reached; check the network and run make again")
    if missing:
        return SetupError(f"pip finds no build of {missing[1]} for this Python and platform", unavailable=missing[1])
    errors = [line for line in lines if line.startswith("ERROR:")]
    last = (errors or lines or ["it printed nothing"])[-1].removeprefix("ERROR:").strip()
    return SetupError(f"pip failed: {last} (all of its output is in {log})")


def progress(line: str) -> str | None:
    """What a line of pip's output tells a reader, if anything."""
    downloading = re.match(r"\s*Downloading (\S+?)(?:\.metadata)? \((.+?)\)", line)
    if downloading and "metadata" not in line:
        return f"downloading {downloading[1].rsplit('/', 1)[-1]} ({downloading[2]})"
    installing = re.match(r"Installing collected packages: (.*)", line)
    if installing:
        return f"installing {installing[1].count(',') + 1} packages: {installing[1]}"
    return None


class Pip:
    """pip of one virtual environment, under one constraints file, its whole output kept in a log."""

    def __init__(self, python: Path, constraints: Path, log: Path) -> None:
        quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
        self.command = [str(python), "-m", "pip", "install", *quiet, "--retries", "2", "--constraint", str(constraints)]
        self.log = log
        log.unlink(missing_ok=True)

    def install(self, what: str, *arguments: str) -> None:
        """Installs `arguments`; raises SetupError with one sentence when pip does not succeed."""
        print(f"setup: installing {what}", flush=True)
        process = subprocess.Popen(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        lines = follow(process.stdout)
        with self.log.open("a") as log:
            log.writelines(f"{line}\n" for line in lines)
        if process.wait() != 0:
            raise explain(lines, self.log)


def follow(stream: IO[str]) -> list[str]:
    """Every line of `stream`; prints the telling ones, and a sign of life when nothing came for a while."""
    arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in stream:
            arrived.put(line.rstrip("\n"))
        arrived.put(None)

    threading.Thread(target=read, daemon=True).start()
    lines: list[str] = []
    started = time.monotonic()
    while True:
        try:
            line = arrived.get(timeout=QUIET_SECONDS)
        except queue.Empty:
            print(f"setup:   still at work ({time.monotonic() - started:.0f} s)", flush=True)
            continue
        if line is None:
            return lines
        lines.append(line)
        told = progress(line)
        if told:
            print(f"setup:   {told}", flush=True)
