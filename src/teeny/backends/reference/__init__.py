"""The meaning of each operation in plain numpy: slow, and the yardstick of the rest."""
