"""The outermost step: names, origins, prefixes and the headers of every answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.crib import Crib, open_crib, problem_of
from toolcrib.asgi.hosts import Hosts, path_prefix
from toolcrib.settings import Settings


@asynccontextmanager
async def served(
    data_dir: Path, base_url: str = "http://127.0.0.1:8420", **settings: Any
) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of an installation with these settings, as its first user."""
    async with open_crib(Settings(data_dir=data_dir, **settings)) as crib:
        root = await crib.somebody(1)
        transport = httpx.ASGITransport(crib.app)
        headers = {"Authorization": f"Bearer {root.token}"}
        async with httpx.AsyncClient(
            transport=transport, base_url=base_url, headers=headers
        ) as api:
            yield api


@pytest.mark.parametrize(
    ("settings", "host", "answers"),
    [
        ({}, "127.0.0.1:8420", True),
        ({}, "localhost", True),
        ({}, "LOCALHOST:1", True),
        ({}, "[::1]:8420", True),
        ({}, "127.8.8.8", True),
        ({}, "evil.example", False),
        ({}, "evil.example:8420", False),
        ({}, "localhost.evil.example", False),
        ({}, "127.0.0.1.evil.example", False),
        ({}, "", False),
        ({}, "[", False),
        ({}, "localhost.:8420", True),
        ({}, "localhost:", False),
        ({}, "localhost..", False),
        ({}, "localhost:99999", False),
        ({}, "evil.example@localhost", False),
        ({}, "localhost/evil.example", False),
        ({}, "localhost?evil.example", False),
        ({}, "localhost, evil.example", False),
        ({}, "localhost evil.example", False),
        ({}, " localhost", False),
        ({}, "localho\u017ft", False),
        ({}, "\uff11\uff12\uff17.0.0.1", False),
        ({}, "127.1", False),
        ({}, "0x7f.0.0.1", False),
        ({}, "2130706433", False),
        ({}, "0127.0.0.1", False),
        ({}, None, False),
        ({"public_url": "https://crib.example/x"}, "crib.example", True),
        ({"public_url": "https://crib.example/x"}, "other.example", False),
        ({"host": "0.0.0.0"}, "anything.example", True),  # noqa: S104 - nothing listens here
        ({"host": "10.0.0.5"}, "anything.example", True),
        ({"host": "10.0.0.5"}, None, True),
        ({"host": "10.0.0.5"}, "one.example, other.example", False),
    ],
)
def test_a_server_on_loopback_answers_to_its_names(
    settings: dict[str, Any], host: str | None, answers: bool
) -> None:
    """A page that points its own name at 127.0.0.1 gets nothing."""
    assert Hosts.of(Settings(**settings)).answers_to(host) is answers


@pytest.mark.parametrize(
    ("settings", "origin", "host", "allowed"),
    [
        ({}, "http://127.0.0.1:8420", "127.0.0.1:8420", True),
        ({}, "http://localhost", "localhost:80", True),
        ({}, "https://localhost", "localhost:443", True),
        ({}, "http://127.0.0.1:3000", "127.0.0.1:8420", False),
        ({}, "https://evil.example", "127.0.0.1:8420", False),
        ({}, "null", "127.0.0.1:8420", False),
        ({}, "", "127.0.0.1:8420", False),
        ({}, "http://[", "127.0.0.1:8420", False),
        ({}, "http://x:99999", "x:99999", False),
        ({}, "HTTP://LocalHost:8420", "localhost:8420", True),
        ({}, "http://evil.example@localhost", "localhost", False),
        ({}, "http://localhost/", "localhost", False),
        ({}, "http://localhost http://evil.example", "localhost", False),
        ({}, "http://localhost.", "localhost", False),
        ({}, "http://localhost:0", "localhost:0", False),
        ({}, "ftp://localhost", "localhost", False),
        ({}, "http://one, two", "one, two", False),
        ({"cors_origins": ("https://app.example/",)}, "https://app.example", "x", True),
        ({"cors_origins": ("*",)}, "https://any.example", "x", True),
        ({"public_url": "https://crib.example/x"}, "https://crib.example", "127.0.0.1", True),
        ({"public_url": "https://crib.example/x"}, "http://crib.example", "127.0.0.1", False),
    ],
)
def test_pages_of_other_origins_may_not_speak(
    settings: dict[str, Any], origin: str, host: str, allowed: bool
) -> None:
    """Only the server's own pages, and those the operator named."""
    assert Hosts.of(Settings(**settings)).listens_to(origin, host=host) is allowed


