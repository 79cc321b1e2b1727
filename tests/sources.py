"""Random kernels of the language as source text, each beside the same computation in plain Python.

Every expression is a pair: its text and a function that gives its value in one program. Nothing of the package takes
part in the second.
"""

from __future__ import annotations

import importlib.util
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from hypothesis import strategies as st

from tests import plain
from tests.plain import DTYPES, FLOATS, INTS, is_float

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]
Shape = tuple[int, ...]
Env = dict[str, Any]
"""Of one program: `p` its number, variables by name, scalars and arrays by parameter."""


_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Expr:
    """`text` in the language; `value(env)` an array of `shape` and `dtype` (a name of the language)."""

    text: str
    dtype: str
    shape: Shape
    value: Callable[[Env], Any]


@dataclass(slots=True)
class Written:
    """A kernel: its source, Consts, arrays and scalars (by parameter), outputs, and the twin."""

    source: str
    consts: dict[str, Any]
    arrays: dict[str, Any]
    scalars: dict[str, int]
    output: str
    programs: int
    run: Callable[[Env], None]

    def __repr__(self) -> str:
        return f"{self.source}\nconsts {self.consts}, scalars {self.scalars}, programs {self.programs}"

    def expected(self) -> Any:
        """The output by the twin."""
        arrays = {name: a.copy() for name, a in self.arrays.items()}
        with np.errstate(all="ignore"):
            for p in range(self.programs):
                self.run({"p": p, **arrays, **self.scalars})
        return arrays[self.output]


