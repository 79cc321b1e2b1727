"""Devices, buffers, the cache and launches."""
