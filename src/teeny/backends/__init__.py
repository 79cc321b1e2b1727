"""Executors and code generators: Triton, the CPU, the numpy reference."""
