"""This module writes the paths of the REST surface."""

from __future__ import annotations

from urllib.parse import quote

CAPABILITIES = "/api/super-admin/capabilities"


def path(*parts: object) -> str:
    """A path of v1; what stands between slashes is encoded."""
    return "/api/v1/" + "/".join(quote(str(part), safe="") for part in parts)
