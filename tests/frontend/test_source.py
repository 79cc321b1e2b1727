"""A function's tree stands where the function stands in its file, and what has no source says so."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from teeny.diag import KernelError, Span
from teeny.frontend.files import file_digest, load_file
from teeny.frontend.names import Missing, resolve
from teeny.frontend.source import KernelSource, annotation_strings, source_of

Load = Callable[..., ModuleType]
EXACT: dict[str, str] = {
    "top": "\n\nX = 1\ndef f(x: int, *, y=X) -> None:\n    z = x + y\n    return z\n\nY = 2\n",
    "decorated": """
        def keep(*a, **k): return lambda f: f


        @keep(
            1,
            key=2,
        )
        # between
        @keep()

        def f(
            x: int,
            y: "int" = 3,
        ) -> None:
            '''Text

            at two levels.'''
            return (x
        + y
        )
    """,
    "nested": """
        def outer():
            if True:
                def f(x):
                    # comment
                    def inner(y):
                        return y + 1

                    return inner(x)
        \t# comment at another depth

                return f
        f = outer()
    """,
    "method": """
        class A:
            class B:
                @staticmethod
                def f(x): return [x + 1 for y in (1, 2)]
            z = 3
        f = A.B.f
    """,
    "tabs": "if True:\n\tdef f(x):\n\t\tif x:\n\t\t    return x + 1\n\t\treturn 'ä' + x\n",
    "mixed": "if True:\n  def f(x):\n  \tif x:\n  \t\treturn x + 1\n  \treturn x\n",
    "form_feed": "\f\ndef f(x):\n    return x + 1\n\f\ndef g(): return 0\n",
    "wide": "Ä = 2\nif Ä:\n    def f(größe, 名):\n        é = 'ü' + größe; ß = 名 + é\n        return '𝔘' + ß\n",
    "strings": 'if 1:\n    def f(x):\n        y = """\nat the margin\n"""\n        return y + f"{x} {y!r}"\ng = 1\n',
    "brackets": "if 1:\n    def f(x):\n        return (x,\n1 +\n2\n)\ng = 1\n",
    "continued": "if 1:\n    def f(x): \\\n\n        return x + \\\n 1\n",
    "dead": "def f(x):\n    if x:\n        return x\n    else:\n        return 2\n    y = x + 1\n    ...\n\n\nz = 1\n",
    "only_text": "if 1:\n    def f(x):\n        '''Only\na text'''\n    def g(x): return x\n",
    "ellipsis": "def f(x): ...\ndef g(y): ...\n",
    "escape": "def f(x):\n    return x + '\\d' + r'\\d'\n",
    "no_newline": "def f(x):\n    return x + 1",
    "parenthesised_decorator": "def keep(f): return f\n@(\n  keep\n)\ndef f(x):\n    return x\n",
    "first_line": "def f(x): return x + 1\n",
    "private": "class A:\n    def f(__x, y): return y.__z + __x\nf = A.f\n",
}


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write text or bytes to a file and import it as a module."""

    def make(text: str | bytes, name: str = "module_under_test") -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


def assert_exact(source: KernelSource) -> None:
    """Each expression's span in the file holds that expression; each parameter's holds its name."""
    skipped: set[int] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node)}
        if id(node) in skipped:
            continue
        if isinstance(node, ast.expr):
            again = ast.parse(f"({source.span(node).text}\n)", mode="eval").body
            assert ast.dump(again).replace("Load()", "Store()") == ast.dump(node).replace("Load()", "Store()")
        elif isinstance(node, ast.arg):
            assert source.span(node).text.startswith(node.arg)


@pytest.mark.filterwarnings("ignore:invalid escape")
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("ends", ["lf", "crlf", "cr", "bom"])
def test_every_node_stands_in_the_file(load: Load, name: str, ends: str) -> None:
    text = EXACT[name]
    text = textwrap.dedent(text) if text.startswith("\n    ") else text
    if name == "nested":
        text = text.replace("\\t", "\t")
    data = text.encode()
    if ends == "bom":
        data = b"\xef\xbb\xbf" + data
    else:
        data = data.replace(b"\n", {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}[ends])
    fn = load(data).f
    source = source_of(fn)
    whole = ast.parse(data)
    wanted = next(n for n in ast.walk(whole) if isinstance(n, ast.FunctionDef) and n.name == "f")
    assert ast.dump(source.tree, include_attributes=True) == ast.dump(wanted, include_attributes=True)
    first = min((wanted.lineno, *(d.lineno for d in wanted.decorator_list)))
    assert (source.first_line, source.last_line) == (first, wanted.end_lineno)
    assert source.name_span.text == "def f"
    assert_exact(source)


