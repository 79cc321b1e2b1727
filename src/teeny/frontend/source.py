"""The source of a Python function as a syntax tree whose nodes stand where they stand in the user's own file.

Only the function's own lines are parsed, with empty lines before them and, where they are indented, an `if` around
them; so line numbers and columns come out right by themselves. `inspect` is not used: it tokenizes whole files.
"""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import cast

from teeny.diag.diagnostic import Label, at, report
from teeny.diag.errors import KernelError
from teeny.diag.span import Location, SourceFile, Span, character_index
from teeny.frontend.files import load_file

_START = re.compile(r"[ \t\f]*(?:@|(?:async|def)\b)")
_HEAD = re.compile(r"[ \t\f]*")
_VARARGS, _VARKEYWORDS, _GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x4, 0x8, 0x20, 0x80, 0x200  # of code objects
_TRIES = 200  # lines that may follow the last instruction at the left margin: ends of brackets and of long strings
_WHERE = "write it with `def` in a file or a notebook cell"


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A function's place and tree. Nodes of `tree` carry line numbers and utf-8 byte columns of `file`.

    `first_line` to `last_line` are its lines in the file, decorators included.
    """

    file: SourceFile
    tree: ast.FunctionDef
    first_line: int
    last_line: int

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> Span:
        """The characters of a node of `tree`."""
        line, column, end = node.lineno, node.col_offset, node.end_col_offset
        return Span(self.file, line, column, node.end_lineno or line, column if end is None else end)

    @property
    def name_span(self) -> Span:
        """`def name`: what messages about the whole function mark."""
        tree = self.tree
        text = self.file.line(tree.lineno)
        start = character_index(text, tree.col_offset)
        found = re.compile(rf"\bdef\s+{re.escape(tree.name)}").match(text, start)
        length = len((found[0] if found else text[start:]).encode())
        return Span(self.file, tree.lineno, tree.col_offset, tree.lineno, tree.col_offset + length)


def plain_function(fn: object, what: str = "kernel") -> FunctionType:
    """`fn` as a Python function that can be read as a `what`; raises KernelError (E001, E007) for other callables."""
    if isinstance(fn, FunctionType):
        if fn.__code__.co_name == "<lambda>":
            raise _error("E007", f"a {what} cannot be a `lambda`", help=_WHERE)
        if hasattr(fn, "__wrapped__"):
            help = f"make the {what} of the function itself: its decorator comes first, below all others"
            raise _error("E001", f"`{fn.__name__}` is wrapped by another decorator", help=help)
        return fn
    name = getattr(fn, "__name__", None) or type(fn).__name__
    if isinstance(fn, (staticmethod, classmethod)):
        kind = type(cast("object", fn)).__name__
        help = f"put `@{kind}` above the decorator that makes it a {what}"
        raise _error("E001", f"`{name}` is a `{kind}`, not a function", help=help)
    if isinstance(fn, MethodType):
        help = f"a {what} has no `self`: write it outside the class, or under `@staticmethod`"
        raise _error("E001", f"`{name}` is a method of an object", help=help)
    if isinstance(fn, partial):
        help = "make the fixed values `Const` parameters"
        raise _error("E001", f"a {what} cannot be a `functools.partial`", help=help)
    if isinstance(fn, type):
        raise _error("E001", f"`{name}` is a class, not a function", help=_WHERE)
    if isinstance(fn, BuiltinFunctionType):
        raise _error("E007", f"`{name}` is compiled: it has no Python source", help=_WHERE)
    kind = type(fn).__name__
    raise _error("E007", f"a {what} must be a Python function, found {'an' if kind[0] in 'aeiou' else 'a'} `{kind}`")


def source_of(fn: object, what: str = "kernel") -> KernelSource:
    """The source of a function, with positions of the user's own file.

    `what` is how messages call it. Raises KernelError: E007 where there is no source or the file was changed since it
    was imported, E001 for what is no plain function (`async def`, a generator, a method with `self`, a wrapper).
    """
    plain = plain_function(fn, what)
    code = plain.__code__
    name = code.co_name
    try:
        loaded = load_file(plain)
    except (UnicodeError, LookupError) as error:
        raise _error("E007", f"the file of `{name}` cannot be decoded: {error}", note=code.co_filename) from None
    if loaded is None:
        raise _error("E007", f"the source of `{name}` cannot be had", help=_WHERE, note=_why(code.co_filename))
    file = loaded.file
    found = _parse(file, code)
    if found is None or not _fits(found, file, code):
        place = f"{file.display_name}:{code.co_firstlineno}"
        message = f"the source of `{name}` is not at {place}: the file was changed since it was imported"
        raise _error("E007", message, help="import the module again, or start Python again")
    _check_kind(found, file, plain, what)
    assert isinstance(found, ast.FunctionDef)
    first = min((found.lineno, *(d.lineno for d in found.decorator_list)))
    return KernelSource(file, found, first, found.end_lineno or found.lineno)


def annotation_strings(source: KernelSource) -> dict[str, str | None]:
    """The annotation of each parameter as it is written, and of `return`; None where there is none.

    A quoted annotation gives what is between the quotes.
    """
    arguments = source.tree.args
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    found = {a.arg: _annotation(source, a.annotation) for a in every if a is not None}
    found["return"] = _annotation(source, source.tree.returns)
    return found


def _annotation(source: KernelSource, node: ast.expr | None) -> str | None:
    if node is None:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else repr(node.value)
    line, end = node.lineno, node.end_lineno
    if line == end:
        text = source.file.line(line)
        return text[character_index(text, node.col_offset) : character_index(text, node.end_col_offset or 0)]
    return ast.unparse(node)


def _parse(file: SourceFile, code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The one function that starts at the code's first line, or None where there is none."""
    lines = file.lines
    first = _first_line(lines, code.co_firstlineno)
    last = _last_line(code)
    if first is None or last > len(lines):
        return None
    indent = _width(lines[first - 1])
    lead = "\n" * (first - 2) + "if 1:\n" if indent and first > 1 else "\n" * (first - 1)
    for _ in range(_TRIES):
        if last > len(lines):
            break
        last = _suite_end(lines, last, indent)
        text = lead + "\n".join(lines[first - 1 : last]) + "\n"
        try:
            body = _parse_text(text, file.name)
        except (SyntaxError, ValueError):
            last += 1
            continue
        while len(body) == 1 and isinstance(body[0], ast.If) and body[0].lineno < first:
            body = body[0].body
        found = body[0] if len(body) == 1 else None
        return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    return None


