"""Kernels as PyTorch operators."""
