"""This module serves a site with a login form on loopback, and opens an office with a browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from tests.support.chatting import Office, Talk, open_office
from tests.support.services import missing
from toolcrib.builtin.browser.chromium import find_chromium
from toolcrib.settings import Settings

LOGIN = """<!doctype html><title>Log in</title><h1>Workshop</h1>
<form method="post" action="/login">
  <label>Name <input name="name"></label>
  <label>Password <input name="password" type="password"></label>
  <label><input type="checkbox" name="stay"> Stay</label>
  <select name="bench" aria-label="Bench"><option>north</option><option>south</option></select>
  <button>Sign in</button>
</form><a href="/private">Private</a>"""


@dataclass(kw_only=True)
class Site:
    """A real server. `seen` are the requests that arrived, `METHOD path`."""

    port: int = 0
    seen: list[str] = field(default_factory=list[str])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(f"{request.method} {request.path}")
        self.headers.append(dict(request.headers))
        page = getattr(self, f"_{request.path.strip('/').replace('.', '_') or 'home'}", None)
        return (
            web.Response(status=404, text="nothing here") if page is None else await page(request)
        )

    async def _home(self, request: web.Request) -> web.Response:
        return web.Response(text=LOGIN, content_type="text/html")

    async def _login(self, request: web.Request) -> web.Response:
        given = await request.post()
        if (given.get("name"), given.get("password")) != ("ada", "lovelace"):
            return web.Response(status=401, text="<h1>Wrong</h1>", content_type="text/html")
        there = f"/private?bench={given.get('bench')}&stay={given.get('stay')}"
        answer = web.Response(status=303, headers={"Location": there})
        answer.set_cookie("session", "ada")
        return answer

    async def _private(self, request: web.Request) -> web.Response:
        who = request.cookies.get("session")
        if who is None:
            return web.Response(status=403, text="<h1>Log in first</h1>", content_type="text/html")
        text = f"<title>Private</title><h1>Hello {who}</h1><p>{request.query_string}</p>"
        return web.Response(text=text, content_type="text/html")

    async def _away(self, request: web.Request) -> web.Response:
        raise web.HTTPFound(request.query["to"])

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str("hello by socket")
        await socket.close()
        return socket

    async def _script(self, request: web.Request) -> web.Response:
        text = f"<title>Script</title><p id=out>waiting</p><script>{request.query['js']}</script>"
        return web.Response(text=text, content_type="text/html")


async def serve(stack: list[web.AppRunner]) -> Site:
    site = Site()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", site.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    place = web.TCPSite(runner, "127.0.0.1", 0)
    await place.start()
    site.port = runner.addresses[0][1]
    stack.append(runner)
    return site


@pytest.fixture
async def runners() -> AsyncGenerator[list[web.AppRunner]]:
    started: list[web.AppRunner] = []
    yield started
    for runner in started:
        await runner.cleanup()


@pytest.fixture
async def site(runners: list[web.AppRunner]) -> Site:
    """A server that the operator allows."""
    return await serve(runners)


@pytest.fixture
async def other(runners: list[web.AppRunner]) -> Site:
    """A server that nobody allows."""
    return await serve(runners)


@pytest.fixture
async def office(settings: Settings, site: Site) -> AsyncGenerator[Office]:
    found = find_chromium("auto")
    if not isinstance(found, str):
        missing(f"{found[0]}: {found[1]}")
    allowed = settings.model_copy(
        update={"egress_allow": (site.place,), "call_timeout": 110.0}  # the machine may be busy
    )
    async with open_office(allowed, ["browser"]) as opened:
        yield opened


@pytest.fixture
async def talk(office: Office) -> Talk:
    return await office.talk(await office.person("ada"))