def _parse_text(text: str, name: str) -> list[ast.stmt]:
    if "\\" not in text:
        return ast.parse(text, name).body
    with warnings.catch_warnings():  # Python warned of invalid escapes when it compiled the file
        warnings.simplefilter("ignore")
        return ast.parse(text, name).body


def _first_line(lines: tuple[str, ...], number: int) -> int | None:
    """The line where the function starts; a decorator in parentheses may have its expression below its `@`."""
    for line in range(number, max(number - 20, 0), -1):
        if line <= len(lines) and _START.match(lines[line - 1]):
            return line
    return None


def _last_line(code: CodeType) -> int:
    """The last line that has an instruction, nested code counted."""
    last = code.co_firstlineno
    for _, _, line in code.co_lines():
        if line is not None and line > last:
            last = line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            last = max(last, _last_line(constant))
    return last


def _suite_end(lines: tuple[str, ...], last: int, indent: int) -> int:
    """The last line from `last` on that is blank, a comment, or deeper than `indent`, without blank ones at the end."""
    end = last
    for number in range(last + 1, len(lines) + 1):
        text = lines[number - 1]
        if not text or text.isspace() or text.lstrip(" \t\f").startswith("#"):
            continue
        if _width(text) <= indent:
            break
        end = number
    return end


def _width(line: str) -> int:
    """How deep a line is indented, as Python counts it: tabs to multiples of eight."""
    head = _HEAD.match(line)
    return len(head[0].rpartition("\f")[2].expandtabs(8)) if head else 0


def _fits(tree: ast.FunctionDef | ast.AsyncFunctionDef, file: SourceFile, code: CodeType) -> bool:
    """Whether the text at that place can be what the code was compiled from: name, parameters, lines and names."""
    arguments = tree.args
    declared = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    declared += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    stars = bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
    if tree.name != code.co_name or declared != [_plain_name(name, declared) for name in parameters]:
        return False
    if _last_line(code) > (tree.end_lineno or 0):
        return False
    first = min((tree.lineno, *(d.lineno for d in tree.decorator_list)))
    text = "\n".join(file.lines[first - 1 : tree.end_lineno])
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    used = (*code.co_varnames, *code.co_names)
    if any(name.startswith("@") for name in used):  # pytest rewrote the function's assertions, with names of its own
        return True
    return all(_plain_name(name, text) in text for name in used if name.isidentifier())


def _plain_name(name: str, known: list[str] | str) -> str:
    """A name that is not among the known ones, without the class name that Python puts before private names."""
    if name not in known and name.startswith("_") and "__" in name[1:]:
        return name[name.index("__", 1) :]
    return name


def _check_kind(tree: ast.FunctionDef | ast.AsyncFunctionDef, file: SourceFile, fn: FunctionType, what: str) -> None:
    """Refuse functions that are read but mean something else: coroutines, generators, methods."""
    flags, name = fn.__code__.co_flags, tree.name
    if flags & (_COROUTINE | _ASYNC_GENERATOR):
        label = _mark(file, tree, len("async"))
        raise _error("E001", f"`{name}` is an `async def`", label, help=f"a {what} is a plain `def`")
    if flags & _GENERATOR:
        place = next((n for n in ast.walk(tree) if isinstance(n, (ast.Yield, ast.YieldFrom))), tree)
        help = f"a {what} stores its results" if what == "kernel" else f"a {what} returns its results"
        raise _error("E001", f"`{name}` is a generator", _mark(file, place, len("yield")), help=help)
    outer = fn.__qualname__.rpartition(".")[0]
    first = tree.args.posonlyargs + tree.args.args
    method = outer and not outer.endswith("<locals>") and first and first[0].arg in ("self", "cls")
    if method and fn.__module__ != "teeny.language.tensor":  # the methods of tensors take one
        label = _mark(file, first[0], len(first[0].arg))
        help = "drop the parameter, and put `@staticmethod` above"
        raise _error("E001", f"`{name}` is a method: a {what} has no `{first[0].arg}`", label, help=help)


def _mark(file: SourceFile, node: ast.AST, length: int) -> Label:
    line, column = cast("ast.stmt", node).lineno, cast("ast.stmt", node).col_offset
    return at(Location(Span(file, line, column, line, column + length)))


def _why(name: str) -> str:
    if name == "<stdin>":
        return "the program came from standard input, which Python does not keep"
    if name.startswith("<"):
        return f"it was made from text that Python does not keep ({name})"
    return f"there is no file {name}, or it is stored compiled only"


def _error(code: str, message: str, *labels: Label, help: str = "", note: str = "") -> KernelError:
    return KernelError((report(code, message, *labels, help=(help,) if help else (), notes=(note,) if note else ()),))
