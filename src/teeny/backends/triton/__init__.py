"""The Triton compiler as a backend: dialect text to PTX, cubin and metadata."""
