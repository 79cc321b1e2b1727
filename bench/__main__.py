"""`make bench`: one table of what was measured beside the budgets. Exit status 0, whatever the numbers."""

from __future__ import annotations

import platform
import sys

from bench.environment import clean


def main() -> int:
    """Measure everything; progress goes to standard error."""
    clean()
    from bench import front, matmul, native, products, softmax
    from bench.table import Row, table

    found: list[Row] = []
    parts = (
        ("import, definition, specialisation", front),
        ("CPU code, launches", native),
        ("softmax", softmax),
        ("matrix product", matmul),
        ("products of other dtypes", products),
    )
    for name, part in parts:
        print(f"bench: {name}", file=sys.stderr, flush=True)
        found += part.rows()
    print(f"Python {platform.python_version()}, {platform.machine()}; the best of several runs; softmax and matmul:")
    print("medians of runs that take turns, where more than 1x means that teeny is faster\n")
    print(table(found))
    missed = sum(not row.holds for row in found)
    print(
        f"\n{missed or 'no'} budget{'s' if missed != 1 else ''} missed of {sum(row.ratio is not None for row in found)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
