"""Small kernels of every construct that kernels use: (name, text of the kernel's body, consts, absent pointers).

Each has the parameters `x, y` (arrays of i32), `o` (an optional pointer), `n, m` (scalars), `K, FLAG, NAME, O`
(Consts).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

HEAD = """
from typing import Any

LIMIT: tl.Const[int] = 3
TABLE: tl.Const[tuple[int, ...]] = (2, 3, 5)


def twice(v: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:
    return v * 2


def larger(a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32], PLUS: tl.Const[int] = 0) -> tl.Scalar[tl.i32]:
    if a > b:
        return a + PLUS
    return b + PLUS


def both(a: tl.Scalar[tl.i32], b: tl.Scalar[tl.i32]) -> tuple[tl.Scalar[tl.i32], tl.Scalar[tl.i32]]:
    return b, a


def keep(p: tl.Ptr[tl.i32], v: tl.Scalar[tl.i32]) -> None:
    tl.store(p, v)


"""
SIGNATURE = """@tn.kernel
def kernel(
    x: tl.Ptr[tl.i32],
    y: tl.Ptr[tl.i32],
    o: tl.Ptr[tl.i32] | None,
    n: tl.Scalar[tl.i32],
    m: tl.Scalar[tl.i32],
    K: tl.Const[int],
    FLAG: tl.Const[bool],
    NAME: tl.Const[str],
    O: tl.Const[int | None],
) -> None:
"""


@dataclass(frozen=True)
class Construct:
    """`body` without indentation; `functions`: what stands before the kernel besides `HEAD`."""

    body: str
    functions: str = ""
    n: tuple[int, ...] = (0, 1, 5)
    m: tuple[int, ...] = (2, 7)
    consts: tuple[dict[str, Any], ...] = field(default=({},))

    @property
    def text(self) -> str:
        indented = "".join(f"    {line}\n" if line else "\n" for line in self.body.strip("\n").split("\n"))
        return f"{HEAD}{self.functions}{SIGNATURE}{indented}"


BOTH = ({"FLAG": True}, {"FLAG": False})
CONSTRUCTS: dict[str, Construct] = {
    "if (constexpr)": Construct("v = 1\nif FLAG:\n    v = n\ntl.store(y, v)", consts=BOTH),
    "else (constexpr)": Construct("if FLAG:\n    v = n\nelse:\n    v = m\ntl.store(y, v)", consts=BOTH),
    "elif (constexpr)": Construct(
        "if K == 1:\n"
        "    v = n\n"
        "elif K == 2:\n"
        "    v = m\n"
        "elif K > 2 and FLAG:\n"
        "    v = n + m\n"
        "else:\n"
        "    v = n * 0\n"
        "tl.store(y, v)",
        consts=(
            {"K": 1, "FLAG": True},
            {"K": 1, "FLAG": False},
            {"K": 2, "FLAG": True},
            {"K": 2, "FLAG": False},
            {"K": 3, "FLAG": True},
            {"K": 3, "FLAG": False},
        ),
    ),
    "if (runtime)": Construct("v = n\nif n > 1:\n    v += m\ntl.store(y, v)"),
    "elif (runtime)": Construct("if n == 0:\n    v = 1\nelif n == 1:\n    v = m\nelse:\n    v = n * m\ntl.store(y, v)"),
    "if (is-None)": Construct(
        "if o is not None:\n    tl.store(o, n)\nif o is None:\n    tl.store(y, m)", consts=({}, {"o": None})
    ),
    "elif (is-None)": Construct(
        "if FLAG:\n    tl.store(y, n)\nelif o is not None:\n    tl.store(y, tl.load(o) + m)\nelse:\n    tl.store(y, m)",
        consts=({"FLAG": True}, {"FLAG": True, "o": None}, {"FLAG": False}, {"FLAG": False, "o": None}),
    ),
    "None and a Const": Construct("v = n if O is None else n + O\ntl.store(y, v)", consts=({"O": None}, {"O": 4})),
    "float literal in a loop": Construct(
        "v = 0.5\nfor i in range(n):\n    v = v * 2.0\ntl.store(y, 1 if v > 3.0 else 0)"
    ),
    "float literals of branches": Construct(
        "v = 1.5 if n > 1 else 2.5\nif m > 3:\n    w = 0.25\nelse:\n    w = 0.5\ntl.store(y, 1 if v * w > 0.7 else 0)"
    ),
    "early return under runtime if": Construct("if n > 1:\n    return\ntl.store(y, m)"),
    "early return under constexpr if": Construct("if FLAG:\n    return\ntl.store(y, m)", consts=BOTH),
    "early return under is-None if": Construct("if o is None:\n    return\ntl.store(o, m)", consts=({}, {"o": None})),
    "nested early returns": Construct(
        "if n > 0:\n"
        "    if m > 3:\n"
        "        tl.store(y, 1)\n"
        "        return\n"
        "    tl.store(y + 1, n)\n"
        "else:\n"
        "    if FLAG:\n"
        "        return\n"
        "    tl.store(y + 2, 3)\n"
        "tl.store(y + 3, m)",
        consts=BOTH,
    ),
    "runtime if inside loop": Construct(
        "v = 0\nfor i in range(m):\n    if i > n:\n        v += i\n    else:\n        v -= 1\ntl.store(y, v)"
    ),
    "string compared": Construct(
        'if NAME == "sum":\n'
        "    v = n + m\n"
        'elif NAME == "max":\n'
        "    v = tl.maximum(n, m)\n"
        "else:\n"
        "    v = n\n"
        "tl.store(y, v)",
        consts=({"NAME": "sum"}, {"NAME": "max"}, {"NAME": "x"}),
    ),
    "pass": Construct("if n > 3:\n    pass\nelse:\n    tl.store(y, m)\nfor i in range(n):\n    pass"),
    "ternary (constexpr cond)": Construct("v = n if FLAG else m\ntl.store(y, v)", consts=BOTH),
    "ternary (runtime cond)": Construct("v = n if n > m else m\ntl.store(y, v + (1 if n == 0 else K))"),
    "ternary that loads": Construct(
        "v = tl.load(x + n) if n > 0 else m\n"
        "w = tl.load(x + 1000000) if n < 0 else tl.load(x + n * 2)\n"
        "u = tl.load(x - 100000) if n < 0 else (tl.load(x + 900000) if m < 0 else n)\n"
        "tl.store(y, v)\n"
        "tl.store(y + 1, w * 3 + u)\n"
    ),
    "and (runtime)": Construct("if n > 0 and m > 3 and n < m:\n    tl.store(y, 1)"),
    "or (runtime)": Construct("if n > 4 or m > 3 or n == 0:\n    tl.store(y, 1)"),
    "and (constexpr)": Construct(
        "if FLAG and K > 2:\n    tl.store(y, 1)\nif FLAG and n > 0:\n    tl.store(y + 1, 1)", consts=BOTH
    ),
    "or (constexpr)": Construct(
        "if FLAG or K > 9:\n    tl.store(y, 1)\nif FLAG or n > 0:\n    tl.store(y + 1, 1)", consts=BOTH
    ),
    "unary Not": Construct(
        "if not n > 1:\n"
        "    tl.store(y, 1)\n"
        "if not FLAG:\n"
        "    tl.store(y + 1, 1)\n"
        "flag = not (n > 0 and m > 3)\n"
        "if flag:\n"
        "    tl.store(y + 2, 1)",
        consts=BOTH,
    ),
    "compare chained": Construct("if 0 < n < m <= 7 != n:\n    tl.store(y, 1)\nif 1 <= K < 9:\n    tl.store(y + 1, 1)"),
    "in a tuple of Consts": Construct(
        "if K in (1, 4) or K not in TABLE:\n    tl.store(y, n)", consts=({"K": 4}, {"K": 5}, {"K": 6})
    ),
    "for over range(runtime bound)": Construct("v = 0\nfor i in range(n):\n    v += i * m\ntl.store(y, v)"),
    "range with step": Construct(
        "v = 0\nfor i in range(n, 20, 3):\n    v += i\nfor i in range(0, m * 4, K):\n    v += i\ntl.store(y, v)"
    ),
    "range with negative step": Construct(
        "v = 0\n"
        "for i in range(m, -1, -1):\n"
        "    v = v * 3 + i\n"
        "for i in tl.range(9, n, -2):\n"
        "    v += i\n"
        "for i in range(0, m, -1):\n"
        "    v += 100\n"
        "tl.store(y, v)"
    ),
    "for over range(all constexpr)": Construct(
        "v = n\nfor i in range(1, K, 2):\n    v += i\ntl.store(y, v)", consts=({"K": 6}, {"K": 1})
    ),
    "for over tl.range": Construct(
        "v = 0\n"
        "for i in tl.range(n):\n"
        "    v += i\n"
        "for i in tl.range(end=m, step=2, start=1):\n"
        "    v += i\n"
        "tl.store(y, v)"
    ),
    "tl.range hints": Construct(
        "v = 0\n"
        "for i in tl.range(0, m, 1, num_stages=K, loop_unroll_factor=2,\n"
        "                  flatten=FLAG, disallow_acc_multi_buffer=True, disable_licm=FLAG):\n"
        "    v += i\n"
        "tl.store(y, v)",
        consts=BOTH,
    ),
    "for over tl.static_range": Construct(
        "v = n\n"
        "for i in tl.static_range(K):\n"
        "    v += tl.load(x + i) * i\n"
        "for i in tl.static_range(4, 0, -2):\n"
        "    v += i\n"
        "tl.store(y, v)"
    ),
    "nested loop": Construct(
        "v = 0\n"
        "for i in range(n):\n"
        "    for j in range(i, m):\n"
        "        for k in tl.static_range(2):\n"
        "            v += i * j + k\n"
        "tl.store(y, v)"
    ),
    "while (runtime)": Construct("i = 0\nv = 0\nwhile i < m:\n    v += i\n    i += 2\ntl.store(y, v)"),
    "while, any condition": Construct(
        "i = m\n"
        "while (i > 1 and i != n) or i == 4:\n"
        "    i = i - 1\n"
        "while tl.load(y + i) != 0 and i < 6:\n"
        "    i += 1\n"
        "while tl.condition(i < 9, disable_licm=True):\n"
        "    i += 2\n"
        "tl.store(y, i)"
    ),
    "break": Construct(
        "v = 0\n"
        "for i in range(10):\n"
        "    if i == n:\n"
        "        break\n"
        "    v += i\n"
        "while v < 100:\n"
        "    v += m\n"
        "    if v > 40:\n"
        "        break\n"
        "tl.store(y, v)"
    ),
    "continue": Construct(
        "v = 0\n"
        "for i in range(10):\n"
        "    if i == n:\n"
        "        continue\n"
        "    if i > m:\n"
        "        v += 100\n"
        "        continue\n"
        "    v += i\n"
        "for i in tl.static_range(4):\n"
        "    if i == n:\n"
        "        continue\n"
        "    v += i\n"
        "tl.store(y, v)"
    ),
    "while True": Construct(
        "v = n\n"
        "while True:\n"
        "    v = v * 2 + 1\n"
        "    if v > 50:\n"
        "        break\n"
        "    elif v == 7:\n"
        "        continue\n"
        "    v += 1\n"
        "tl.store(y, v)"
    ),
    "else of loops": Construct(
        "v = 0\n"
        "for i in range(m):\n"
        "    if i == n:\n"
        "        break\n"
        "    v += 1\n"
        "else:\n"
        "    v += 1000\n"
        "while v > 5:\n"
        "    v = v // 2\n"
        "else:\n"
        "    v += 10\n"
        "for i in range(2):\n"
        "    v += 1\n"
        "else:\n"
        "    if v > 12:\n"
        "        return\n"
        "tl.store(y, v)"
    ),
    "return in the else of a loop": Construct(
        "if n > 0:\n"
        "    for i in range(m):\n"
        "        if i == n:\n"
        "            break\n"
        "    else:\n"
        "        if m > 3 or FLAG:\n"
        "            return\n"
        "    tl.store(y, 1)\n"
        "else:\n"
        "    for i in range(2):\n"
        "        tl.store(y + 1, i)\n"
        "    else:\n"
        "        return\n"
        "tl.store(y + 2, m)",
        consts=BOTH,
    ),
    "break from nested loops": Construct(
        "v = 0\n"
        "for i in range(6):\n"
        "    for j in range(6):\n"
        "        if j > i:\n"
        "            break\n"
        "        if (i + j) % 2 == 0:\n"
        "            continue\n"
        "        v += i * j\n"
        "    else:\n"
        "        v += 100\n"
        "    if v > 20 and FLAG:\n"
        "        break\n"
        "    if i == n:\n"
        "        continue\n"
        "    v += 1\n"
        "tl.store(y, v)",
        consts=BOTH,
    ),
    "break with steps": Construct(
        "v = 0\n"
        "for i in range(20, n, -3):\n"
        "    v += i\n"
        "    if i < m:\n"
        "        break\n"
        "for i in tl.range(0, 20, m - 1):\n"
        "    if i > 12:\n"
        "        break\n"
        "    v += i\n"
        "for i in tl.range(20, 0, 1 - m):\n"
        "    if i < 5:\n"
        "        break\n"
        "    v += i\n"
        "tl.store(y, v)"
    ),
    "values of loops": Construct(
        "a, b = 0, 1\n"
        "for _ in range(n):\n"
        "    a, b = b, a + b\n"
        "pair = (a, b)\n"
        "for i in range(m):\n"
        "    pair = (pair[1], pair[0] + i)\n"
        "tl.store(y, a + pair[0])\n"
        "tl.store(y + 1, pair[1])"
    ),
    "augassign": Construct(
        "v = n\nv += 3\nv -= m\nv *= 5\nv //= 2\nv %= 7\nv <<= 2\nv |= 9\nv &= 13\nv ^= 6\nv >>= 1\ntl.store(y, v)",
        n=(2, 9),
        m=(2,),
    ),
    "tuple-unpack assign": Construct(
        "a, b = n, m\n(c, d), e = (a, 1), b\na, b = b, a\ntl.store(y, a * 2 + b + c + d + e)"
    ),
    "annotated assign : tl.constexpr": Construct(
        "SIZE: tl.constexpr = K * 2\n"
        "STEP: tl.Const[int] = SIZE // 2\n"
        "v: tl.Scalar[tl.i32] = n + SIZE\n"
        "tl.store(y, v + STEP)"
    ),
    "tl.constexpr(...)": Construct(
        "v = n\nfor i in tl.static_range(TABLE[1]):\n    v += i\ntl.store(y, v + len(TABLE))"
    ),
    "tuple of Consts": Construct(
        "sizes = (K, 2, K + 1)\n"
        "v = n\n"
        "for i in tl.static_range(len(sizes)):\n"
        "    v += sizes[i] * TABLE[i]\n"
        "tl.store(y, v + sizes[-1])"
    ),
    "slice of a tuple": Construct("a = TABLE[1:]\nb = TABLE[:2]\ntl.store(y, n + a[0] + b[1] + len(a))"),
    "multiple targets": Construct("a = b = n + 1\nb += 2\ntl.store(y, a * 10 + b)"),
    "docstring": Construct('"""What it does."""\ntl.store(y, n)\n"a stray string"\n...'),
    "call of a helper": Construct("v = twice(larger(n, m)) + larger(n, m, PLUS=K) + larger(a=n, b=m)\ntl.store(y, v)"),
    "return tuple": Construct("a, b = both(n, m)\nc = both(a, b)[1]\ntl.store(y, a * 100 + b * 10 + c)"),
    "return (no value)": Construct("keep(y, n)\nkeep(y + 1, m)\nif n > 1:\n    return\nkeep(y + 2, n)"),
    "param default value": Construct("tl.store(y, larger(n, m) + larger(m, n, 2))"),
    "combine-fn passed as value": Construct(
        "tl.store(y, applied(twice, n) + applied(F=twice, v=m))",
        functions="def applied(F: tl.Const[Any], v: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:\n    return F(v)\n\n\n",
    ),
    "helper with loops": Construct(
        "tl.store(y, total(x, n, 2))",
        functions="def total(p: tl.Ptr[tl.i32], k: tl.Scalar[tl.i32], BY: tl.Const[int]) -> tl.Scalar[tl.i32]:\n"
        "    v = 0\n"
        "    for i in range(k):\n"
        "        if tl.load(p + i) == 4:\n"
        "            continue\n"
        "        v += tl.load(p + i) * BY\n"
        "    return v\n"
        "\n"
        "\n",
    ),
    "global constant": Construct("v = n * LIMIT\nif n < LIMIT:\n    v += TABLE[2]\ntl.store(y, v)"),
    "assert": Construct(
        'assert K > 0, f"K is {K}"\n'
        'assert n < 100, "too large"\n'
        'tl.static_assert(K < 99, f"{NAME}: {K:02d}")\n'
        "tl.device_assert(m > 0)\n"
        "tl.store(y, n)"
    ),
    "unary and bits": Construct("v = -n + (~m) + (n << 3 >> 1) + (m & 3 | 8) ^ 5\ntl.store(y, v)"),
    "binop Pow of Consts": Construct("v = n * K**2 + 2**K\ntl.store(y, v)"),
    "int constant >= 2**31": Construct("v = n.to(tl.i64) + 5000000000 - 4999999999\ntl.store(y, v.to(tl.i32))"),
    "masked stores": Construct("tl.store(y, n, mask=n > 0)\ntl.store(y + 1, tl.load(x + 1, mask=m > 3, other=9))"),
    "builtins of Consts": Construct("tl.store(y, n + min(K, 2) + max(K, TABLE[2]) + abs(-K) + int(FLAG))", consts=BOTH),
}
"""By the name in the list of what public kernels use."""

REFUSED: dict[str, tuple[str, str, str]] = {
    "lambda": ("f = lambda v: v * 2", "E001", "write a typed function beside the kernel and call it"),
    "list comprehension": ("v = [i for i in (1, 2)]", "E001", "write a loop over tl.static_range"),
    "generator": ("v = max(i for i in (1, 2))", "E001", "write a loop over tl.static_range"),
    "dict": ('v = {"a": 1}', "E001", "pass single Const parameters"),
    "set": ("v = {1, 2}", "E001", "use a tuple"),
    "try": ("try:\n    v = n\nfinally:\n    v = m", "E001", "check conditions with an `if`"),
    "with": ("with n:\n    v = n", "E001", "write the statements without it"),
    "raise": ("raise ValueError('n')", "E001", "use tl.static_assert"),
    "global": ("global LIMIT\nLIMIT = 3", "E001", "store through a pointer"),
    "del": ("v = n\ndel v", "E001", "leave it out"),
    "walrus": ("if (v := n) > 3:\n    tl.store(y, v)", "E001", "assign on a line of its own"),
    "match": ("match n:\n    case 1:\n        tl.store(y, 1)", "E001", "use if and elif"),
    "import": ("import math", "E001", "import at the top of the module"),
    "nested function": (
        "def f(v: tl.Scalar[tl.i32]) -> tl.Scalar[tl.i32]:\n    return v\ntl.store(y, f(n))",
        "E001",
        "define the helper beside the kernel",
    ),
    "class": ("class A:\n    pass", "E001", "pass single parameters"),
    "yield": ("yield n", "E001", "a kernel stores its results"),
    "subscript store": (
        "v = tl.arange(0, 4)\nv[0] = n",
        "E001",
        "choose lanes with tl.where, or store through a pointer",
    ),
    "augassign Pow": ("v = n\nv **= 2", "E001", "write x * x"),
    "augassign MatMult": ("v = n\nv @= m", "E001", "matrix products are written tl.dot"),
    "return in a loop": (
        "for i in range(n):\n    if i == m:\n        return\n    tl.store(y, i)",
        "E010",
        "leave the loop with `break`, and return after it",
    ),
    "break in static_range": ("for i in tl.static_range(4):\n    if i == n:\n        break", "E016", "use tl.range"),
    "loop with two indices": ("for i, j in tl.range(n):\n    tl.store(y, i)", "E001", "for i in tl.range(n):"),
    "while of a Const": ("while K > 2:\n    tl.store(y, 1)", "E016", "end the loop with `break`"),
    "is of values": ("if n is m:\n    tl.store(y, 1)", "E001", "use =="),
    "in of values": ("if n in (1, 2):\n    tl.store(y, 1)", "E001", "compare with each value"),
    "complex": ("v = 1j", "E001", ""),
    "print without a text": ("print(n)", "T010", 'tl.device_print("x", x)'),
    "num_stages of a value": ("for i in tl.range(0, n, num_stages=m):\n    tl.store(y, i)", "T010", ""),
}
"""By the construct: code, the code of the fault, and a part of its help."""
