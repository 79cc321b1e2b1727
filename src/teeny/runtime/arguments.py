"""The arguments of a launch: bound to parameters by name, described, and matched against dtypes and type variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, cast

from teeny.diag.errors import LaunchError
from teeny.frontend.consts import MAX_BITS
from teeny.frontend.params import Parameter
from teeny.frontend.signature import EMPTY, Term
from teeny.frontend.values import show_number
from teeny.ir.dtype import LEAVES, DType
from teeny.runtime.arrays import ArrayInfo, NotAnArrayError, describe
from teeny.runtime.scalars import NotAScalarError, convert
from teeny.runtime.tensor_descriptor import Described, described, is_descriptor


@dataclass(frozen=True, slots=True)
class Bound:
    """A launch's arguments. `values`: an ArrayInfo or a number for each parameter passed, in order."""

    dtypes: dict[DType, DType]
    constants: dict[str, Any]
    values: list[Any]


def by_name(
    kernel: str, parameters: Sequence[Parameter], args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> list[Any]:
    """The value given for each parameter, defaults filled in. Raises LaunchError L001."""
    if len(args) > len(parameters):
        names = ", ".join(p.name for p in parameters)
        raise LaunchError.of(
            "L001",
            f"`{kernel}` takes {len(parameters)} arguments, found {len(args)}",
            kernel=kernel,
            found=f"{len(args)} positional arguments",
            needed=names,
        )
    values: list[Any] = list(args)
    rest = dict(keywords)
    missing: list[str] = []
    for parameter in parameters[: len(args)]:
        if parameter.name in rest:
            raise LaunchError.of(
                "L001", f"`{kernel}` gets `{parameter.name}` twice", kernel=kernel, argument=parameter.name
            )
    for parameter in parameters[len(args) :]:
        if parameter.name in rest:
            values.append(rest.pop(parameter.name))
        elif parameter.default is not EMPTY:
            values.append(parameter.default)
        elif parameter.optional:
            values.append(None)
        else:
            missing.append(parameter.name)
            values.append(EMPTY)
    if rest:  # first, for a name that is missing may be a name that is misspelt
        name = next(iter(rest))
        raise LaunchError.of(
            "L001",
            f"`{kernel}` has no parameter `{name}`",
            kernel=kernel,
            argument=name,
            found=_short(rest[name]),
            needed=", ".join(p.name for p in parameters),
            help=_close(name, parameters) or tuple(f"`{n}` is given nothing" for n in missing),
        )
    if missing:
        listed = ", ".join(f"`{n}`" for n in missing)
        raise LaunchError.of(
            "L001",
            f"`{kernel}` lacks {listed}",
            kernel=kernel,
            argument=missing[0],
            found="nothing",
            needed=_kinds(parameters, missing),
        )
    return values


def _kinds(parameters: Sequence[Parameter], names: list[str]) -> str:
    return ", ".join(f"{p.name}: {p.annotation}" for p in parameters if p.name in names)


def _close(name: str, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    from difflib import get_close_matches

    close = get_close_matches(name, [*(p.name for p in parameters), "num_warps", "num_stages", "stream"], 1)
    return (f"did you mean `{close[0]}`?",) if close else ()


def _short(value: Any) -> str:
    text = show_number(value) if type(value) is int else repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def bind(
    kernel: str, parameters: Sequence[Parameter], given: Sequence[Any], allowed: Callable[[DType], Sequence[DType]]
) -> Bound:
    """Describe and convert the values given for the parameters. `allowed`: the leaves that a variable may be here."""
    made = Bound({}, {}, [])
    where: dict[DType, str] = {}
    for parameter, value in zip(parameters, given, strict=True):
        if parameter.kind == "const":
            made.constants[parameter.name] = const_value(kernel, parameter, value)
        elif value is None and parameter.optional:
            made.constants[parameter.name] = None
        elif parameter.kind == "descriptor":
            found = _descriptor(kernel, parameter, value)
            _array(kernel, parameter, getattr(value, "base", None), made.dtypes, where, allowed)
            made.constants[parameter.name] = (found.block_shape, found.padding)
            made.values.extend((found.info, *found.shape, *found.strides[:-1]))
        elif parameter.kind == "pointer":
            made.values.append(_array(kernel, parameter, value, made.dtypes, where, allowed))
        else:
            made.values.append(_Pending(parameter, value))
    made.values[:] = [_scalar(kernel, v, made.dtypes, where) if isinstance(v, _Pending) else v for v in made.values]
    return made


@dataclass(frozen=True, slots=True)
class _Pending:
    parameter: Parameter
    value: Any


def _descriptor(kernel: str, parameter: Parameter, value: Any) -> Described:
    """A checked tensor descriptor. Raises LaunchError L002."""
    if is_descriptor(value):
        try:
            return described(value, kernel, parameter.name)
        except (NotAnArrayError, TypeError, ValueError):
            pass
    raise LaunchError.of(
        "L002",
        f"`{parameter.name}` of `{kernel}` takes a tensor descriptor",
        kernel=kernel,
        argument=parameter.name,
        found=_short(value),
        needed="tn.TensorDescriptor.from_tensor(array, block_shape)",
        location=parameter.location,
    )


def _array(
    kernel: str,
    parameter: Parameter,
    value: Any,
    dtypes: dict[DType, DType],
    where: dict[DType, str],
    allowed: Callable[[DType], Sequence[DType]],
) -> ArrayInfo:
    try:
        info = describe(value)
    except NotAnArrayError as error:
        number = isinstance(value, int | float | bool | str) or value is None
        raise LaunchError.of(
            "L002" if number else "L015",
            f"`{parameter.name}` of `{kernel}` takes an array",
            kernel=kernel,
            argument=parameter.name,
            found=error.found,
            needed=error.needed,
            location=parameter.location,
        ) from None
    found = LEAVES.get(info.dtype)
    assert parameter.dtype is not None
    wanted = parameter.dtype
    if found is None:
        raise LaunchError.of(
            "L003",
            f"`{parameter.name}` of `{kernel}` has the dtype {info.dtype}, which no kernel takes",
            kernel=kernel,
            argument=parameter.name,
        )
    if not wanted.is_variable:
        if found is not wanted:
            raise _dtype(kernel, parameter, found, wanted.name)
        return info
    bound = dtypes.get(wanted)
    if bound is None:
        options = allowed(wanted)
        if found not in options:
            raise _dtype(kernel, parameter, found, f"{wanted.name}: one of {', '.join(d.name for d in options)}")
        dtypes[wanted], where[wanted] = found, parameter.name
    elif bound is not found:
        raise LaunchError.of(
            "L011",
            f"`{parameter.name}` and `{where[wanted]}` of `{kernel}` must have one dtype ({wanted.name})",
            kernel=kernel,
            argument=parameter.name,
            found=found.name,
            needed=f"{bound.name}, as `{where[wanted]}`",
            location=parameter.location,
        )
    return info


def _dtype(kernel: str, parameter: Parameter, found: DType, needed: str) -> LaunchError:
    return LaunchError.of(
        "L003",
        f"`{parameter.name}` of `{kernel}` has the wrong dtype",
        kernel=kernel,
        argument=parameter.name,
        found=found.name,
        needed=needed,
        location=parameter.location,
    )


def _scalar(kernel: str, pending: _Pending, dtypes: dict[DType, DType], where: dict[DType, str]) -> Any:
    parameter = pending.parameter
    assert parameter.dtype is not None
    dtype = dtypes.get(parameter.dtype, parameter.dtype)
    if dtype.is_variable:
        raise LaunchError.of(
            "L003",
            f"nothing says what {dtype.name} is: no array of `{kernel}` has it",
            kernel=kernel,
            argument=parameter.name,
            needed="a Ptr with this type variable, or the dtype through kernel.specialize",
        )
    try:
        return convert(pending.value, dtype.name)
    except NotAScalarError as error:
        raise LaunchError.of(
            "L010" if error.out_of_range else "L002",
            f"`{parameter.name}` of `{kernel}` does not take this value",
            kernel=kernel,
            argument=parameter.name,
            found=error.found,
            needed=error.needed,
            location=parameter.location,
        ) from None


_CONSTS = "an int, a bool, a float, a str, None, a dtype, a function or a tuple of these"


def const_value(kernel: str, parameter: Parameter, value: Any) -> Any:
    """A Const argument, NumPy's scalars made Python's. Raises LaunchError L009."""
    plain = value.item() if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () else value
    if any(_is(t, plain) for t in parameter.const) and _is_plain(plain):
        return plain
    raise LaunchError.of(
        "L009",
        f"`{parameter.name}` of `{kernel}` is a Const and does not take this value",
        kernel=kernel,
        argument=parameter.name,
        found=f"{_short(value)} ({type(value).__name__})",
        needed=_CONSTS if parameter.annotation.endswith("constexpr") else parameter.annotation,
        location=parameter.location,
    )


def layout_value(kernel: str, parameter: Parameter, value: Any) -> tuple[tuple[int, ...], str]:
    """Block shape and padding of a descriptor, given as `(64, 64)`, `((64, 64), "nan")` or a descriptor.

    Raises LaunchError L009.
    """
    if is_descriptor(value):
        found = _descriptor(kernel, parameter, value)
        return found.block_shape, found.padding
    given = value if _pair(value) else (value, "zero")
    block = tuple(given[0]) if isinstance(given[0], tuple | list) else ()
    if block and all(isinstance(n, int) for n in block) and given[1] in ("zero", "nan"):
        return block, given[1]
    raise LaunchError.of(
        "L009",
        f"`{parameter.name}` of `{kernel}` is a tensor descriptor, of which this is no layout",
        kernel=kernel,
        argument=parameter.name,
        found=_short(value),
        needed='the shape of its blocks, (64, 64), or with its padding: ((64, 64), "nan")',
        location=parameter.location,
    )


def _pair(value: Any) -> bool:
    """Whether a value is a block shape with a padding."""
    if not isinstance(value, tuple):
        return False
    parts = cast("tuple[Any, ...]", value)
    return len(parts) == 2 and isinstance(parts[1], str)


def const_key(value: Any) -> object:
    """What tells Const values apart in a table: 1, 1.0 and True are three, 0.0 and -0.0 two, NaN is one."""
    if isinstance(value, tuple):
        return tuple(map(const_key, cast("tuple[Any, ...]", value)))
    return (float, repr(value)) if isinstance(value, float) else (value.__class__, value)


def _is_plain(value: Any) -> bool:
    """Whether a value can be a Const at all: one whose meaning cannot change."""
    if isinstance(value, tuple):
        return all(map(_is_plain, cast("tuple[Any, ...]", value)))
    if value is None or isinstance(value, bool | int | float | str):
        return True
    return isinstance(getattr(value, "ir", None), DType) or isinstance(value, FunctionType)


def _is(term: Term, value: Any) -> bool:
    kind = term.kind
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return False
    if kind == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "float":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "str":
        return isinstance(value, str)
    if kind == "none":
        return value is None
    if kind == "tuple":
        return isinstance(value, tuple) and _are(term, cast("tuple[Any, ...]", value))
    if kind == "dtype":
        leaf = getattr(value, "ir", None)
        return isinstance(leaf, DType) and (term.dtype is None or leaf.within(term.dtype.mask))
    if kind == "literal":
        return type(value) is type(term.value) and value == term.value
    if kind == "union":
        return any(_is(t, value) for t in term.inner)
    return kind == "any" or (kind == "function" and callable(value))


def _are(term: Term, values: tuple[Any, ...]) -> bool:
    """Whether the elements of a tuple are what its annotation says."""
    wanted = term.inner * len(values) if term.many else term.inner
    return len(wanted) == len(values) and all(map(_is, wanted, values))


def leaf_of(value: Any) -> DType | None:
    """A dtype given by a user: `tl.f32`, "f32", or a DType."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        return LEAVES.get(value)
    leaf = getattr(value, "ir", None)
    return leaf if isinstance(leaf, DType) else None