@dataclass(slots=True)
class Writer:
    draw: Draw
    shape: Shape
    dtypes: tuple[str, ...]
    scalars: dict[str, int]
    known: list[Expr] = field(default_factory=list[Expr])
    masks: list[Expr] = field(default_factory=list[Expr])
    lines: list[str] = field(default_factory=list[str])
    steps: list[Callable[[Env], None]] = field(default_factory=list[Callable[[Env], None]])
    count: int = 0
    indent: str = "    "

    def pick(self, values: Any) -> Any:
        return self.draw(st.sampled_from(list(values)))

    def some(self, dtype: str | None = None) -> Expr:
        found = [e for e in self.known if (e.dtype == dtype if dtype else e.dtype != "bool_")]
        return cast("Expr", self.pick(found))

    def condition(self) -> Expr:
        return cast("Expr", self.pick([*self.masks, *(e for e in self.known if e.dtype == "bool_")]))

    # Statements

    def assign(self, made: Expr) -> Expr:
        """`v3 = <text>`; the variable."""
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"{self.indent}{name} = {made.text}")
        self.steps.append(_setter(name, made))
        variable = _variable(name, made.dtype, made.shape)
        self.known.append(variable)
        return variable

    def statement(self) -> None:
        kind = self.pick(["expression"] * 6 + ["for", "static", "const_if", "if"])
        if kind == "expression":
            self.assign(self.expression())
        else:
            getattr(self, f"_{kind}")()

    def _body(self, target: Expr) -> tuple[list[str], list[Callable[[Env], None]]]:
        """Statements that end in `target = ...`; what they set is not used outside."""
        lines, steps, known = self.lines, self.steps, list(self.known)
        self.lines, self.steps, self.indent = [], [], self.indent + "    "
        for _ in range(self.pick((0, 1, 2))):
            self.assign(self.expression())
        last = self.pick([e for e in self.known if e.dtype == target.dtype and e.shape == target.shape][-3:])
        self.lines.append(f"{self.indent}{target.text} = {last.text}")
        self.steps.append(_setter(target.text, last))
        made = self.lines, self.steps
        self.lines, self.steps, self.indent, self.known = lines, steps, self.indent[4:], known
        return made

    def _target(self) -> Expr:
        """A fresh variable that a body may assign to."""
        return self.assign(self.some())

    def _for(self) -> None:
        target = self._target()
        start, end, step = self.pick(((0, 3, 1), (1, 6, 2), (0, 0, 1), (2, "n", 3)))
        index = f"k{self.count}"
        looped = Expr(index, "i32", (), lambda env: np.int32(env[index]))
        self.known.append(looped)
        lines, steps = self._body(target)
        self.known.remove(looped)
        self.lines += [f"{self.indent}for {index} in tl.range({start}, {end}, {step}):", *lines]

        def run(env: Env) -> None:
            for k in range(start, env["n"] if end == "n" else end, step):
                env[index] = k
                _all(steps, env)

        self.steps.append(run)

    def _static(self) -> None:
        target = self._target()
        lines, steps = self._body(target)
        self.lines += [f"{self.indent}for _ in tl.static_range(2):", *lines]
        self.steps.append(lambda env: _all([*steps, *steps], env))

    def _const_if(self) -> None:
        target = self._target()
        (yes, yes_steps), (no, no_steps) = self._body(target), self._body(target)
        self.lines += [f"{self.indent}if FLAG:", *yes, f"{self.indent}else:", *no]
        self.steps.append(lambda env: _all(yes_steps if env["FLAG"] else no_steps, env))

    def _if(self) -> None:
        target = self._target()
        limit = self.pick((0, 5, 40))
        (yes, yes_steps), (no, no_steps) = self._body(target), self._body(target)
        self.lines += [f"{self.indent}if n > {limit}:", *yes, f"{self.indent}else:", *no]
        self.steps.append(lambda env: _all(yes_steps if env["n"] > limit else no_steps, env))

    # Expressions

    def expression(self) -> Expr:
        kinds = ["arithmetic"] * 4 + [
            "compare",
            "where",
            "cast",
            "cast",
            "unary",
            "divide",
            "extreme",
            "reduce",
            "reduce",
        ]
        return cast("Expr", getattr(self, f"_{self.pick([*kinds, 'bits', 'shift', 'move'])}")())

    def _other(self, x: Expr) -> Expr:
        """An operand beside x: a value of its dtype, or a literal."""
        if self.pick((False, False, True)):
            literal = self.pick((0.5, 2, 3.0) if x.dtype in FLOATS else (1, 2, 7, 100))
            dtype = DTYPES[x.dtype]
            return Expr(str(literal), x.dtype, (), lambda env: np.asarray(literal, dtype))
        return self.some(x.dtype)

    def _binary(self, symbol: str, x: Expr, y: Expr, f: Callable[[Any, Any], Any], dtype: str | None = None) -> Expr:
        shape = np.broadcast_shapes(x.shape, y.shape)
        text = f"({x.text} {symbol} {y.text})"
        return Expr(text, dtype or x.dtype, shape, lambda env: np.broadcast_to(f(x.value(env), y.value(env)), shape))

    def _arithmetic(self) -> Expr:
        x = self.some()
        symbol = self.pick("+-*")
        wide = [e for e in self.known if e.dtype == "i64"]
        if x.dtype == "i32" and wide and self.pick((True, False)):
            y = self.pick(wide)
            return self._binary(symbol, x, y, lambda a, b: plain.arithmetic(symbol, a.astype(np.int64), b), "i64")
        return self._binary(symbol, x, self._other(x), lambda a, b: plain.arithmetic(symbol, a, b))

    def _divide(self) -> Expr:
        x = self.some()
        if x.dtype in FLOATS:
            symbol = self.pick("/%")
            f = plain.in_f32(np.divide if symbol == "/" else np.fmod)
            return self._binary(symbol, x, self._other(x), f)
        y = self.some(x.dtype)
        odd = Expr(f"({y.text} | 1)", y.dtype, y.shape, lambda env: y.value(env) | np.asarray(1, DTYPES[y.dtype]))
        symbol = self.pick(("//", "%"))
        return self._binary(symbol, x, odd, plain.floordiv if symbol == "//" else plain.mod)

    def _bits(self) -> Expr:
        found = [e for e in self.known if e.dtype in INTS]
        x = self.pick([*found, self.condition()])
        if self.pick((False, False, True)):
            return Expr(f"(~{x.text})", x.dtype, x.shape, lambda env: ~x.value(env))
        symbol = self.pick("&|^")
        f = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[symbol]
        y = self.condition() if x.dtype == "bool_" else self.some(x.dtype)
        return self._binary(symbol, x, y, f)

    def _shift(self) -> Expr:
        found = [e for e in self.known if e.dtype in INTS]
        if not found:
            return self._arithmetic()
        x = self.pick(found)
        count = self.pick((0, 1, 3, 7, 8, 31, 32, 63, 64, 90))
        left = self.pick((True, False))
        symbol = "<<" if left else ">>"
        return Expr(
            f"({x.text} {symbol} {count})", x.dtype, x.shape, lambda env: plain.shifted(x.value(env), count, left)
        )

    def _compare(self) -> Expr:
        x = self.some()
        symbol = self.pick(("<", "<=", ">", ">=", "==", "!="))
        functions: dict[str, Any] = {
            "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
            "==": np.equal, "!=": np.not_equal,
        }  # fmt: skip
        return self._binary(symbol, x, self._other(x), functions[symbol], "bool_")

    def _where(self) -> Expr:
        c, x = self.condition(), self.some()
        y = self._other(x)
        shape = np.broadcast_shapes(c.shape, x.shape, y.shape)
        text = f"tl.where({c.text}, {x.text}, {y.text})"

        def value(env: Env) -> Any:
            return np.where(*np.broadcast_arrays(c.value(env), x.value(env), y.value(env))).astype(DTYPES[x.dtype])

        return Expr(text, x.dtype, shape, value)

    def _cast(self) -> Expr:
        x = self.pick([self.some(), self.condition()])
        to = self.pick(self.dtypes)
        if (x.dtype, to) == ("f64", "bf16"):  # NumPy rounds twice
            to = "f32"
        return Expr(f"{x.text}.to(tl.{to})", to, x.shape, lambda env: plain.cast(x.value(env), DTYPES[to]))

    def _unary(self) -> Expr:
        x = self.some()
        names = ("neg", "abs", "floor", "ceil", "sqrt") if x.dtype in FLOATS else ("neg", "abs")
        name = self.pick(names)
        if name == "neg":
            return Expr(f"(-{x.text})", x.dtype, x.shape, lambda env: _negated(x.value(env)))
        functions: dict[str, Any] = {
            "abs": np.abs, "floor": plain.in_f32(np.floor), "ceil": plain.in_f32(np.ceil), "sqrt": plain.in_f32(np.sqrt)
        }  # fmt: skip
        return Expr(f"tl.{name}({x.text})", x.dtype, x.shape, lambda env: functions[name](x.value(env)))

    def _extreme(self) -> Expr:
        x = self.some()
        y = self._other(x)
        name = self.pick(("maximum", "minimum"))
        f: Any = {"maximum": np.fmax, "minimum": np.fmin}[name]
        made = self._binary(",", x, y, f)
        return _positive_zero(Expr(f"tl.{name}{made.text.replace(' ,', ',')}", x.dtype, made.shape, made.value))

    def _reduce(self) -> Expr:
        x = self.pick([e for e in self.known if e.shape == self.shape and e.dtype != "bool_"])
        axis = self.pick(range(len(self.shape)))
        name = self.pick(("sum", "max", "min"))
        widened = ""
        dtype = x.dtype
        if name == "sum" and dtype in ("i8", "i16", "u8", "u16"):
            dtype = "i32" if dtype[0] == "i" else "u32"
            widened = f", dtype=tl.{dtype}"
        to = DTYPES[dtype]
        functions: dict[str, Any] = {
            "sum": plain.total,
            "max": lambda a, at: plain.reduced(a, at, np.fmax),
            "min": lambda a, at: plain.reduced(a, at, np.fmin),
        }
        f = functions[name]
        if len(self.shape) == 1:
            text, index, shape = f"tl.{name}({x.text}, axis={axis}{widened})", (), ()
        else:
            index = (slice(None), None) if axis == 1 else (None, slice(None))
            text = f"tl.{name}({x.text}, axis={axis}{widened})[{':, None' if axis == 1 else 'None, :'}]"
            shape = (self.shape[0], 1) if axis == 1 else (1, self.shape[1])
        made = Expr(
            text, dtype, shape, lambda env: f(plain.cast(x.value(env), to) if widened else x.value(env), axis)[index]
        )
        return _positive_zero(made) if name != "sum" else made

    def _move(self) -> Expr:
        x = self.pick([e for e in self.known if e.shape == self.shape and e.dtype != "bool_"])
        if len(self.shape) == 2:
            inner = self._binary("+", x, x, lambda a, b: plain.arithmetic("+", a, b))
            return Expr(f"tl.trans(tl.trans({inner.text}))", x.dtype, self.shape, inner.value)
        half = self.shape[0] // 2
        text = f"tl.reshape(tl.trans(tl.reshape({x.text}, (2, {half}))), ({self.shape[0]},))"
        return Expr(text, x.dtype, self.shape, lambda env: x.value(env).reshape(2, half).T.reshape(self.shape))


