"""Triton kernels as they are: `import triton` finds this backend for the CPU by the entry point `cpu`."""
