"""Compiled kernels packed so that running them needs no compiler."""
