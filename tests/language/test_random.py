"""Random numbers: the bits of Philox, Triton's for the same seed and offset, and what is made of them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny as tn
import teeny.language as tl
from tests.language import philox
from tests.language.executors import EXECUTORS, launch

I = TypeVar("I", bound=tl.Int)
J = TypeVar("J", bound=tl.Int)
N = 128
SEEDS = {
    "i32": (0, 123, -5, 2**31 - 1),
    "i64": (2**40 + 7, -1, 0x0123456789ABCDEF),
    "u32": (2**32 - 1,),
    "u64": (2**63,),
}
KINDS: dict[str, Any] = {"i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64, "u8": np.uint8}


@tn.kernel
def integers(
    out: tl.Ptr[tl.u32], offsets: tl.Ptr[I], seed: tl.Ptr[J], ROUNDS: tl.Const[int], BLOCK: tl.Const[int]
) -> None:
    at = tl.arange(0, BLOCK)
    offset, key = tl.load(offsets + at), tl.load(seed)
    a, b, c, d = tl.randint4x(key, offset, ROUNDS)
    tl.store(out + at, a)
    tl.store(out + BLOCK + at, b)
    tl.store(out + 2 * BLOCK + at, c)
    tl.store(out + 3 * BLOCK + at, d)
    tl.store(out + 4 * BLOCK + at, tl.randint(key, offset, n_rounds=ROUNDS))


@tn.kernel
def floats(uniform: tl.Ptr[tl.f32], normal: tl.Ptr[tl.f32], seed: tl.Scalar[tl.i32], BLOCK: tl.Const[int]) -> None:
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.rand4x(seed, at)
    e, f, g, h = tl.randn4x(seed, at)
    five = 5 * at
    tl.store(uniform + five, a)
    tl.store(uniform + five + 1, b)
    tl.store(uniform + five + 2, c)
    tl.store(uniform + five + 3, d)
    tl.store(uniform + five + 4, tl.rand(seed, at))
    tl.store(normal + five, e)
    tl.store(normal + five + 1, f)
    tl.store(normal + five + 2, g)
    tl.store(normal + five + 3, h)
    tl.store(normal + five + 4, tl.randn(seed, at))


@tn.kernel
def narrow(out: tl.Ptr[tl.u32], counter: tl.Ptr[tl.u32], BLOCK: tl.Const[int]) -> None:
    """A Const seed, and literals in the counter."""
    at = tl.arange(0, BLOCK)
    c = tl.load(counter + at)
    a, b, e, f = tl.philox(99, c, c + 1, 7, 0)
    tl.store(out + at, a)
    tl.store(out + BLOCK + at, b)
    tl.store(out + 2 * BLOCK + at, e)
    tl.store(out + 3 * BLOCK + at, f)


@tn.kernel
def wide(out: tl.Ptr[tl.u64], counter: tl.Ptr[tl.u64], BLOCK: tl.Const[int]) -> None:
    at = tl.arange(0, BLOCK)
    c = tl.load(counter + at)
    a, b, e, f = tl.random.philox(99, c, c + 1, 7, 0)
    tl.store(out + at, a)
    tl.store(out + BLOCK + at, b)
    tl.store(out + 2 * BLOCK + at, e)
    tl.store(out + 3 * BLOCK + at, f)


def offsets_of(kind: str) -> Any:
    rng: Any = np.random.default_rng(1)
    limits = np.iinfo(KINDS[kind])
    some = rng.integers(limits.min, limits.max, N - 32, dtype=KINDS[kind], endpoint=True)
    return np.concatenate([np.arange(32).astype(KINDS[kind]), some])


def test_the_known_answers() -> None:
    """Philox4x32-10 of all zeros and all ones, from the authors' test vectors."""
    zeros = [int(v) for v in philox.philox((0, 0), (0, 0, 0, 0))]
    ones = [int(v) for v in philox.philox((2**32 - 1, 2**32 - 1), (2**32 - 1,) * 4)]
    assert zeros == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert ones == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed_kind", SEEDS)
