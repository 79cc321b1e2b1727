"""The text against Triton's own parser and printer: every operation, the kernels in text, and Triton's own kernels."""

from __future__ import annotations

import linecache
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from teeny.backends.triton.wheel import version
from teeny.ir.core import Module, walk_function
from teeny.ir.schema import dtype_of
from teeny.ir.text import parse_module, print_module
from teeny.ir.verify import verify
from teeny.ops.vocabulary import numpy_dtype
from tests.kernels_text import NAMES, load
from tests.operations import concrete, examples
from tests.strategies import Sample, samples
from tests.triton_text import through_triton
from tests.views import GONE

pytest.importorskip("triton", reason="needs Triton")


NEWER = (
    "tt.approx_divf", "tt.atomic_load", "tt.atomic_poll", "tt.atomic_store", "tt.grid_dependency_launch_dependents",
    "tt.grid_dependency_wait",
)  # fmt: skip


def nameless(module: Module) -> str:
    """The text of a module with its values numbered and its float constants rounded to their dtypes."""
    for function in module.functions:
        for value in function.args:
            value.name = None
        for op in walk_function(function):
            value = op.attrs.get("value")
            if isinstance(value, float):
                op.attrs["value"] = float(np.asarray(value).astype(numpy_dtype(np, dtype_of(op.results[0].type))))
            for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
                value.name = None
    return print_module(module)


def there_and_back(module: Module) -> None:
    """Triton reads our text, we read Triton's, and it is the same module."""
    text = print_module(module)
    for locations in (False, True):
        read = parse_module(through_triton(text, locations=locations))
        verify(read, concrete=True)
        assert nameless(read) == nameless(parse_module(text))


@pytest.mark.parametrize("schema", concrete(), ids=lambda s: s.name)
def test_every_operation(schema: Any) -> None:
    if schema.name in GONE and version() >= "3.8":
        pytest.skip("Triton has no block pointers from 3.8 on")
    if schema.name in NEWER and version() < "3.9":
        pytest.skip("Triton has it from 3.9 on")
    for name, module in examples(schema):
        try:
            there_and_back(module)
        except RuntimeError as error:
            raise AssertionError(f"Triton does not read {name}:\n{print_module(module)}") from error


@pytest.mark.parametrize("name", NAMES)
def test_kernels(name: str) -> None:
    there_and_back(load(name))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(samples())
def test_random_modules(sample: Sample) -> None:
    there_and_back(sample.module)


def test_locations_are_read() -> None:
    text = print_module(load("softmax"), locations=True)
    printed = through_triton(text, locations=True)
    assert 'loc("softmax.ttir":3:3)' in printed  # of the function
    assert 'loc("softmax.ttir":5:12)' in printed  # of an operation
    operations = [line for line in printed.splitlines() if "loc(" in line and "%" in line and "^bb0" not in line]
    assert [line for line in operations if ".ttir" in line and "softmax.ttir" not in line] == operations[
        :1
    ]  # parameters


SOURCE = """
import triton
import triton.language as tl

@triton.jit
def both(x, y):
    return tl.maximum(x, y) * 2.0, x

@triton.jit(noinline=True)
def next_of(x):
    return x + 1

@triton.jit
def kernel(x_ptr, y_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=-float("inf"), eviction_policy="evict_last", volatile=True)
    x = tl.max_contiguous(tl.multiple_of(offs * 4, 4), 4) + x
    e = tl.exp(x - tl.max(x, axis=0))
    acc = tl.zeros((B,), tl.float32)
    for i in tl.range(0, n, B, num_stages=3, flatten=True):
        a, b = both(x, e)
        acc += a
        if i > 3:
            acc += b
    j = n
    while j > 0:
        j = next_of(j) // 3
    square = tl.reshape(acc, (B // 8, 8)) + tl.trans(tl.reshape(acc, (8, B // 8)))
    s = tl.sum(tl.sum(square, axis=1), axis=0)
    q = tl.where(mask, e / (tl.sum(e) + s), float("nan"))
    tl.store(y_ptr + offs, q.to(tl.float16) + j.to(tl.float32), mask=mask)
"""


@cache
def from_triton() -> str:
    """The text of a kernel of Triton's own language, after the passes over its dialect."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend

    linecache.cache["jit.py"] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), "jit.py")
    scope: dict[str, Any] = {"__name__": "jit"}
    exec(compile(SOURCE, "jit.py", "exec"), scope)
    target = GPUTarget("cuda", 90, 32)
    backend: Any = make_backend(target)
    options = backend.parse_options({"enable_fp_fusion": True})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "B": "constexpr"}
    source = ASTSource(scope["kernel"], signature, {(3,): 128}, {(0,): [["tt.divisibility", 16]]})
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = source.make_ir(target, options, functions, modules, context)
    return str(backend.make_ttir(module, {}, options, 90))


def test_what_triton_makes_of_its_own_kernels_is_read() -> None:
    module = parse_module(from_triton())
    names = {op.name for f in module.functions for op in walk_function(f)}
    assert {"scf.for", "scf.while", "scf.if", "tt.reduce", "tt.trans", "tt.reshape", "tt.call"} <= names
    assert [f.public for f in module.functions] == [True, False]
    assert module.kernel.arg_attrs[0] == {"tt.divisibility": 16}
    there_and_back(module)
