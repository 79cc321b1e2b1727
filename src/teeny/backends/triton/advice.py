"""What helps against what Triton's compiler and ptxas complain of."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny.backends.triton.goal import Goal


@dataclass(frozen=True, slots=True)
class _Rule:
    """A sentence for messages that match, where the goal is such."""

    pattern: re.Pattern[str]
    sentence: str
    when: Callable[[Goal], bool] = lambda goal: True


_RULES = (
    _Rule(
        re.compile(r"Insufficient registers|[Rr]egister (?:count|target)|maxnreg"),
        "raise maxnreg, or leave it out: this instruction needs that many registers in each thread",
    ),
    _Rule(
        re.compile(r"not supported on \.target|cannot be compiled for architecture|requires \.target sm_\d+[af]"),
        "portable code has only instructions that younger architectures keep: set num_ctas=1, with which products are "
        "made of such, or leave portable=True out",
        lambda goal: goal.portable,
    ),
    _Rule(
        re.compile(r"requires \.target|cannot be compiled for architecture"),
        "the operation needs a younger architecture than this target",
        lambda goal: not goal.portable,
    ),
    _Rule(
        re.compile(r"compatible backends|libtriton_amd_codegen"),
        "this build of Triton lacks the compiler for this target; Triton's own wheels for Linux have it",
    ),
    _Rule(re.compile(r"PTX ISA|[Uu]nsupported \.version"), "leave ptx_version out, or choose a newer one"),
    _Rule(re.compile(r"Maximum allowed number of elements|too much shared data"), "choose smaller blocks"),
)
_CLUSTERS = "set num_ctas=1: Triton's passes for clusters take fewer kernels"


def advice(said: str, goal: Goal, num_ctas: int) -> tuple[str, ...]:
    """Sentences that help, for all that the compiler said."""
    found = tuple(rule.sentence for rule in _RULES if rule.when(goal) and rule.pattern.search(said))
    return found if found or num_ctas == 1 else (_CLUSTERS,)
