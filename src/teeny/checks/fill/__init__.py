"""Fills: what the lanes outside a mask hold, and whether such lanes go where they may not.

For each value and each condition of a mask the analysis knows what the lanes hold that fail the condition: nothing
special, a number, something computed, or nothing defined at all (a masked load without `other`). Findings: undefined or
wrongly filled lanes that reach a reduction, a store that keeps them, an address, a branch.
"""

from teeny.checks.fill.check import check_fills

__all__ = ["check_fills"]
