"""A remembered check is found again exactly while nothing that it depends on has changed."""

from __future__ import annotations

import importlib
import json
import sys
import timeit
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teeny.diag import Location, at, report
from teeny.frontend import remember as memory
from teeny.frontend.remember import Remembered, flush, forget, recall, remember
from teeny.frontend.source import source_of
from teeny.frontend.uses import describe, uses_of
from teeny.ir.store import Store

KERNELS = """
from typing import TypeVar

import teeny.language as tl
import sizes_of_test
from helpers_of_test import ACCURACY, Real, scale as times
from teeny.language import Const, Ptr

D = TypeVar("D", bound=tl.Float)
STEP = 3


def near(x: tl.Tensor[D]) -> tl.Tensor[D]:
    return x + STEP


Vector = tl.Tensor[tl.i32] | Ptr[D]


def kernel(x: Ptr[Real], n: "tl.Scalar[tl.i32]" = None, BLOCK: Const[int] = 16) -> None:
    o: Vector = tl.arange(0, sizes_of_test.Sizes.BLOCK)
    tl.store(x + o, times(near(tl.load(x + o))) * ACCURACY * float("1") + sizes_of_test.MARGIN)


def other(x: Ptr[D]) -> None:
    y = x
"""
HELPERS = """
from typing import TypeVar

import teeny.language as tl
from further_of_test import LIMIT, deep

Real = TypeVar("Real", bound=tl.Float)
ACCURACY = 0.5


def scale(x):
    if LIMIT:
        return deep(x) * SHIFT
    return scale(x)


SHIFT = 2
"""
FURTHER = """
LIMIT = (1, "a", None, True)


def deep(x):
    return x
"""
SIZES = "MARGIN: int = 1\nclass Sizes:\n    BLOCK = 16\n    UNUSED = 1\n"
FILES = {
    "kernels_of_test": KERNELS,
    "helpers_of_test": HELPERS,
    "further_of_test": FURTHER,
    "sizes_of_test": SIZES,
}
WARNING = report("F001", "undefined lanes", severity="warning")


