"""What a kernel is written in: dtypes, tensors, pointers, constants, composite functions."""
