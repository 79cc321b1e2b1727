"""The plugin within a process: what `import triton` loads, variables, forks, threads, the cache on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """\
import sys
import torch, triton, triton.language as tl


@triton.jit
def twice(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * 2, mask=offs < n)


def launch(n=100, block=32):
    x, out = torch.arange(float(n)), torch.zeros(n)
    twice[(triton.cdiv(n, block),)](x, out, n, BLOCK=block)
    assert torch.equal(out, x * 2)


"""
BROKEN = """\
import sys


class Broken:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("teeny.") and name not in {allowed}:
            raise RuntimeError("teeny is broken")


sys.meta_path.insert(0, Broken())
"""
TWO = "('teeny.triton', 'teeny.triton.compiler', 'teeny.triton.driver')"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "script.py"


def run(script: Path, program: str, **environment: str) -> str:
    """What a program prints in a process of its own; its kernels are kept in a folder beside it."""
    script.write_text(program)
    found = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "TRITON_CACHE_DIR": str(script.parent / "cache"),
        "TRITON_DEFAULT_BACKEND": "cpu",
        **environment,
    }
    command = [sys.executable, str(script)]
    done = subprocess.run(
        command, env=found, capture_output=True, text=True, check=False, cwd=script.parent, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


ACTIVATED = "import triton\nimport teeny as tn\ntn.triton.activate()\n"
"""For versions of Triton that do not obey the variable, and other tests that come first."""


def test_import_of_triton_loads_next_to_nothing(script: Path) -> None:
    program = (
        "import triton, sys\n"
        "print(sorted(m for m in sys.modules if m.partition('.')[0] in ('teeny', 'torch', 'numpy', 'llvmlite')))\n"
        "from triton.backends import backends\nprint('cpu' in backends)\n"
    )
    lines = run(script, program).splitlines()
    assert lines == ["['teeny', 'teeny.triton', 'teeny.triton.compiler', 'teeny.triton.driver']", "True"]


def test_teeny_imports_triton_when_it_is_needed(script: Path) -> None:
    program = (
        "import sys, pkgutil, importlib, teeny.triton\n"
        "for one in pkgutil.iter_modules(teeny.triton.__path__):\n"
        "    if one.name not in ('compiler', 'driver', 'startup'):\n"
        "        importlib.import_module(f'teeny.triton.{one.name}')\n"
        "print('triton' in sys.modules)\n"
        "import triton, teeny\n"
        "teeny.triton.activate()\n"
    )
    assert run(script, program).split() == ["False"]


def test_import_of_triton_survives_a_broken_teeny(script: Path) -> None:
    program = (
        BROKEN.replace("{allowed}", TWO)
        + KERNEL
        + "print('imported')\ntry:\n    launch()\nexcept RuntimeError as e:\n    print(e)\n"
    )
    assert run(script, program).splitlines() == ["imported", "teeny is broken"]


def test_another_driver_is_not_disturbed_by_a_broken_teeny(script: Path) -> None:
    """As where a GPU is: its driver says that it is active, and teeny's is never made."""
    program = BROKEN.replace("{allowed}", TWO) + (
        "import triton\n"
        "from triton.backends import backends\n"
        "from triton.runtime import driver\n"
        "other = backends['nvidia'].driver\n"
        "other.is_active = classmethod(lambda cls: True)\n"
        "other.__init__ = lambda self: None\n"
        "print(type(driver.active).__module__)\n"
    )
    assert run(script, program, TRITON_DEFAULT_BACKEND="").strip() == "triton.backends.nvidia.driver"


def test_plugins_that_ask_each_other(script: Path) -> None:
    """Another plugin that is active where nobody else is."""
    program = (
        "import triton\n"
        "from triton.backends import backends, Backend\n"
        "from triton.backends.driver import DriverBase\n"
        "class Other(backends['cpu'].driver):\n"
        "    @classmethod\n"
        "    def is_active(cls):\n"
        "        return not any(b.driver.is_active() for b in backends.values() if b.driver is not cls)\n"
        "backends['other'] = Backend(backends['cpu'].compiler, Other)\n"
        "print(backends['cpu'].driver.is_active())\n"
    )
    assert run(script, program, TRITON_DEFAULT_BACKEND="").strip() in ("True", "False")


