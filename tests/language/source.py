"""A described kernel as Python source."""

from __future__ import annotations

from tests.language.description import (
    Expr,
    For,
    Helper,
    If,
    Jump,
    Kind,
    Leave,
    Let,
    Pair,
    Program,
    Shape,
    Spin,
    Store,
    Tuple,
    Unpack,
    While,
)
from tests.language.sheet import spelled


def shape_text(shape: Shape) -> str:
    return "(" + ", ".join(shape) + ("," if len(shape) == 1 else "") + ")"


def number_text(value: float | int) -> str:
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return f'({"-" if value < 0 else ""}float("inf"))'
    return f"({value!r})" if value < 0 else repr(value)


class Writer:
    """Writes one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.carriers = {p.dtype: p.name for p in program.pointers}

    def dtype(self, dtype: str) -> str:
        """A dtype as a value in the kernel."""
        return f"{self.carriers[dtype]}.dtype" if dtype in self.program.variables else f"tl.{spelled(dtype)}"

    def annotation(self, dtype: str) -> str:
        return dtype if dtype in self.program.variables else f"tl.{spelled(dtype)}"

    def expr(self, e: Expr) -> str:
        args = [self.expr(a) for a in e.args]
        at = e.at
        match e.op:
            case "var" | "const" | "pointer":
                return str(at)
            case "literal":
                return number_text(at)
            case "item":
                return f"{at[0]}[{at[1]}]"
            case "binary" | "compare":
                return f"({args[0]} {at} {args[1]})"
            case "chain":
                return f"({args[0]} {at[0]} {args[1]} {at[1]} {args[2]})"
            case "logic":
                return f"({args[0]} {at} {args[1]})"
            case "not":
                return f"(not {args[0]})"
            case "unary":
                return f"({at}{args[0]})"
            case "call":
                return f"tl.{at}({', '.join(args)})"
            case "helper":
                return f"{at}({', '.join(args)})"
            case "cast":
                return f"{args[0]}.to({self.dtype(e.kind.dtype)})"
            case "where":
                return f"tl.where({', '.join(args)})"
            case "ternary":
                return f"({args[1]} if {args[0]} else {args[2]})"
            case "reduce":
                name, axis, keep, dtype = at
                more = (", keep_dims=True" if keep else "") + (f", dtype={self.dtype(dtype)}" if dtype else "")
                return f"tl.{name}({args[0]}, axis={axis}{more})"
            case "index":
                return f"{args[0]}[{at}]"
            case "broadcast":
                return f"tl.broadcast_to({args[0]}, {shape_text(e.kind.shape)})"
            case "reshape":
                return f"tl.reshape({args[0]}, {shape_text(e.kind.shape)})"
            case "trans":
                return f"tl.trans({args[0]})" if at is None else f"tl.trans({args[0]}, {at})"
            case "full":
                value = number_text(at)
                return f"tl.full({shape_text(e.kind.shape)}, {value}, {self.dtype(e.kind.dtype)})"
            case "range":
                return f"tl.arange(0, {at})"
            case "program_id" | "num_programs":
                return f"tl.{e.op}({at})"
            case "move":
                return f"({args[0]} + {args[1]})"
            case "load":
                names = ["", "mask=", "other="] if at else ["", "", ""]
                return f"tl.load({', '.join(n + a for n, a in zip(names, args, strict=False))})"
            case _:
                raise AssertionError(e.op)

    def block(self, body: tuple[object, ...], indent: int) -> str:
        return "".join(self.statement(s, indent) for s in body) or f"{'    ' * indent}pass\n"

    def statement(self, s: object, indent: int) -> str:
        space = "    " * indent
        match s:
            case Let(name, value, op):
                return f"{space}{name} {op}= {self.expr(value)}\n"
            case Pair(names, values):
                return f"{space}{', '.join(names)} = {', '.join(map(self.expr, values))}\n"
            case Store(pointer, value, mask):
                more = "" if mask is None else f", mask={self.expr(mask)}"
                return f"{space}tl.store({self.expr(pointer)}, {self.expr(value)}{more})\n"
            case For(name, loop, bounds, body, other):
                texts = ", ".join(self.expr(b) if isinstance(b, Expr) else str(b) for b in bounds)
                head = f"{space}for {name} in {loop}({texts}):\n"
                return f"{head}{self.block(body, indent + 1)}{self.otherwise(other, indent)}"
            case Spin(name, limit, condition, forever, body, other):
                more = "" if condition is None else f" and {self.expr(condition)}"
                test = "True" if forever else f"{name} < {limit}{more}"
                more = "" if condition is None else f" or not {self.expr(condition)}"
                stop = f"{space}    if {name} >= {limit}{more}:\n{space}        break\n" if forever else ""
                head = f"{space}while {test}:\n{stop}{space}    {name} += 1\n"
                return f"{head}{self.block(body, indent + 1)}{self.otherwise(other, indent)}"
            case Jump(word):
                return f"{space}{word}\n"
            case Tuple(name, values):
                return f"{space}{name} = ({', '.join(map(self.expr, values))},)\n"
            case Unpack(names, helper, args):
                return f"{space}{', '.join(names)} = {helper}({', '.join(map(self.expr, args))})\n"
            case While(name, limit, condition, body):
                more = "" if condition is None else f" and {self.expr(condition)}"
                count = f"{space}    {name} += 1\n"
                return f"{space}while {name} < {limit}{more}:\n{self.block(body, indent + 1)}{count}"
            case If(condition, then, other):
                test = condition if isinstance(condition, str) else self.expr(condition)
                text = f"{space}if {test}:\n{self.block(then, indent + 1)}"
                return text + self.otherwise(other, indent)
            case Leave(condition):
                return f"{space}if {self.expr(condition)}:\n{space}    return\n"
            case _:
                raise AssertionError(s)

    def otherwise(self, body: tuple[object, ...], indent: int) -> str:
        return f"{'    ' * indent}else:\n{self.block(body, indent + 1)}" if body else ""

    def helper(self, h: Helper) -> str:
        def tensor(kind: Kind) -> str:
            return f"tl.Tensor[{self.annotation(kind.dtype)}]"

        parameters = ", ".join(f"{name}: {tensor(kind)}" for name, kind in h.parameters)
        outer, self.carriers = self.carriers, {kind.dtype: name for name, kind in h.parameters}
        gives = tensor(h.result.kind)
        if h.second is not None:
            gives = f"tuple[{gives}, {tensor(h.second.kind)}]"
        text = f"def {h.name}({parameters}) -> {gives}:\n{''.join(self.statement(s, 1) for s in h.body)}"
        if h.early is not None:
            text += f"    if {self.expr(h.early[0])}:\n        return {', '.join(map(self.expr, h.early[1:]))}\n"
        results = [h.result] if h.second is None else [h.result, h.second]
        text += f"    return {', '.join(map(self.expr, results))}\n\n\n"
        self.carriers = outer
        return text

    def module(self) -> str:
        p = self.program
        bounds = {"D": "Dtype", "N": "Num", "I": "Int", "F": "Float", "B": "Bits"}
        text = "".join(f'{v} = TypeVar("{v}", bound=tl.{bounds[c]})\n' for v, c in p.variables.items())
        text += "\n\n" + "".join(map(self.helper, p.helpers))
        parameters = [f"{x.name}: tl.Ptr[{self.annotation(x.dtype)}]" for x in p.pointers]
        parameters += [f"{name}: tl.Scalar[tl.{dtype}]" for name, dtype in p.scalars.items()]
        parameters += [
            "BM: tl.Const[int]",
            "BN: tl.Const[int]",
            "BK: tl.Const[int]",
            "K: tl.Const[int]",
            "FLAG: tl.Const[bool]",
        ]
        return f"{text}@tn.kernel\ndef kernel(\n    {', '.join(parameters)}\n) -> None:\n{self.block(p.body, 1)}"


def source(program: Program) -> str:
    """A module's text with the kernel, its helpers and its type variables."""
    return Writer(program).module()
