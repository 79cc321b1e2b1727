"""Triton-style block kernels in typed Python: checked before anything runs, fast on CPU and GPU."""

__version__ = "0.1.0"