class Program:
    """A program of four modules on disk, and a cache folder: each `load` is what a new process would see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.write(FILES)

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)

    def load(self) -> tuple[ModuleType, Store]:
        flush()
        forget()
        for name in FILES:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        sys.path.insert(0, str(self.folder))
        write_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            return importlib.import_module("kernels_of_test"), Store(self.cache)
        finally:
            sys.dont_write_bytecode = write_bytecode
            sys.path.remove(str(self.folder))

    def recalled(self, name: str = "kernel") -> Remembered | None:
        module, store = self.load()
        return recall(getattr(module, name), store=store)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    yield Program(tmp_path)
    forget()
    for name in FILES:
        sys.modules.pop(name, None)


def keep(program: Program, name: str = "kernel", outcome: Remembered | None = None) -> bool:
    module, store = program.load()
    fn = getattr(module, name)
    return remember(fn, source_of(fn), outcome or Remembered(obligations=[1, "x"]), store=store)


def test_the_outcome_comes_back_whole(program: Program) -> None:
    module, store = program.load()
    fn = module.kernel
    source = source_of(fn)
    place = Location(source.span(source.tree.body[1]), None, Location(source.name_span, "near"))
    warning = report("F001", "undefined lanes", at(place, "here"), help=("fill them",), severity="warning")
    outcome = Remembered((warning,), [{"op": "pow2", "dim": "BLOCK"}], {"D": ["f64"]})
    assert remember(fn, source, outcome, store=store)
    assert recall(fn, store=store) == outcome
    assert program.recalled() == outcome
    assert program.recalled("other") is None


def test_several_kernels_of_a_file(program: Program) -> None:
    module, store = program.load()
    for number, name in enumerate(("kernel", "other")):
        fn = getattr(module, name)
        assert remember(fn, source_of(fn), Remembered(obligations=number), store=store)
    assert [program.recalled(name) for name in ("other", "kernel")] == [
        Remembered(obligations=1),
        Remembered(obligations=0),
    ]
    assert len(list((program.cache / "records").iterdir())) == 1


def test_errors_are_not_remembered(program: Program) -> None:
    assert not keep(program, outcome=Remembered((WARNING, report("T001", "wrong type"))))
    assert program.recalled() is None


CHANGES = {
    "helper's global": ("helpers_of_test", "SHIFT = 2", "SHIFT = 3"),
    "helper's name of another module": ("further_of_test", "(1,", "(2,"),
    "type in a tuple": ("further_of_test", "True", "1"),
    "helper's text": ("further_of_test", "return x", "return -x"),
    "comment in a helper's file": ("helpers_of_test", "ACC", "# more\nACC"),
    "constant": ("helpers_of_test", "0.5", "0.25"),
    "type of a constant": ("helpers_of_test", "ACCURACY = 0.5", "ACCURACY = 1"),
    "type variable": ("helpers_of_test", "bound=tl.Float", "bound=tl.Num"),
    "constant in a class": ("sizes_of_test", "BLOCK = 16", "BLOCK = 32"),
    "constant of a module": ("sizes_of_test", "MARGIN: int = 1", "MARGIN: int = 2"),
    "declaration of a constant": ("sizes_of_test", "MARGIN: int = 1", "MARGIN = 1"),
    "class replaced": ("sizes_of_test", "class Sizes:\n    BLOCK = 16\n    UNUSED = 1\n", "Sizes = None\n"),
    "comment in the file": ("kernels_of_test", "STEP =", "# more\nSTEP ="),
    "own constant": ("kernels_of_test", "STEP = 3", "STEP = 4"),
    "default": ("kernels_of_test", "= 16", "= 32"),
    "type of a local": ("kernels_of_test", "tl.Tensor[tl.i32] | Ptr", "tl.Tensor[tl.i64] | Ptr"),
    "another object under the name": ("kernels_of_test", "import Const, Ptr", "import Const, Tensor as Ptr"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_is_used_is_noticed(program: Program, change: str) -> None:
    assert keep(program)
    assert program.recalled() is not None
    name, old, new = CHANGES[change]
    assert old in FILES[name]
    program.write({name: FILES[name].replace(old, new)})
    assert program.recalled() is None
    program.write(FILES)
    assert program.recalled() is not None


def test_a_change_of_what_is_not_used_is_ignored(program: Program) -> None:
    assert keep(program)
    program.write({"sizes_of_test": SIZES.replace("UNUSED = 1", "UNUSED = 2")})
    assert program.recalled() is not None
    module, store = program.load()
    module.__dict__["unrelated"] = 5
    assert recall(module.kernel, store=store) is not None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_edit_of_a_file_that_holds_code_of_the_kernel_is_noticed(program: Program, data: st.DataObject) -> None:
    program.write(FILES)
    keep(program)
    name = data.draw(st.sampled_from(["kernels_of_test", "helpers_of_test", "further_of_test"]))
    lines = FILES[name].splitlines()
    line = data.draw(st.integers(0, len(lines) - 1))
    extra = data.draw(st.text("# abcäZ_09", max_size=12))
    edited = "\n".join([*lines[:line], f"{lines[line]}  #{extra}", *lines[line + 1 :]]) + "\n"
    program.write({name: edited})
    assert program.recalled() is None
    program.write(FILES)
    assert program.recalled() is not None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["ACCURACY", "tl", "Ptr", "Real", "times", "near", "sizes_of_test", "float"]),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.tuples(st.integers(), st.text()),
)
def test_any_other_value_of_a_name_is_noticed(program: Program, name: str, value: object) -> None:
    keep(program)
    module, store = program.load()
    same = name in module.__dict__ and describe(module.__dict__[name]) == describe(value)
    module.__dict__[name] = value
    assert (recall(module.kernel, store=store) is not None) == same


def test_settings_and_closures_are_told_apart(program: Program) -> None:
    text = "def make(size):\n    def inner(x: int) -> int:\n        return size\n    return inner\n"
    program.write({"kernels_of_test": text})
    module, store = program.load()
    for size, options in ((1, "a"), (2, "a"), (2, "b")):
        fn = module.make(size)
        assert remember(fn, source_of(fn), Remembered(obligations=f"{size}{options}"), options, store)
    module, store = program.load()
    found = [[recall(module.make(size), options, store) for size in (1, 2, 3)] for options in "ab"]
    assert found == [
        [Remembered(obligations="1a"), Remembered(obligations="2a"), None],
        [None, Remembered(obligations="2b"), None],
    ]


@pytest.mark.parametrize(
    "value", ["object()", "[1]", "{}", "type('A', (), {})", "__import__('re').compile('x')"], ids=str
)
def test_what_cannot_be_compared_is_not_remembered(program: Program, value: str) -> None:
    program.write({"kernels_of_test": f"THING = {value}\n\ndef kernel(x: int) -> None:\n    y = THING\n"})
    assert not keep(program)
    program.write({"kernels_of_test": "def kernel(x: int) -> None:\n    y = nowhere\n"})
    assert not keep(program)


def test_foreign_decorators_do_not_matter(program: Program) -> None:
    text = "def other(f):\n    return f\nMARK = object()\n\n@other\ndef kernel(x: int) -> None:\n    y = x\n"
    program.write({"kernels_of_test": text + "kernel.mark = MARK\n"})
    assert keep(program)
    assert program.recalled() is not None


def test_another_teeny_forgets(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert keep(program)
    flush()
    monkeypatch.setattr(memory, "fingerprint", lambda: "another")
    assert program.recalled() is None
    monkeypatch.undo()
    assert program.recalled() is not None


def test_a_record_of_another_shape_is_no_record(program: Program) -> None:
    assert keep(program)
    flush()
    store = Store(program.cache)
    name = f"checks of {program.folder / 'kernels_of_test.py'}"
    record = store.get_record(name)
    assert record is not None
    for spoiled in ("{}", '{"kernel:18": 3}', '{"kernel:18": [{"uses": []}]}', '{"kernel:18": [[]]}'):
        store.put_record(name, {**record, "kernels": json.loads(spoiled)})
        assert program.recalled() is None


def test_text_in_no_file_is_not_remembered(tmp_path: Path) -> None:
    namespace: dict[str, FunctionType] = {}
    exec("def made(x): return x", namespace)
    assert recall(namespace["made"], store=Store(tmp_path / "cache")) is None


def test_the_same_function_twice_and_in_a_ring(program: Program) -> None:
    text = "def a(x):\n    return b(x) + c(x)\ndef b(x):\n    return a(x)\nc = b\n"
    text += "def kernel(x: int) -> None:\n    y = a(x)\n"
    program.write({"kernels_of_test": text})
    module, _ = program.load()
    uses = uses_of(module.kernel, source_of(module.kernel))
    assert uses is not None
    assert [(use.function, use.name, use.helper) for use in uses] == [
        (0, "int", 0),
        (0, "a", 1),
        (1, "b", 2),
        (1, "c", 2),
        (2, "a", 1),
    ]
    assert keep(program)
    assert program.recalled() is not None
    module, store = program.load()
    module.__dict__["c"] = FunctionType(module.b.__code__, {})
    assert recall(module.kernel, store=store) is None


def test_the_memory_is_fast(program: Program) -> None:
    for name in ("kernel", "other"):
        keep(program, name)
    module, store = program.load()
    first = timeit.timeit(lambda: recall(module.kernel, store=store), number=1)
    further = min(timeit.repeat(lambda: recall(module.other, store=store), number=100, repeat=5)) / 100
    assert first < 5e-3
    assert further < 50e-6
