"""How loads and stores use the caches of a GPU, and loads that are not merged. Results never depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny.ir.text.attributes import cache_policy
from teeny.ops.vocabulary import choice

if TYPE_CHECKING:
    from teeny.ops.function import Shapes

LOADS = ("", ".ca", ".cg", ".cs", ".cv")
STORES = ("", ".wb", ".cg", ".cs", ".wt")
EVICTIONS = ("", "evict_first", "evict_last")


def check_caching(s: Shapes, cache_modifier: Any, eviction_policy: Any, modifiers: tuple[str, ...]) -> None:
    """Demand words that there are."""
    choice(s, "cache_modifier", cache_modifier, modifiers)
    choice(s, "eviction_policy", eviction_policy, EVICTIONS)


def caching_attributes(cache_modifier: str, eviction_policy: str, volatile: bool = False) -> dict[str, Any]:
    """The attributes of an access, as Triton 3.9 writes them; none for the defaults."""
    attrs: dict[str, Any] = {"isVolatile": True} if volatile else {}
    if cache_modifier or eviction_policy:
        attrs["cachePolicy"] = cache_policy(cache_modifier[1:] or "none", eviction_policy or "evict_normal")
    return attrs
