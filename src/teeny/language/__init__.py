"""The kernel language: `import teeny.language as tl`. Names and argument orders are Triton's.

Each name is defined once, in its family under `ops`; this module alone imports families whole, so that a new operation
touches no second file.
"""

from teeny.language import extra as extra
from teeny.language import math as math
from teeny.language import random as random
from teeny.language.constexpr import *
from teeny.language.dtypes import *
from teeny.language.library import *
from teeny.language.propagate import *
from teeny.language.random import *
from teeny.language.tensor import *
from teeny.ops.arith import *
from teeny.ops.atomic import *
from teeny.ops.atomic_access import *
from teeny.ops.block_pointer import *
from teeny.ops.branch import *
from teeny.ops.cast import *
from teeny.ops.clamp import *
from teeny.ops.combine import *
from teeny.ops.compare import *
from teeny.ops.contracts import *
from teeny.ops.control import *
from teeny.ops.debug import *
from teeny.ops.descriptor import *
from teeny.ops.division import *
from teeny.ops.dot import *
from teeny.ops.dot_scaled import *
from teeny.ops.flip import *
from teeny.ops.gather import *
from teeny.ops.hints import *
from teeny.ops.histogram import *
from teeny.ops.inline_asm import *
from teeny.ops.join import *
from teeny.ops.library_calls import *
from teeny.ops.mapped import *
from teeny.ops.math import *
from teeny.ops.memory import *
from teeny.ops.pointer import *
from teeny.ops.program import *
from teeny.ops.reduce import *
from teeny.ops.scan import *
from teeny.ops.seed import *
from teeny.ops.shape import *
from teeny.ops.sort import *
