"""Search over a kernel's configurations."""
