"""What an operation from outside the package is made of. These names are public and stay; see docs/extending.md.

An operation is an `OpDef`, mostly made by `elementwise`; a function of the language is a signature under `language`,
whose emitter makes operations through a `Builder`.
"""

from teeny.ir.builder import Builder
from teeny.ir.core import Value
from teeny.ir.dtype import BOOL, BOOLEAN, FLOAT, INT, NUM, DType
from teeny.ir.lanes import Lane, LaneBuilder
from teeny.ir.rules import Absent, Interval, Lanewise, Structural, absorbing, either, monotone, neutral, unchanged
from teeny.ir.schema import OpDef, Ulp, define, registry
from teeny.ops.constant import constant
from teeny.ops.function import Operand, Shapes, language
from teeny.ops.vocabulary import Family, elementwise, family

__all__ = [
    "BOOL",
    "BOOLEAN",
    "FLOAT",
    "INT",
    "NUM",
    "Absent",
    "Builder",
    "DType",
    "Family",
    "Interval",
    "Lane",
    "LaneBuilder",
    "Lanewise",
    "OpDef",
    "Operand",
    "Shapes",
    "Structural",
    "Ulp",
    "Value",
    "absorbing",
    "constant",
    "define",
    "either",
    "elementwise",
    "family",
    "language",
    "monotone",
    "neutral",
    "operation",
    "unchanged",
]


def operation(name: str) -> OpDef:
    """An operation of the dialect, such as `arith.addf` or `math.absf`. Raises KeyError where there is none."""
    return registry()[name]
