"""Ready-made kernels of neural networks."""