def test_a_triton_that_asks_for_more_than_we_know(script: Path) -> None:
    """A later version's new abstract methods do not make `import triton` fail."""
    program = (
        "import importlib, sys\n"
        "import triton\n"
        "from triton.backends import _find_concrete_subclasses, compiler, driver\n"
        "import abc\n"
        "for module, base in ((compiler, compiler.BaseBackend), (driver, driver.DriverBase)):\n"
        "    base.brand_new = abc.abstractmethod(lambda self: None)\n"
        "    abc.update_abstractmethods(base)\n"
        "    del sys.modules[f'teeny.triton.{module.__name__.rpartition(\".\")[2]}']\n"
        "    again = importlib.import_module(f'teeny.triton.{module.__name__.rpartition(\".\")[2]}')\n"
        "    print(_find_concrete_subclasses(again, base).__name__)\n"
    )
    assert run(script, program).split() == ["CpuBackend", "CpuDriver"]


def test_without_entry_points(script: Path) -> None:
    """Triton looks for its own backends alone; `activate` brings in the CPU's."""
    program = (
        "from triton.backends import backends\n"
        "assert 'cpu' not in backends\n" + ACTIVATED + KERNEL + "launch()\nprint('done')\n"
    )
    assert run(script, program, TRITON_BACKENDS_IN_TREE="1", TRITON_DEFAULT_BACKEND="").strip() == "done"


def test_the_cache_on_disk(script: Path) -> None:
    """A second process finds the code and compiles nothing."""
    program = (
        KERNEL + "calls = []\n"
        "from teeny.triton import native\n"
        "inner = native.object_stage\n"
        "native.object_stage = lambda text, metadata: (calls.append(1), inner(text, metadata))[1]\n"
        "launch()\nlaunch(200, 64)\nlaunch()\nprint(len(calls))\n"
    )
    assert run(script, program).strip() == "2"
    assert run(script, program).strip() == "0"


def test_a_fork_after_launches(script: Path) -> None:
    program = KERNEL + (
        "import os\n"
        "torch.set_num_threads(1)  # torch's own threads do not survive a fork\n"
        "launch(100_000, 64)\n"
        "children = []\n"
        "for number in range(3):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        launch(100_000, 64)\n"
        "        launch(5_000, 32 << number)\n"
        "        os._exit(7)\n"
        "    children.append(child)\n"
        "print([os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children])\n"
        "launch(100_000, 64)\n"
    )
    assert run(script, program).strip() == "[7, 7, 7]"


def test_threads_that_launch_at_once(script: Path) -> None:
    program = KERNEL + (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    sizes = [(n, b) for b in (16, 64, 128) for n in (10, 1000, 100_000)] * 10\n"
        "    jobs = [pool.submit(launch, n, b) for n, b in sizes]\n"
        "    for job in jobs:\n"
        "        job.result()\n"
        "print('done')\n"
    )
    assert run(script, program).strip() == "done"


def test_workers_of_multiprocessing(script: Path) -> None:
    program = KERNEL + (
        "import multiprocessing\n"
        "torch.set_num_threads(1)\n"
        "if __name__ == '__main__':\n"
        "    launch()\n"
        "    for kind in ('fork', 'spawn'):\n"
        "        with multiprocessing.get_context(kind).Pool(2) as pool:\n"
        "            pool.map(launch, [10, 1000, 5000])\n"
        "    print('done')\n"
    )
    assert run(script, program).strip() == "done"


def test_the_interpreter_stays_triton_s(script: Path) -> None:
    program = KERNEL + "launch()\nprint(type(twice).__name__)\n"
    assert run(script, program, TRITON_INTERPRET="1").strip() == "InterpretedFunction"
