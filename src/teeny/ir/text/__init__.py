"""Text of the Triton dialect: printer and parser."""

from teeny.ir.text.cursor import TextError
from teeny.ir.text.parser import parse_module
from teeny.ir.text.printer import print_function, print_module

__all__ = ["TextError", "parse_module", "print_function", "print_module"]
