"""What `teeny check` assumes of kernels of Triton by how they use their parameters, and what launches say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from teeny.cli.main import main

pytest.importorskip("triton")

HEAD = "import triton\nimport triton.language as tl\n\n\n"
STORE = "\n    i = tl.arange(0, B)\n    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)\n"

USED = {
    "for d in tl.static_range(len(X)):\n        tl.store(x_ptr, X[d])": "(16, 16)",
    "tl.store(x_ptr + tl.arange(0, X[2]), X[0])": "(16, 16, 16)",
    "p, q, r = X\n    tl.store(x_ptr + p, q + r)": "(16, 16, 16)",
    "if X == 'sum':\n        y = 1\n    elif X == 'max':\n        y = 2\n    tl.store(x_ptr, y)": "sum",
    "if X == 3:\n        y = 1\n    elif X == 5:\n        y = 2\n    tl.store(x_ptr, y)": "3",
    "tl.store(x_ptr + tl.arange(0, B), tl.zeros((B,), X))": "tl.float32",
    "tl.store(x_ptr + tl.arange(0, B), tl.full((B,), 1, dtype=X))": "tl.float32",
    "tl.store(x_ptr, tl.load(x_ptr).to(X))": "tl.float32",
    "if X == tl.float16:\n        tl.store(x_ptr, 1)": "tl.float32",
    "y = tl.load(x_ptr)\n    if X is not None:\n        y = X(y)\n    tl.store(x_ptr, y)": (
        "(a function that gives its first argument)"
    ),
    "if X is None:\n        tl.store(x_ptr, 1)": "None",
    "if not X:\n        tl.store(x_ptr, 1)": "False",
    "tl.store(x_ptr + tl.arange(0, X), 1)": "64",
    "tl.store(x_ptr + tl.arange(0, 16), tl.load(x_ptr + tl.arange(0, 16), eviction_policy=X))": "evict_last",
}


@pytest.mark.parametrize("body", USED)
def test_constants_by_their_use(body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(f"{HEAD}@triton.jit\ndef k(x_ptr, X: tl.constexpr, B: tl.constexpr):\n    {body}{STORE}")
    status = main(["check", str(path)])
    out = capsys.readouterr().out
    assert status == 0, out
    assert f"`k`: assumed: x_ptr=*fp32, X={USED[body]}, B=64" in out


def test_configurations_and_heuristics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        f"{HEAD}@triton.autotune(configs=[triton.Config({{'B': 256}})], key=[])\n"
        "@triton.heuristics({'EVEN': lambda a: a['n'] % a['B'] == 0, 'P': lambda a: triton.next_power_of_2(a['n'])})\n"
        "@triton.jit\ndef k(x_ptr, n, B: tl.constexpr, EVEN: tl.constexpr, P: tl.constexpr):\n"
        "    tl.static_assert(P >= B)" + STORE
    )
    assert main(["check", str(path)]) == 0
    assert "`k`: assumed: x_ptr=*fp32, n=i32, B=256, EVEN=False, P=1024" in capsys.readouterr().out


def test_constants_of_launches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        f"{HEAD}WIDTH = 128\n@triton.jit\ndef relu(x):\n    return tl.maximum(x, 0)\n\n\n"
        "@triton.jit\ndef k(x_ptr, F: tl.constexpr, D: tl.constexpr, M: tl.constexpr, T: tl.constexpr, "
        f"B: tl.constexpr):\n    tl.store(x_ptr, F(tl.load(x_ptr).to(D)) + T[1])\n    tl.static_assert(M == 'a'){STORE}"
        "def run(x):\n    k[(1,)](x, relu, D=tl.float16, M='a', T=[1, 2], B=WIDTH)\n"
    )
    assert main(["check", str(path)]) == 0
    assert "x_ptr=*fp32, F=relu, D=tl.float16, M=a, T=(1, 2), B=128" in capsys.readouterr().out


def test_parameters_that_are_descriptors_and_tuples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        f"{HEAD}@triton.jit\ndef k(desc, xs, sizes, B: tl.constexpr):\n    x = desc.load([0, 0])\n"
        "    y = tl.load(xs[0]) + tl.load(xs[1] + sizes[2])\n    desc.store([0, 0], x + y)\n"
    )
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "desc=tensordesc<fp32[64, 64]>, xs=('*fp32', '*fp32'), sizes=('i32', 'i32', 'i32')" in out
    stated = "k: desc=tensordesc<fp16[16, 32]>, xs=('*fp16', '*i32'), sizes=('i32', 'i32', 'i64'), B=4"
    assert main(["check", str(path), "--signature", stated]) == 0
    assert "as stated: desc=tensordesc<fp16[16, 32]>" in capsys.readouterr().out


def test_triton_under_other_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import triton as T\nfrom triton import language as L\n"
        "@T.autotune(configs=[T.Config({'B': 32})], key=[])\n@T.heuristics({'E': lambda a: a['n'] % a['B'] == 0})\n"
        "@T.jit\ndef k(x_ptr, n, B: L.constexpr, E: L.constexpr):\n    i = L.arange(0, B)\n"
        "    L.store(x_ptr + i, L.max(L.load(x_ptr + i, mask=i < n, other=0.0), 0), mask=i < n)\n"
    )
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "error[F002]" in out
    assert "x_ptr=*fp32, n=i32, B=32, E=False" in out


def test_a_kernel_named_like_a_function_of_triton(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        f"{HEAD}@triton.jit\ndef load(x_ptr, B: tl.constexpr):\n    i = tl.arange(0, B)\n"
        "    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1)\n"
    )
    assert main(["check", str(path)]) == 0
    assert "`load`: assumed" in capsys.readouterr().out
