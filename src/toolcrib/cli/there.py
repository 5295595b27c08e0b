"""This module reaches a Toolcrib that runs elsewhere, with a token."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx

from toolcrib.cli.client import Client
from toolcrib.errors import InvalidRequest, NotAuthenticated

_TIMEOUT = 330.0
"""Seconds: longer than a call's own deadline, so that the server is who ends it."""


@asynccontextmanager
async def there(url: str, token: str | None) -> AsyncGenerator[Client]:
    """A client of the server at `url`, path prefix included. Raises InvalidRequest for none."""
    if not url.lower().startswith(("http://", "https://")):
        raise InvalidRequest(
            f"{url!r} is no address of a server.",
            where="--url",
            hint="Write it as in --url http://127.0.0.1:8420.",
        )
    if not token:
        raise NotAuthenticated(
            f"The server at {url} needs a token.", hint="Give --token or set TOOLCRIB_TOKEN."
        )
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=_TIMEOUT) as http:
        yield Client(http)
