"""This module creates the application, around a platform of its own or one that is open."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from toolcrib.asgi.authentication import Authentication
from toolcrib.asgi.collecting import collecting_rarely
from toolcrib.asgi.front import Front
from toolcrib.asgi.gateway import ToGateway
from toolcrib.asgi.hosts import Hosts, path_prefix
from toolcrib.desk.furnishing import furnish
from toolcrib.desk.setup import first_token
from toolcrib.platform import Platform, open_platform
from toolcrib.settings import Settings
from toolcrib.surfaces.http.calling import Calling
from toolcrib.surfaces.http.serving import rest

_EXPOSED = ["ETag", "X-Toolcrib-Note"]


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application of a server; it opens its platform when the server starts.

    Without `settings` they are read from the environment. `/healthz` answers as soon as the
    database is open, `/readyz` once plugins were loaded.
    """
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncGenerator[None]:
        async with open_platform(chosen, wait_ready=False) as platform:
            await _let_somebody_in(platform)
            app.state.platform = platform
            try:
                with collecting_rarely():
                    yield
            finally:
                app.state.platform = None

    return rest(middleware=_middleware(chosen, waits=True), lifespan=lifespan)


def create_app_for(platform: Platform) -> FastAPI:
    """The application for a platform that somebody else opened and will close."""
    app = rest(middleware=_middleware(platform.settings))
    app.state.platform = platform
    return app


def _middleware(settings: Settings, *, waits: bool = False) -> list[Middleware]:
    """From the outside in."""
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(settings.cors_origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=["*"],
        expose_headers=_EXPOSED,
    )
    return [
        Middleware(Front, hosts=Hosts.of(settings), prefix=path_prefix(settings.public_url)),
        *([cors] if settings.cors_origins else []),
        Middleware(Authentication, waits=waits),
        Middleware(ToGateway),
        Middleware(Calling),
    ]


async def _let_somebody_in(platform: Platform) -> None:
    storage = platform.storage
    if platform.settings.builtin_tools:
        await furnish(storage.users, storage.capabilities, storage.signals)
    made = await first_token(
        storage.users,
        storage.tokens,
        storage.signals,
        given=platform.settings.admin_token.get_secret_value() or None,
    )
    if made is not None:
        sys.stderr.write(f"The first super-admin's token, shown this once: {made.text}\n")
        sys.stderr.flush()
