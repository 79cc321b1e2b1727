"""Makes `.venv` and installs the project in it, in editable form, with what a job needs.

Two jobs: `demo` (the package and its Triton backend) and `test` (also the tools of development, and PyTorch where a CPU
build of it is at hand). A stamp in `.venv` remembers what was installed, so that a second call returns at once.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pip_run import Pip, SetupError

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "setup.json"
INPUTS = ("pyproject.toml", "constraints.txt", "tools/environment.py", "tools/pip_run.py")
TORCH = "torch==2.13.0+cpu"
TORCH_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Job:
    """What one `make` target needs: optional dependency groups, PyTorch, free space in GB; and the jobs it serves."""

    serves: tuple[str, ...]
    extras: tuple[str, ...]
    torch: bool
    venv_gb: float
    temporary_gb: float


JOBS = {
    "demo": Job(serves=("demo",), extras=("triton",), torch=False, venv_gb=1.5, temporary_gb=0.5),
    "test": Job(serves=("demo", "test"), extras=("triton", "dev"), torch=True, venv_gb=3.0, temporary_gb=0.5),
}


def say(text: str) -> None:
    """One line of progress, at once."""
    print(f"setup: {text}", flush=True)


def key() -> str:
    """What the environment depends on: the project's files, the interpreter and the place of the folder."""
    digest = hashlib.sha256()
    for name in INPUTS:
        digest.update((ROOT / name).read_bytes())
    digest.update(f"{platform.python_version()} {platform.machine()} {ROOT}".encode())
    return digest.hexdigest()


def stamped_jobs(wanted: str) -> set[str]:
    """The jobs that `.venv` already serves, under the key `wanted`."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return set()
    return set(stamp["jobs"]) if stamp.get("key") == wanted else set()


def venv_python() -> Path:
    """The interpreter inside `.venv`."""
    return VENV / "bin" / "python"


def venv_version() -> str | None:
    """Major and minor version of the Python that made `.venv`; None where there is no working one."""
    if not (VENV / "pyvenv.cfg").exists() or not venv_python().exists():
        return None
    probe = [str(venv_python()), "-c", "import sys, pip; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def check_space(job: Job, present: bool) -> None:
    """Fails when the disk cannot hold what is about to be installed; half of it will do where `.venv` stands."""
    places = [(ROOT, job.venv_gb / 2 if present else job.venv_gb), (Path(tempfile.gettempdir()), job.temporary_gb)]
    if ROOT.stat().st_dev == places[1][0].stat().st_dev:
        places = [(ROOT, places[0][1] + job.temporary_gb)]
    for folder, needed in places:
        free = shutil.disk_usage(folder).free / 1e9
        if free < needed:
            raise SetupError(
                f"the disk is too full: {folder} has {free:.1f} GB free and this needs about {needed:.1f} GB"
            )


def make_venv() -> None:
    """Makes `.venv` anew, or keeps the one that the running Python's version made before."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    present = venv_version()
    if present == version:
        return
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        package = f"python{version}-venv"
        raise SetupError(
            f"{sys.executable} lacks the module {missing[0]} (on Debian and Ubuntu: apt install {package})"
        )
    if VENV.exists() and any(VENV.iterdir()):
        if not (VENV / "pyvenv.cfg").exists():
            raise SetupError(f"{VENV} exists and is no virtual environment; move it away")
        say(f"replacing .venv, which {'does not work' if present is None else f'was made by Python {present}'}")
        shutil.rmtree(VENV)
    say(f"making .venv with Python {platform.python_version()}")
    done = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines()
        raise SetupError(f"python -m venv failed: {lines[-1] if lines else 'it printed nothing'}")


def install_project(pip: Pip, job: Job) -> None:
    """The project itself in editable form with its extras; without Triton where the registry has no wheel of it."""
    pip.install("the build tool", "hatchling")
    editable = ["--no-build-isolation", "--editable"]
    try:
        pip.install(f"teeny with {', '.join(job.extras)}", *editable, f"{ROOT}[{','.join(job.extras)}]")
    except SetupError as failure:
        if failure.unavailable not in {"triton", "cuda-bindings"}:
            raise
        say(f"{failure.unavailable} has no build for this platform: going on without the Triton backend")
        rest = [extra for extra in job.extras if extra != "triton"]
        pip.install("teeny without triton", *editable, f"{ROOT}[{','.join(rest)}]" if rest else str(ROOT))


def install_torch(pip: Pip) -> None:
    """PyTorch, only as a CPU build that pip can find: the local version `+cpu` never names one that brings CUDA."""
    if sys.version_info[:2] != TORCH_PYTHON:
        say(f"no torch: its tests are skipped, for they run on Python {TORCH_PYTHON[0]}.{TORCH_PYTHON[1]} alone")
        return
    try:
        pip.install("torch, CPU build", TORCH)
    except SetupError as failure:
        if failure.unavailable != "torch":
            raise
        say("no torch: its tests are skipped, for pip finds no CPU build of torch 2.13.0")


def set_up(name: str) -> None:
    """Brings `.venv` to what the job `name` needs."""
    job = JOBS[name]
    wanted = key()
    served = stamped_jobs(wanted) if venv_python().exists() else set[str]()
    if name in served:
        say(".venv is up to date")
        return
    started = time.monotonic()
    say(f"preparing .venv for make {name}: about {job.venv_gb:g} GB on disk, a few minutes the first time")
    check_space(job, present=bool(venv_version()))
    make_venv()
    STAMP.unlink(missing_ok=True)
    pip = Pip(venv_python(), ROOT / "constraints.txt", VENV / "setup.log")
    install_project(pip, job)
    if job.torch:
        install_torch(pip)
    STAMP.write_text(json.dumps({"key": wanted, "jobs": sorted(served | set(job.serves))}))
    say(f"ready after {time.monotonic() - started:.0f} s")


def main(arguments: list[str]) -> int:
    """Runs the set-up of one job; 0 when `.venv` is ready, 1 after one sentence about what is in the way."""
    if len(arguments) != 1 or arguments[0] not in JOBS:
        print(f"usage: setup.py {'|'.join(JOBS)}", file=sys.stderr)
        return 2
    try:
        set_up(arguments[0])
    except SetupError as failure:
        print(f"setup: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        print(f"setup: {'the disk is full' if full else error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; run make again to go on", file=sys.stderr)
        return 130
    return 0
