"""This module reaches the installation of this machine without a server: the same REST surface,
called in this process with the operator's rights."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NoReturn

import httpx
from starlette.middleware import Middleware

from toolcrib.asgi.authentication import Authentication
from toolcrib.cli.client import Client
from toolcrib.cli.logs import configure_errand
from toolcrib.cli.preparing import first_user, make_data_dir
from toolcrib.desk.operator import operator
from toolcrib.errors import ToolcribError
from toolcrib.platform import Platform, open_platform
from toolcrib.surfaces.http.asking import SCOPE_OPERATOR
from toolcrib.surfaces.http.serving import rest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from toolcrib.settings import Settings


@asynccontextmanager
async def here(settings: Settings, *, plugins: bool) -> AsyncGenerator[Client]:
    """A client of this installation. With `plugins` they were loaded, whatever failed."""
    async with opened(settings, plugins=plugins) as platform:
        app = rest(middleware=[Middleware(Authentication, otherwise=operator())])
        app.state.platform = platform
        # Nothing is hidden from the operator: errors arrive as they were raised.
        app.add_exception_handler(ToolcribError, _raise)
        app.add_exception_handler(Exception, _raise)
        transport = httpx.ASGITransport(_with_all_calls(app))
        async with httpx.AsyncClient(transport=transport, base_url="http://toolcrib") as http:
            yield Client(http, platform=platform)


@asynccontextmanager
async def opened(settings: Settings, *, plugins: bool = False) -> AsyncGenerator[Platform]:
    """The open platform, for one errand. An empty installation gets its first user."""
    configure_errand(settings)
    make_data_dir(settings)
    async with open_platform(settings, wait_ready=plugins, background=False) as platform:
        token = await first_user(platform)
        if token:
            sys.stderr.write(
                f"· This installation was empty. Its admin token, shown this once: {token}\n"
            )
        yield platform


def _with_all_calls(app: ASGIApp) -> ASGIApp:
    """Whoever can read the database may read the whole journal."""

    async def marked(scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_OPERATOR] = True
        await app(scope, receive, send)

    return marked


async def _raise(request: Request, error: Exception) -> NoReturn:
    raise error
