"""Help in moving Triton kernels to this language."""