def _negated(x: Any) -> Any:
    return -x if is_float(x.dtype) else plain.sub(np.zeros_like(x), x)


def _positive_zero(x: Expr) -> Expr:
    """A maximum of zeros has either sign: adding 0.0 makes it +0.0."""
    if x.dtype not in FLOATS:
        return x
    return Expr(f"({x.text} + 0.0)", x.dtype, x.shape, lambda env: x.value(env) + np.asarray(0.0, DTYPES[x.dtype]))


def _variable(name: str, dtype: str, shape: Shape) -> Expr:
    return Expr(name, dtype, shape, lambda env: env[name])


def _setter(name: str, made: Expr) -> Callable[[Env], None]:
    def run(env: Env) -> None:
        value = np.broadcast_to(np.asarray(made.value(env)), made.shape)
        assert value.dtype == DTYPES[made.dtype], (made, value.dtype)
        env[name] = value

    return run


def _all(steps: list[Callable[[Env], None]], env: Env) -> None:
    for step in steps:
        step(env)


def _data(dtype: str, count: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    to = DTYPES[dtype]
    if is_float(to):
        special = rng.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-5], count)
        return np.where(rng.random(count) < 0.1, special, rng.standard_normal(count) * 10).astype(to)
    limits = np.iinfo(to)
    wide = rng.integers(limits.min, limits.max, count, dtype=to, endpoint=True)
    return np.where(rng.random(count) < 0.5, wide, rng.integers(0, 10, count).astype(to)).astype(to)


