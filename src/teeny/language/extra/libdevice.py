"""The functions of `triton.language.extra.libdevice` that have a meaning on every executor.

On NVIDIA's GPUs they are those of libdevice, on AMD's those of ocml; on the CPU inline code. Names that `tl` has too
are the same functions, but for `exp`, which is more accurate on GPUs than `tl.exp`.
"""

from teeny.language import elementary
from teeny.language.elementary import *
from teeny.ops.fast import exp

fma_rn = fma

__all__ = ["exp", "fma_rn"]
__all__ += elementary.__all__