def test_an_encoding_cookie_is_obeyed(load: Load) -> None:
    source = source_of(load("# coding: latin-1\ndef f(x):\n    return 'ä' + x\n".encode("latin-1")).f)
    statement = source.tree.body[0]
    assert isinstance(statement, ast.Return)
    assert source.span(statement).text == "return 'ä' + x"
    assert statement.end_col_offset == 4 + len("return 'ä' + x".encode())


def test_annotations_are_text(load: Load) -> None:
    text = """
        def f(a: "p.Ptr[D]", b: p.Scalar[ i32 ], /, c, *d: int, e: tuple[
            int, str] = 1, ä: 'q' = 2, **g: None) -> p.Tensor["D"]: ...
    """
    module = load("from __future__ import annotations\n" + textwrap.dedent(text))
    assert annotation_strings(source_of(module.f)) == {
        "a": "p.Ptr[D]",
        "b": "p.Scalar[ i32 ]",
        "c": None,
        "d": "int",
        "e": "tuple[int, str]",
        "ä": "q",
        "g": "None",
        "return": 'p.Tensor["D"]',
    }


def test_text_registered_in_linecache_is_used() -> None:
    for number, body in enumerate(("return x + 1", "return x + 2")):
        name, text = "<cell 7>", "\n" * number + f"def f(x):\n    {body}\n"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        namespace: dict[str, Any] = {}
        exec(compile(text, name, "exec"), namespace)
        source = source_of(namespace["f"])
        assert source.span(source.tree.body[0]).text == body
        assert source.first_line == number + 1
        assert file_digest(namespace["f"]) is None


def test_a_function_in_a_test_module_and_in_a_function() -> None:
    def here(x: int) -> int:
        assert x, "rewritten by pytest"
        return x + 1

    source = source_of(here)
    assert [source.span(s).text for s in source.tree.body] == ['assert x, "rewritten by pytest"', "return x + 1"]
    assert source.file.name == __file__


def run_python(arguments: list[str], **more: Any) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


