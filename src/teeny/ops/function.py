"""Language functions: what `tl.exp` or `x + y` is to the compiler.

A language function is one decorated signature. The signature (its overloads, if any) is the dtype rule, read by type
checkers and by the compiler alike; beside it stand a shape rule and an emitter that makes dialect operations.
Outside a kernel a language function cannot run: calling it says so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, get_overloads

from teeny.diag.diagnostic import report
from teeny.diag.errors import KernelError
from teeny.ir.types import PointerType, Type, element_of, shape_of

if TYPE_CHECKING:
    from teeny.ir.builder import Builder
    from teeny.ir.core import Value
    from teeny.ir.dtype import DType
    from teeny.ir.poly import Dim

C = TypeVar("C", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operand:
    """A run-time value as the language sees it: the IR value and its dtype with sign (`u32`, where the IR has `i32`).

    For a pointer `dtype` is a `PointerType` to the language's dtype.
    """

    value: Value
    dtype: DType | PointerType

    @property
    def shape(self) -> tuple[Dim, ...]:
        return shape_of(self.value.type)

    @property
    def type(self) -> Type:
        return self.value.type

    @property
    def is_pointer(self) -> bool:
        return isinstance(element_of(self.value.type), PointerType)


class Shapes(Protocol):
    """What shape rules are written against. A fault or an obligation is recorded at the call's location."""

    def broadcast(self, *shapes: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """The common shape by the rule of NumPy, or a fault (S001)."""
        ...

    def require(self, op: str, a: Dim, b: Dim | None, code: str, message: str) -> None:
        """Demand a predicate of `ir.facts` (`eq`, `le`, `pow2`, ...): true, a fault, or an obligation."""
        ...

    def equal(self, a: Dim, b: Dim, code: str, message: str) -> None:
        """Demand that two sizes are equal: a fault with `code` where they differ, S008 where that is not proved."""
        ...

    def fault(self, code: str, message: str, help: str = "") -> None:
        """Report a fault outright."""
        ...


ShapeRule = Callable[..., "tuple[Any, ...]"]
"""`(s: Shapes, **arguments) -> shape`: tensor arguments are `Operand`s (or literals), Const arguments Python values.

Of a function with several results (`-> tuple[Tensor[D], Tensor[E]]`) a tuple of their shapes.
"""
Emit = Callable[..., "Value | Operand | tuple[Value, ...] | None"]
"""`(b: Builder, shape, dtype, **arguments) -> Value`: `shape` from the shape rule, `dtype` the result's (with sign).

Where the annotation leaves the dtype open (`Tensor[Any]`) it gives an `Operand`. Of a function with several results
`shape` and `dtype` are tuples, one element a result, and so is what the emitter gives. Under an elementwise function
the tensor arguments come as `Operand`s already converted, widened and broadcast to `shape`.
"""

if TYPE_CHECKING:  # the same by number of arguments: what `language` takes
    Shape = tuple[Dim, ...]
    One = Value | None
    Several = tuple[Value, ...]
    Shaped = Shape | tuple[Shape, ...]
    Emitter = (
        Callable[[Builder, Shape, DType], One]
        | Callable[[Builder, Shape, DType, Any], One]
        | Callable[[Builder, Shape, DType, Any, Any], One]
        | Callable[[Builder, Shape, DType, Any, Any, Any], One]
        | Callable[[Builder, Shape, DType, Any, Any, Any, Any], One]
        | Callable[[Builder, Shape, DType, Any, Any, Any, Any, Any], One]
        | Callable[[Builder, Shape, DType, Any, Any, Any, Any, Any, Any], One]
        | Callable[[Builder, Any, Any, Any], One | Several]
        | Callable[[Builder, Any, Any, Any, Any], One | Several]
        | Callable[[Builder, Any, Any, Any, Any, Any], One | Several]
        | Callable[[Builder, Any, Any, Any, Any, Any, Any], One | Several]
        | Callable[[Builder, Any, Any, Any, Any, Any, Any, Any], One | Several]
    )
    Shaper = (
        Callable[[Shapes], Shaped]
        | Callable[[Shapes, Any], Shaped]
        | Callable[[Shapes, Any, Any], Shaped]
        | Callable[[Shapes, Any, Any, Any], Shaped]
        | Callable[[Shapes, Any, Any, Any, Any], Shaped]
        | Callable[[Shapes, Any, Any, Any, Any, Any], Shaped]
        | Callable[[Shapes, Any, Any, Any, Any, Any, Any], Shaped]
    )


@dataclass(slots=True, eq=False)
class LanguageFunction:
    """A function of the language.

    `elementwise`: the tensor arguments broadcast together, and the result has their common shape.
    `exclude`: leaves that a type variable of the signature admits by its class, but the operation does not have.
    `codes`: for a parameter, the code of the fault that an argument of the wrong dtype is.
    `construct`: not a function of values but a construct that the front end itself handles under this name.
    `shapes`: the shapes of arguments and result in words, where it is not elementwise and the docstring does not say.
    `triton`: Triton's name where it is another one (None: Triton has no such function). `differs`: what is different
    there, in whole sentences.
    """

    name: str
    fn: Callable[..., Any]
    emit: Emit | None
    shape: ShapeRule | None
    elementwise: bool
    symbol: str
    exclude: dict[str, tuple[str, ...]]
    codes: dict[str, str]
    construct: str
    shapes: str = ""
    triton: str | None = ""
    differs: str = ""
    memo: dict[Any, Any] = field(default_factory=dict[Any, Any])

    @property
    def overloads(self) -> list[Callable[..., Any]]:
        """The signatures, in order."""
        return list(get_overloads(self.fn)) or [self.fn]

    @property
    def display(self) -> str:
        """How messages call it."""
        return f"`{self.written}`"

    @property
    def written(self) -> str:
        """How code writes it: its symbol, or its name with that of the module for a function of the language itself."""
        if self.symbol or "." in self.name:
            return self.symbol or self.name
        return f"tl.{self.name}" if _is_own(self.fn) else self.name


def _is_own(fn: Callable[..., Any]) -> bool:
    return fn.__module__.startswith("teeny.")


_functions: dict[str, LanguageFunction] = {}


def language(
    emit: Emitter | None = None,
    *,
    shape: Shaper | None = None,
    elementwise: bool = False,
    symbol: str = "",
    exclude: dict[str, tuple[str, ...]] | None = None,
    codes: dict[str, str] | None = None,
    construct: str = "",
    shapes: str = "",
    triton: str | None = "",
    differs: str = "",
    home: str = "",
) -> Callable[[C], C]:
    """Make the decorated signature a function of the language. See `LanguageFunction`, `Emit` and `ShapeRule`.

    `home` is the module that has it, where that is not the language itself: "libdevice".
    """

    def wrap(fn: C) -> C:
        name = f"{home}.{fn.__name__}" if home else fn.__name__
        made = LanguageFunction(
            name, fn, emit, shape, elementwise, symbol, exclude or {}, codes or {}, construct, shapes, triton,
            differs,
        )  # fmt: skip
        if _is_own(fn):
            _functions[name] = made

        @functools.wraps(fn)
        def outside(*args: Any, **kwargs: Any) -> Any:
            raise KernelError(
                (report("E004", f"{made.display} is part of the kernel language and runs only inside a kernel"),)
            )

        outside.__dict__["__teeny__"] = made
        return cast("C", outside)

    return wrap


def function_of(thing: object) -> LanguageFunction | None:
    """The language function behind a Python object, if it is one."""
    return getattr(thing, "__teeny__", None)


def functions() -> dict[str, LanguageFunction]:
    """All functions of the language itself by name; not those that other packages define."""
    return _functions
