"""Kernels of Triton in the shapes that public libraries use, each with what torch makes of the same arguments.

They are the tests of Triton kernels on the CPU and the set that is measured against Triton's interpreter.
"""

GROUPS = ("elementwise", "normalise", "products", "attention", "gathering")
"""The modules with cases; importing one enters its cases into `case.CASES`."""
