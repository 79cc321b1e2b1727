"""Measurements against the budgets of the design: `python -m bench` (CPU) and `python -m bench.gpu`."""
