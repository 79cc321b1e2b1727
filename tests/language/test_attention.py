"""The backward pass of attention that the front end is measured with is one: against derivatives in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench import attention
from tests.language.executors import EXECUTORS, launch

Array = np.ndarray[Any, Any]


def forward(q: Array, k: Array, v: Array, bias: Array | None, scale: float, options: dict[str, Any]) -> Any:
    """Output, log-sum-exp and probabilities of one head."""
    s = q @ k.T * scale
    cap, window = options.get("CAP", 0.0), options.get("WINDOW", 0)
    if cap:
        s = cap * np.tanh(s / cap)
    if bias is not None:
        s = s + bias
    behind = (np.arange(len(q)) + len(k) - len(q))[:, None] - np.arange(len(k))[None, :]
    seen = np.ones(s.shape, np.bool_)
    if options["CAUSAL"]:
        seen &= behind >= 0
    if window:
        seen &= (behind < window) & (options["CAUSAL"] | (behind > -window))
    s = np.where(seen, s, -np.inf)
    lse = np.log(np.exp(s).sum(1))
    p = np.exp(s - lse[:, None])
    return p @ v, lse


def gradients(arrays: list[Array], do: Array, bias: Array | None, scale: float, options: dict[str, Any]) -> list[Array]:
    """By central differences, in float64."""
    found: list[Array] = []
    for number, array in enumerate(arrays):
        out = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            sides: list[float] = []
            for step in (1e-5, -1e-5):
                moved = [a.copy() for a in arrays]
                moved[number][at] += step
                sides.append(float((forward(*moved, bias, scale, options)[0] * do).sum()))
            out[at] = (sides[0] - sides[1]) / 2e-5
        found.append(out)
    return found


CASES: dict[str, dict[str, Any]] = {
    "full": {"CAUSAL": False},
    "causal": {"CAUSAL": True},
    "window and cap": {"CAUSAL": True, "WINDOW": 3, "CAP": 2.0},
    "both sides": {"CAUSAL": False, "WINDOW": 4},
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("with_bias", [False, True])
def test_gradients(executor: str, case: str, with_bias: bool) -> None:
    options, rows, cols, head, heads, shared, scale = CASES[case], 5, 7, 4, 2, 2, 0.5
    rng = np.random.default_rng(7)
    q, do = (rng.normal(size=(heads, rows, head)) for _ in range(2))
    k, v = (rng.normal(size=(heads // shared, cols, head)) for _ in range(2))
    bias = rng.normal(size=(heads, rows, cols)) if with_bias else None
    biases = [None if bias is None else bias[h] for h in range(heads)]
    made = [forward(q[h], k[h // shared], v[h // shared], biases[h], scale, options) for h in range(heads)]
    o, lse = np.stack([m[0] for m in made]), np.stack([m[1] for m in made])
    wanted = [gradients([q[h], k[h // shared], v[h // shared]], do[h], biases[h], scale, options) for h in range(heads)]
    f32 = [np.ascontiguousarray(x, np.float32) for x in (q, k, v, do, lse, o)]
    delta, dq = np.zeros((heads, rows), np.float32), np.zeros(q.shape, np.float32)
    dk, dv = np.zeros(k.shape, np.float32), np.zeros(v.shape, np.float32)
    of_q, of_k = [heads * rows * head, rows * head, head], [cols * head, cols * head, head]
    sizes = {"BLOCK_M": 4, "HEAD": head}
    given = None if bias is None else np.ascontiguousarray(bias, np.float32)
    blocks = {"BLOCK_N": 4, "SHARED": shared, "RATE": 0.0, "WINDOW": 0, "CAP": 0.0}
    constants = {**sizes, **blocks, **options}
    arguments = [f32[5], f32[3], delta, *of_q, *of_q, heads, rows]
    launch(attention.row_sums, executor, arguments, (2, heads), sizes, {"F": "f32"})
    assert np.allclose(delta, (o * do).sum(2), atol=1e-5)
    rest = [*of_q, *of_k, *of_k, *of_q, rows * cols, cols, heads, rows, cols, scale, 1]
    inputs = [*f32[:5], delta, given]
    if executor == "reference" and given is None:  # which takes what a specialisation has left
        inputs, constants = inputs[:-1], constants | {"bias_ptr": None}
    arguments = [*inputs, dk, dv, *rest]
    launch(attention.backward_of_keys, executor, arguments, (2, heads // shared), constants, {"F": "f32"})
    launch(attention.backward_of_queries, executor, [*inputs, dq, *rest], (2, heads), constants, {"F": "f32"})
    for h in range(heads):
        assert np.allclose(dq[h], wanted[h][0], atol=2e-4)
    for h in range(heads // shared):
        of = range(h * shared, (h + 1) * shared)
        assert np.allclose(dk[h], sum(wanted[i][1] for i in of), atol=2e-4)
        assert np.allclose(dv[h], sum(wanted[i][2] for i in of), atol=2e-4)
