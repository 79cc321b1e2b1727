"""`teeny doctor`: what is installed, which devices are there, and what to do about what is absent."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from teeny import __version__
from teeny.cli.report import add_format, print_json
from teeny.cli.terminal import colored
from teeny.cli.usage import Parser
from teeny.diag.display import paint
from teeny.diag.errors import TeenyError


class Finding(NamedTuple):
    """One line: what was looked for, whether it can be used, what was found or what to do."""

    name: str
    usable: bool
    text: str


def arguments(parser: Parser) -> None:
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print one line a thing."""
    if options.format == "json":
        print_json(findings=[one._asdict() for one in findings()])
        return 0
    color = colored(sys.stdout)
    for name, usable, text in findings():
        print(f"{paint('ok    ' if usable else 'absent', 'help' if usable else 'warning', color)}  {name:14}  {text}")
    return 0


def findings() -> Iterator[Finding]:
    """Everything that doctor looks at, in the order shown."""
    yield Finding("python", True, f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    yield Finding("teeny", True, f"{__version__} in {Path(__file__).resolve().parent.parent}")
    for name in ("numpy", "ml_dtypes", "llvmlite"):
        yield _package(name, f"pip install {name}; pip install . in a checkout of teeny brings it")
    yield _cpu()
    yield _triton()
    yield _package("torch", "optional; its tensors are taken as arguments")
    yield _package("cuda-bindings", 'for GPUs: from a checkout, pip install ".[triton]", on Linux')
    yield from _devices()
    yield _cache()


def _package(name: str, hint: str) -> Finding:
    try:
        return Finding(name, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, False, hint)


def _cpu() -> Finding:
    from teeny.backends.cpu.pool import thread_count
    from teeny.backends.cpu.target import features, supported_levels

    level = [name for name in supported_levels() if name != "native"]
    count = thread_count()
    threads = f"{count} thread{'s' if count != 1 else ''}"
    if "TEENY_NUM_THREADS" not in os.environ:
        threads += " (TEENY_NUM_THREADS changes that)"
    named = level[-1] if level else platform.machine()
    return Finding("cpu", True, f"{named}, {features().lanes} lanes of f32 in a register, {threads}")


def _triton() -> Finding:
    from teeny.backends.triton.wheel import version

    try:
        return Finding("triton", True, f"{version()}: MLIR to PTX and cubin for sm_75 to sm_120")
    except TeenyError as error:
        found = error.diagnostics[0]
        return Finding("triton", False, "; ".join((found.message, *found.help)))


def _devices() -> Iterator[Finding]:
    from teeny.runtime.cuda import cuda_device
    from teeny.runtime.cuda_driver import check, driver

    try:
        count: int = check(driver().cuDeviceGetCount(), "counting devices")
        for ordinal in range(count):
            device = cuda_device(ordinal)
            text = f"{device.model}, {device.architecture}, {device.memory / 2**30:.0f} GiB"
            yield Finding(device.name, True, text)
        if not count:
            yield Finding("cuda", False, "there is no CUDA device; kernels run on the CPU")
    except TeenyError as error:
        found = error.diagnostics[0]
        yield Finding("cuda", False, "; ".join((found.message, *found.help)))


def _cache() -> Finding:
    from teeny.ir.store import default_store

    store = default_store()
    if not store.usable:
        return Finding("cache", False, f"{store.fault}; set TEENY_CACHE_DIR to a folder of yours")
    return Finding("cache", True, f"{store.root}, {store.size() / 1e6:.1f} MB; delete it at any time")
