"""This module serves what OAuth clients read before they have a token (RFC 9728)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from fastapi import Request

from toolcrib.errors import NotFound
from toolcrib.surfaces.http.asking import ThePlatform, router
from toolcrib.surfaces.http.places import METADATA, is_gateway
from toolcrib.surfaces.http.shapes.fields import JsonObject

routes = router("wellknown", METADATA)


@routes.get("", response_model=JsonObject)
async def server(request: Request, platform: ThePlatform) -> Any:
    """Which issuer's tokens this server takes, for the API as a whole."""
    return _metadata(request, platform, "")


@routes.get("/{place:path}", response_model=JsonObject)
async def of_place(place: str, request: Request, platform: ThePlatform) -> Any:
    """The same for one MCP endpoint: `mcp`, or `mcp/agents/{agent}`.

    It answers alike for agents that exist and for others.
    """
    prefix = urlsplit(platform.settings.public_url).path.strip("/")
    path = place.strip("/")
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        path = path.removeprefix(prefix).strip("/")
    if path and not is_gateway(f"/{path}"):
        raise NotFound(f"There is no protected resource {place!r}.")
    return _metadata(request, platform, f"/{path}" if path else "")


def _metadata(request: Request, platform: ThePlatform, path: str) -> dict[str, Any]:
    settings = platform.settings
    if not settings.oidc_issuer:
        raise NotFound("This server takes its own tokens only.", hint="An admin makes one for you.")
    base = settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    return {
        "resource": f"{base}{path}",
        "authorization_servers": [settings.oidc_issuer],
        "bearer_methods_supported": ["header"],
        "scopes_supported": list(settings.oidc_scopes),
        "resource_name": "Toolcrib",
    }