MASKS = ("mask", "at < n", "n > at", "(at < n - 3) & (at >= 1)", "(at < n) | (at > n + 5)", "~(at >= n)", "None")


@st.composite
def written(draw: Draw, steps: int = 10, undefined: bool = False) -> Written:
    """A random kernel on tiles of one or two axes, with masks, loops and branches.

    With `undefined` loads may have no `other`, and loads and stores several masks; the twin then takes 0.
    """

    def pick(values: Any) -> Any:
        return draw(st.sampled_from(list(values)))

    shape: Shape = pick(((8,), (64,), (128,), (4, 16), (32, 8)))
    dtypes = tuple(dict.fromkeys((pick(FLOATS), pick((*INTS, *FLOATS)), pick(INTS), "i32")))
    programs = pick((1, 2, 3))
    size = int(np.prod(shape))
    n = draw(st.integers(0, size * programs))
    w = Writer(draw, shape, dtypes, {"n": n})
    arrays: dict[str, Any] = {}
    if len(shape) == 1:
        w.lines.append(f"    i = tl.arange(0, {shape[0]})")
    else:
        w.lines.append(f"    i = tl.arange(0, {shape[0]})[:, None] * {shape[1]} + tl.arange(0, {shape[1]})[None, :]")
    w.lines += [f"    at = tl.program_id(0) * {size} + i", "    mask = at < n"]
    index = np.arange(size, dtype=np.int32).reshape(shape)
    w.steps.append(lambda env: env.update(i=index, at=env["p"] * size + index, mask=env["p"] * size + index < env["n"]))
    w.known.append(_variable("i", "i32", shape))
    w.masks.append(_variable("mask", "bool_", shape))
    w.known.append(Expr("n", "i32", (), lambda env: np.asarray(env["n"], np.int32)))
    for number, dtype in enumerate((pick(dtypes), pick(dtypes))):
        name = f"x{number}"
        arrays[name] = _data(dtype, size * programs, draw(st.integers(0, 99)))
        fill, mask = pick((0, 1, 5)), pick(MASKS[:-1]) if undefined else "mask"
        other = "" if undefined and pick((True, True, False)) else f", other={fill}"
        load = f"tl.load({name} + at, mask={mask}{other})"
        w.assign(Expr(load, dtype, shape, _loader(name, fill, DTYPES[dtype])))
    for _ in range(draw(st.integers(4, steps))):
        w.statement()
    last = pick([e for e in w.known if e.shape == shape and e.dtype != "bool_"][-2:])
    arrays["y"] = _data(last.dtype, size * programs, 7)
    under = pick(MASKS) if undefined else "mask"
    w.lines.append(f"    tl.store(y + at, {last.text}, mask={under})")
    names = {"x0": arrays["x0"], "x1": arrays["x1"], "y": arrays["y"]}
    spelled = {np.dtype(v): k for k, v in DTYPES.items()}
    parameters = ", ".join(f"{name}: tl.Ptr[tl.{spelled[a.dtype]}]" for name, a in names.items())
    head = f"def kernel({parameters}, n: tl.Scalar[tl.i32], FLAG: tl.Const[bool]) -> None:"
    source = "\n".join(("import teeny as tn", "import teeny.language as tl", "", "", "@tn.kernel", head, *w.lines, ""))
    flag = pick((True, False))

    def run(env: Env) -> None:
        env["FLAG"] = flag
        _all(w.steps, env)
        env["y"][env["at"][env["mask"]]] = last.value(env)[env["mask"]]

    return Written(source, {"FLAG": flag}, arrays, {"n": n}, "y", programs, run)


def _loader(name: str, fill: int, to: np.dtype[Any]) -> Callable[[Env], Any]:
    def value(env: Env) -> Any:
        found = np.full(env["at"].shape, fill, to)
        found[env["mask"]] = env[name][env["at"][env["mask"]]]
        return found

    return value


def defined(source: str, folder: Path) -> Any:
    """The kernel of a source text, from a file of its own."""
    path = folder / f"written_{next(_numbers)}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fills that are no identity
        spec.loader.exec_module(module)
    return module.kernel
