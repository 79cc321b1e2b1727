"""Property tests have no deadline a case: the first one pays for what is loaded lazily."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("diag", deadline=None)
settings.load_profile("diag")
