"""What Triton keeps in `triton.language.extra`: `from teeny.language.extra import libdevice`."""

from teeny.language.extra import libdevice as libdevice

__all__ = ["libdevice"]