PROGRAM = """
import sys
from teeny.frontend.source import source_of
def f(x):
    return x + 1
try:
    print(source_of(f).span(source_of(f).tree.body[0]).text)
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize("flags", [["-c"], ["-B", "-X", "dev", "-c"], ["-W", "ignore", "-Bc"], ["-Wignore", "-c"]])
def test_command_line_programs(flags: list[str]) -> None:
    assert run_python([*flags, PROGRAM, "-c", "more"]) == "return x + 1\n"


def test_the_command_joined_to_its_flag() -> None:
    assert run_python(["-c" + PROGRAM]) == "return x + 1\n"


def test_standard_input_is_refused() -> None:
    printed = run_python(["-"], input=PROGRAM)
    assert "error[E007]: the source of `f` cannot be had" in printed
    assert "came from standard input" in printed


def test_doctests() -> None:
    text = '''
def demo():
    """
    >>> from teeny.frontend.source import source_of
    >>> def f(x):
    ...     return x + 1
    >>> source_of(f).span(source_of(f).tree.body[0]).text
    'return x + 1'
    """
import doctest
print(doctest.testmod())
'''
    assert run_python(["-c", text]) == "TestResults(failed=0, attempted=3)\n"


def test_a_module_in_an_archive(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inside_an_archive.py", "\ndef f(x):\n    return x + 1\n")
    sys.path.insert(0, str(tmp_path / "a.zip"))
    try:
        module = __import__("inside_an_archive")
    finally:
        sys.path.remove(str(tmp_path / "a.zip"))
    source = source_of(module.f)
    assert source.span(source.tree.body[0]).text == "return x + 1"
    assert source.first_line == 2


CHANGES = {
    "removed": "",
    "moved down": "x = 0\n\n@keep\ndef f(x, y):\n    z = x + y\n    return z.real\n",
    "other function": "@keep\ndef g(x, y):\n    z = x + y\n    return z.real\n",
    "other parameters": "@keep\ndef f(x, k):\n    z = x + y\n    return z.real\n",
    "fewer parameters": "@keep\ndef f(x):\n    z = x + y\n    return z.real\n",
    "other attribute": "@keep\ndef f(x, y):\n    z = x + y\n    return z.imag\n",
    "shorter": "@keep\ndef f(x, y):\n    z = x + y; return z.real\n",
    "broken": "@keep\ndef f(x, y:\n    z = x + y\n    return z.real\n",
    "text instead": "'''\n@keep\ndef f(x, y):'''\nz = 1\nreal = 2\n",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_changed_since_import_is_noticed(load: Load, change: str) -> None:
    module = load("keep = lambda f: f\n@keep\ndef f(x, y):\n    z = x + y\n    return z.real\n")
    Path(str(module.__file__)).write_text("keep = lambda f: f\n" + CHANGES[change])
    with pytest.raises(KernelError) as caught:
        source_of(module.f)
    assert caught.value.diagnostics[0].code == "E007"
    assert "`f` is not at" in str(caught.value)
    assert "changed since it was imported" in str(caught.value)


def test_a_module_loaded_again_is_read_again(load: Load) -> None:
    one = load("def f(x):\n    return x + 1\n")
    before = source_of(one.f), file_digest(one.f)
    two = load("def f(x):\n    return x + 2\n")
    after = source_of(two.f), file_digest(two.f)
    assert [s.span(s.tree.body[0]).text for s, _ in (before, after)] == ["return x + 1", "return x + 2"]
    assert before[1] != after[1]


def test_the_file_is_read_once(load: Load) -> None:
    import hashlib

    module = load("def f(x):\n    return x + 1\n\ndef g(x):\n    return x + 2\n")
    assert load_file(module.f) is load_file(module.g)
    assert file_digest(module.f) == hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()


def test_a_removed_file_is_named(load: Load) -> None:
    module = load("def f(x):\n    return x + 1\n")
    os.remove(str(module.__file__))
    with pytest.raises(KernelError, match=r"E007[\s\S]*there is no file .*module_under_test.py"):
        source_of(module.f)


def test_an_undecodable_file_is_refused(load: Load) -> None:
    module = load("def f(x):\n    return x + 1\n")
    Path(str(module.__file__)).write_bytes(b"# coding: nonsense\ndef f(x):\n    return x + 1\n")
    with pytest.raises(KernelError, match="cannot be decoded: unknown encoding"):
        source_of(module.f)


class Holder:
    def method(self, x: int) -> int:
        return x

    @classmethod
    def of_class(cls) -> None: ...


def generator(x: int) -> Any:
    if x:
        yield x


async def coroutine(x: int) -> int:
    return x


@functools.wraps(generator)
def wrapper(*args: Any) -> None: ...


namespace: dict[str, FunctionType] = {}
exec("def made(x): return x", namespace)


@pytest.mark.parametrize(
    ("fn", "code", "text", "marked"),
    [
        (lambda x: x, "E007", "a kernel cannot be a `lambda`", None),
        (namespace["made"], "E007", "the source of `made` cannot be had", None),
        (len, "E007", "`len` is compiled", None),
        (3, "E007", "must be a Python function, found an `int`", None),
        (Holder, "E001", "`Holder` is a class", None),
        (Holder.method, "E001", "`method` is a method: a kernel has no `self`", "self"),
        (Holder().method, "E001", "`method` is a method of an object", None),
        (Holder.__dict__["of_class"], "E001", "put `@classmethod` above", None),
        (staticmethod(generator), "E001", "`generator` is a `staticmethod`", None),
        (functools.partial(generator, 1), "E001", "cannot be a `functools.partial`", None),
        (generator, "E001", "`generator` is a generator", "yield"),
        (coroutine, "E001", "`coroutine` is an `async def`", "async"),
        (wrapper, "E001", "`generator` is wrapped by another decorator", None),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_what_is_no_plain_function_is_refused(fn: object, code: str, text: str, marked: str | None) -> None:
    with pytest.raises(KernelError) as caught:
        source_of(fn)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert text in str(caught.value)
    assert (found.primary.location.span.text if found.primary else None) == marked


OUTER = "global"
SHADOWED = "global"


def make() -> tuple[FunctionType, Callable[[], None]]:
    SHADOWED = "cell"

    def fn() -> Any:
        return SHADOWED, later, OUTER, len

    def assign() -> None:
        nonlocal later
        later = 3

    if not OUTER:
        later = 1
    return fn, assign


def test_names_are_resolved_as_python_does() -> None:
    fn, assign = make()
    assert resolve(fn, "SHADOWED") == "cell"
    assert resolve(fn, "later") is Missing.UNSET
    assign()
    assert resolve(fn, "later") == 3
    assert resolve(fn, "OUTER") == "global"
    assert resolve(fn, "len") is len
    assert resolve(fn, "nowhere") is Missing.NOT_FOUND


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax of Python 3.12")
def test_type_parameters_are_resolved(load: Load) -> None:
    module = load("from __future__ import annotations\nF = 1\ndef f[F: int](x: F) -> None: ...\n")
    assert resolve(module.f, "F") is module.f.__type_params__[0]
    assert annotation_strings(source_of(module.f))["x"] == "F"


def test_spans_are_spans() -> None:
    def fn(x: int) -> int:
        return x

    span = source_of(fn).span(source_of(fn).tree.args.args[0])
    assert isinstance(span, Span)
    assert span.position.endswith(f":{fn.__code__.co_firstlineno}:12")
