"""f16 and bf16: every value through every operation, on the reference and at each feature level of native code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from bench.accuracy import bound
from bench.exact import errors, exact
from teeny.backends.cpu.kernel import compile_module
from teeny.backends.cpu.target import LEVELS, supported_levels
from teeny.backends.reference import run
from tests.halves import kernels
from tests.halves.values import edge_pairs, every, hard_to_round
from tests.language.meaning import FREE_ZERO, MEANING
from tests.language.meaning import cast as converted
from tests.language.rounding import DTYPES
from tests.language.same import different, told
from tests.language.values import ALL
from tests.oracle import word

if TYPE_CHECKING:
    from teeny.backends.cpu.target import Level

EXECUTORS = ("reference", *(one for one in LEVELS if one in supported_levels() and one not in ("x86-64", "native")))
HALVES = ("f16", "bf16")
BLOCK = 1024


def ran(executor: str, kernel: Any, arrays: list[Any], out: Any, **dtypes: str) -> Any:
    """`out` after a kernel of `kernels` has run over the arrays."""
    import teeny.language as tl

    chosen = {name: getattr(tl, "bool_" if dtype == "bool" else dtype) for name, dtype in dtypes.items()}
    module = kernel.specialize(BLOCK=BLOCK, **chosen).module
    n = arrays[0].size
    assert n % BLOCK == 0
    arguments = [*arrays, out, np.int32(n)]
    grid = (n // BLOCK, 1, 1)
    if executor == "reference":
        run(module, arguments, grid)
    else:
        compile_module(module, cast("Level", executor)).launch([word(a) for a in arguments], grid)
    return out


def padded(x: Any) -> Any:
    return np.ascontiguousarray(np.resize(x, (x.size + BLOCK - 1) // BLOCK * BLOCK))


def compare(name: str, found: Any, wanted: Any, **inputs: Any) -> None:
    wrong = different(found, wanted, free_zero=name in FREE_ZERO)
    assert not wrong.any(), f"{name}: {told(found, wanted, wrong, inputs)}"


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", HALVES)
def test_every_value_through_exact_operations(dtype: str, executor: str) -> None:
    x = every(dtype)
    names = kernels.EXACT_UNARY
    out = ran(executor, kernels.exact_unary, [x], np.zeros(len(names) * x.size, x.dtype), F=dtype)
    with np.errstate(all="ignore"):
        for name, found in zip(names, out.reshape(len(names), -1), strict=True):
            compare(name, found, np.asarray(MEANING[name](x)), x=x)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", HALVES)
def test_every_value_through_elementary_functions(dtype: str, executor: str) -> None:
    """Within the f32 function's error of the right rounding: the f32 result was rounded once."""
    x = every(dtype)
    names = kernels.ELEMENTARY
    out = ran(executor, kernels.elementary, [x], np.zeros(len(names) * x.size, x.dtype), F=dtype)
    for name, found in zip(names, out.reshape(len(names), -1), strict=True):
        error = errors(found, exact(name, x.astype(np.float32)))
        at = int(np.argmax(error))
        assert error[at] <= bound(name, dtype), (name, x[at], found[at], error[at])


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", HALVES)
def test_pairs_at_edges(dtype: str, executor: str) -> None:
    x, y = edge_pairs(dtype)
    names = kernels.BINARY
    out = ran(executor, kernels.binary, [x, y], np.zeros(len(names) * x.size, x.dtype), F=dtype)
    with np.errstate(all="ignore"):
        for name, found in zip(names, out.reshape(len(names), -1), strict=True):
            wanted = MEANING[name](x, y, x) if name == "clamp" else MEANING[name](x, y)
            compare(name, found, np.asarray(wanted), x=x, y=y)
    names = kernels.COMPARED
    flags = ran(executor, kernels.compared, [x, y], np.zeros(len(names) * x.size, np.bool_), F=dtype)
    for name, found in zip(names, flags.reshape(len(names), -1), strict=True):
        compare(name, found, MEANING[name](x, y), x=x, y=y)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", HALVES)
def test_powers_at_edges(dtype: str, executor: str) -> None:
    x, y = edge_pairs(dtype)
    found = ran(executor, kernels.power, [x, y], np.zeros_like(x), F=dtype)
    error = errors(found, exact("pow", x.astype(np.float32), y.astype(np.float32)))
    at = int(np.argmax(error))
    assert error[at] <= bound("pow", dtype), (x[at], y[at], found[at], error[at])


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", HALVES)
def test_fused_products_at_edges(dtype: str, executor: str) -> None:
    x, y = (padded(v[::13]) for v in edge_pairs(dtype))
    out = ran(executor, kernels.fused, [x, y], np.zeros(2 * x.size, x.dtype), F=dtype)
    first, second = out.reshape(2, -1)
    compare("fma", first, MEANING["fma"](x, y, x), x=x, y=y)
    compare("fma", second, MEANING["fma"](x, x, y), x=x, y=y)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", HALVES)
def test_conversions_to_every_dtype(dtype: str, executor: str) -> None:
    x = every(dtype)
    for to in ALL:
        found = ran(executor, kernels.converted, [x], np.zeros(x.size, DTYPES[to]), D=dtype, E=to)
        with np.errstate(all="ignore"):
            compare(f"{dtype} to {to}", found, converted(x, to), x=x)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", HALVES)
def test_conversions_from_every_dtype(dtype: str, executor: str) -> None:
    for source in ALL:
        x = np.arange(BLOCK) % 3 == 0 if source == "bool" else padded(hard_to_round(source, dtype))
        found = ran(executor, kernels.converted, [x], np.zeros(x.size, DTYPES[dtype]), D=source, E=dtype)
        with np.errstate(all="ignore"):
            compare(f"{source} to {dtype}", found, converted(x, dtype), x=x)
