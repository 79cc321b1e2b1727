"""`tl.math`: elementary functions under the other name that Triton has for them, and the others of libdevice."""

from teeny.language import elementary
from teeny.language.elementary import *
from teeny.ops.arith import umulhi
from teeny.ops.division import fdiv
from teeny.ops.math import exp

__all__ = ["exp", "fdiv", "umulhi"]
__all__ += elementary.__all__
