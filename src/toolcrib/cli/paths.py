"""This module writes the paths of the REST surface."""

from __future__ import annotations

from urllib.parse import quote

CAPABILITIES = "/api/super-admin/capabilities"
PACKAGES = "/admin/tools"
SECRETS = "/admin/secrets"


def path(*parts: object) -> str:
    """A path of v1; what stands between slashes is encoded."""
    return "/api/v1/" + "/".join(quote(str(part), safe="") for part in parts)


def package_path(slug: object) -> str:
    return f"{PACKAGES}/{quote(str(slug), safe='')}"


def secret_path(name: str) -> str:
    return f"{SECRETS}/{quote(name, safe='')}"
