"""The intermediate form: typed SSA with regions that mirrors the Triton dialect; text, verification."""