async def test_refused_names_and_origins_are_problems(crib: Crib) -> None:
    """Before a token is even looked at, on open paths too."""
    api = (await crib.somebody(1)).api
    for path in ("/healthz", "/api/v1/me"):
        host = await api.get(path, headers={"Host": "evil.example"})
        assert problem_of(host) == (421, "wrong_host", "Host")
        origin = await api.get(path, headers={"Origin": "https://evil.example"})
        assert problem_of(origin) == (403, "wrong_origin", "Origin")


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/me", "/mcp"])
@pytest.mark.parametrize("name", ["Host", "Origin"])
@pytest.mark.parametrize("other", ["same", "evil.example"])
async def test_who_is_asked_and_by_whose_page_is_said_once(
    crib: Crib, path: str, name: str, other: str
) -> None:
    """Of two a proxy might have looked at the other one; two that are the same are two as well."""
    api = (await crib.somebody(1)).api
    own = {"Host": "127.0.0.1", "Origin": "http://127.0.0.1"}
    second = (name.swapcase(), own[name] if other == "same" else other)
    answer = await api.get(path, headers=[*own.items(), second])
    assert problem_of(answer) == (400, "invalid_request", name)


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/me", "/nowhere", "/openapi.json"])
async def test_every_answer_carries_the_headers(crib: Crib, path: str) -> None:
    """Nothing is sniffed, kept, framed or run."""
    api = (await crib.somebody(1)).api
    headers = (await api.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["content-security-policy"].startswith("default-src 'none'")


async def test_without_origins_no_page_is_allowed(crib: Crib) -> None:
    """No CORS header, and a preflight gets nothing."""
    api = await crib.client()
    preflight = await api.options(
        "/api/v1/me",
        headers={"Origin": "https://app.example", "Access-Control-Request-Method": "GET"},
    )
    assert preflight.status_code == 403
    assert "access-control-allow-origin" not in preflight.headers


async def test_allowed_origins_get_their_headers(data_dir: Path) -> None:
    """Preflight and answer, errors too; another origin still gets nothing."""
    async with served(data_dir, cors_origins=("https://app.example",)) as api:
        page = {"Origin": "https://app.example"}
        asked = {
            "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "authorization,if-match",
        }
        preflight = await api.options("/api/v1/me", headers=page | asked)
        answer = await api.get("/api/v1/me", headers=page)
        denied = await api.get("/api/v1/me", headers=page | {"Authorization": ""})
        other = await api.get("/api/v1/me", headers={"Origin": "https://evil.example"})

    assert preflight.status_code == 200
    for one in (preflight, answer, denied):
        assert one.headers["access-control-allow-origin"] == "https://app.example"
    assert "ETag" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers
    assert denied.status_code == 401
    assert other.status_code == 403


async def test_a_path_prefix_works_with_both_kinds_of_proxies(data_dir: Path) -> None:
    """One that cuts the prefix off and one that passes it on."""
    public = "https://crib.example/tools/crib"
    async with served(data_dir, "https://crib.example", public_url=public) as api:
        for path in ("/healthz", "/api/v1/me", "/openapi.json"):
            assert (await api.get(path)).status_code == 200
            assert (await api.get(f"/tools/crib{path}")).status_code == 200
        anonymous = {"Authorization": ""}
        assert (await api.get("/tools/crib/healthz", headers=anonymous)).status_code == 200
        assert (await api.get("/tools/crib/api/v1/me", headers=anonymous)).status_code == 401
        assert (await api.get("/tools/cribhealthz", headers=anonymous)).status_code == 401
        servers = (await api.get("/openapi.json")).json()["servers"]
    assert servers == [{"url": "/tools/crib"}]
    assert path_prefix("https://crib.example/") == ""