def test_integers(kind: str, seed_kind: str, executor: str) -> None:
    offset = offsets_of(kind)
    for seed in SEEDS[seed_kind]:
        for rounds in (10, 7):
            out = np.zeros(5 * N, np.uint32)
            arguments = [out, offset, np.array([seed], KINDS[seed_kind])]
            launch(
                integers, executor, arguments, constants={"ROUNDS": rounds, "BLOCK": N},
                dtypes={"I": kind, "J": seed_kind},
            )  # fmt: skip
            wanted = philox.randint4x(seed, offset, rounds)
            assert (out == np.concatenate([*wanted, wanted[0]])).all()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_counters_of_either_width(executor: str) -> None:
    for kind, kernel in (("u32", narrow), ("u64", wide)):
        counter = offsets_of(kind)
        out = np.zeros(4 * N, KINDS[kind])
        launch(kernel, executor, [out, counter], constants={"BLOCK": N})
        bits = 8 * counter.dtype.itemsize
        wanted = philox.philox((99, 0), (counter, counter.astype(object) + 1, 7, 0), bits)
        assert (out == np.concatenate(wanted)).all()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_floats(executor: str) -> None:
    """Uniform numbers bit for bit, normal ones to some ulp of the product of a root and a cosine."""
    uniform, normal = np.zeros((2, 4 * N, 5), np.float32)
    launch(floats, executor, [uniform, normal, 77], grid=(4,), constants={"BLOCK": N})
    words = philox.randint4x(77, np.arange(4 * N, dtype=np.int32))
    wanted = [philox.uniform(v) for v in words]
    assert (uniform == np.stack([*wanted, wanted[0]], 1)).all()
    assert (0 <= uniform).all()
    assert (uniform < 1).all()
    pairs = [*philox.normal(wanted[0], wanted[1]), *philox.normal(wanted[2], wanted[3])]
    exact = np.stack([*pairs, pairs[0]], 1)
    assert (np.abs(normal - exact) <= 5 * np.spacing(np.abs(exact).astype(np.float32))).all()


def test_the_whole_range_stays_below_one() -> None:
    words = np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)
    assert philox.uniform(words).max() < 1
    assert philox.uniform(words.astype(np.uint64) * 0x1_0000_0001).max() < 1


def test_they_are_spread_evenly() -> None:
    uniform, normal = np.zeros((2, 64 * N, 5), np.float32)
    launch(floats, "cpu", [uniform, normal, 5], grid=(64,), constants={"BLOCK": N})
    assert abs(uniform[:, :4].mean() - 0.5) < 0.01
    assert abs(normal[:, :4].mean()) < 0.03
    assert abs(normal[:, :4].std() - 1) < 0.03
    counts, _ = np.histogram(uniform[:, :4], 16, (0, 1))
    assert (np.abs(counts - counts.mean()) < 5 * np.sqrt(counts.mean())).all()


TRITON = """
import sys
import numpy as np
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(out, uniform, normal, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(out + 4 * at, a)
    tl.store(out + 4 * at + 1, b)
    tl.store(out + 4 * at + 2, c)
    tl.store(out + 4 * at + 3, d)
    tl.store(uniform + at, tl.rand(seed, at))
    tl.store(normal + at, tl.randn(seed, at))

n = 256
for seed in (0, 123, 2**40 + 7):
    out = torch.zeros(4 * n, dtype=torch.uint32)
    uniform, normal = torch.zeros(n), torch.zeros(n)
    kernel[(2,)](out, uniform, normal, seed, BLOCK=n // 2)
    np.savez(f"{sys.argv[1]}/{seed}.npz", out=out.numpy(), uniform=uniform.numpy(), normal=normal.numpy())
"""


@pytest.mark.skipif(
    not {"triton", "torch"} <= {d.name for d in metadata.distributions()}, reason="needs Triton and torch"
)
def test_triton_gives_the_same(tmp_path: Path) -> None:
    """Its interpreter, in a process of its own."""
    script = tmp_path / "script.py"
    script.write_text(TRITON, "utf-8")
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    offset = np.arange(256, dtype=np.int32)
    for seed in (0, 123, 2**40 + 7):
        theirs = np.load(tmp_path / f"{seed}.npz")
        kind = "i32" if seed < 2**31 else "i64"
        out = np.zeros(5 * 256, np.uint32)
        launch(integers, "cpu", [out, offset, np.array([seed], KINDS[kind])], constants={"ROUNDS": 10, "BLOCK": 256})
        words = out.reshape(5, 256)[:4].T.ravel()
        assert (theirs["out"] == words).all()
        if kind == "i32":
            uniform, normal = np.zeros((2, 256, 5), np.float32)
            launch(floats, "cpu", [uniform, normal, seed], grid=(2,), constants={"BLOCK": 128})
            assert (theirs["uniform"] == uniform[:, 4]).all()
            ours = normal[:, 4].astype(np.float64)
            assert (np.abs(theirs["normal"] - ours) <= 6 * np.spacing(np.abs(normal[:, 4]))).all()
