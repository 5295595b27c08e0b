"""Calls answered before the framework: the very answers that its route gives."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.middleware import Middleware

from tests.support.tenants import Tenants
from toolcrib.asgi.authentication import Authentication
from toolcrib.surfaces.http.serving import rest

JSON = "application/json"
Sent = tuple[str, bytes, dict[str, str]]


def sent(
    body: bytes, *, path: str = "{agent}/tools/hello/call", kind: str | None = JSON, **more: str
) -> Sent:
    headers = {} if kind is None else {"Content-Type": kind}
    return path, body, headers | {name.replace("_", "-"): value for name, value in more.items()}


GOOD = b'{"arguments": {"name": "you"}}'
REQUESTS: dict[str, Sent] = {
    "a call": sent(GOOD),
    "with a charset": sent(GOOD, kind="Application/JSON; charset=utf-8"),
    "of another JSON type": sent(GOOD, kind="application/vnd.x+json"),
    "arguments as text": sent(b'{"arguments": "{\\"name\\": \\"you\\"}"}'),
    "by ref": sent(GOOD, path="{agent}/tools/native:greet%2Fhello/call"),
    "a byte-order mark": sent(b"\xef\xbb\xbf" + GOOD),
    "with a query": sent(GOOD, path="{agent}/tools/hello/call?x=1"),
    "wrong arguments": sent(b'{"arguments": {"name": 5}}'),
    "no arguments": sent(b"{}"),
    "a tool that fails": sent(b"{}", path="{agent}/tools/lose_note/call"),
    "a context": sent(b'{"arguments": {"name": "you"}, "context": {}}'),
    "a context that cannot be": sent(b'{"context": {"nope": 1}}'),
    "a chat of nobody": sent(b'{"chat_id": 999999}'),
    "a uuid alone": sent(b'{"chat_uuid": "x"}'),
    "an unknown tool": sent(GOOD, path="{agent}/tools/nope/call"),
    "an unknown agent": sent(GOOD, path="999999/tools/hello/call"),
    "no agent": sent(GOOD, path="0/tools/hello/call"),
    "an agent in words": sent(GOOD, path="one/tools/hello/call"),
    "an agent with a sign": sent(GOOD, path="%2B1/tools/hello/call"),
    "an agent out of range": sent(GOOD, path="9223372036854775808/tools/hello/call"),
    "a long name": sent(GOOD, path="{agent}/tools/" + "x" * 513 + "/call"),
    "no name": sent(GOOD, path="{agent}/tools//call"),
    "a break in the name": sent(GOOD, path="{agent}/tools/a%0Ab/call"),
    "a break at the end": sent(GOOD, path="{agent}/tools/hello/call%0A"),
    "nothing": sent(b""),
    "nothing of no type": sent(b"", kind=None),
    "of no type": sent(GOOD, kind=None),
    "of another type": sent(GOOD, kind="text/plain"),
    "a list": sent(b"[]"),
    "null": sent(b"null"),
    "no JSON": sent(b"{"),
    "twice the same key": sent(b'{"arguments": {}, "arguments": {}}'),
    "not a number": sent(b'{"arguments": NaN}'),
    "half a character": sent(b'{"arguments": "\\ud800"}'),
    "no UTF-8": sent(b'{"arguments": "\xff"}'),
    "too deep": sent(b'{"arguments": ' + b"[" * 101 + b"]" * 101 + b"}"),
    "an unknown field": sent(b'{"argument": {}}'),
    "a chat in words": sent(b'{"chat_id": "1"}'),
    "a context in words": sent(b'{"context": "x"}'),
    "too large": sent(b'{"arguments": "' + b"x" * (1024 * 1024) + b'"}'),
    "for a group of others": sent(GOOD, X_Toolcrib_Group="999999"),
}


def framework(tenants: Tenants) -> httpx.AsyncClient:
    """The application without the short way, for the same user."""
    app = rest(middleware=[Middleware(Authentication)])
    app.state.platform = tenants.crib.platform
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://127.0.0.1",
        headers={"Authorization": tenants.user_a.api.headers["Authorization"]},
    )


def told(response: httpx.Response) -> tuple[int, str, Any]:
    """What an answer says, without what no two calls share."""
    body = response.json()
    for name in ("call_id", "duration_ms"):
        if body.get(name) is not None:
            body[name] = "…"
    return response.status_code, response.headers["content-type"], body


@pytest.mark.parametrize("what", REQUESTS)
async def test_answers_are_those_of_the_route(tenants: Tenants, what: str) -> None:
    """For a good request and for every one that is wrong: status, type and body."""
    path, body, headers = REQUESTS[what]
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet", "notes")
    url = "/api/v1/agents/" + path.format(agent=agent.id)
    ours = await tenants.user_a.api.post(url, content=body, headers=headers)
    async with framework(tenants) as plain:
        theirs = await plain.post(url, content=body, headers=headers)
    assert told(ours) == told(theirs)


async def test_a_body_in_pieces_is_read_whole(tenants: Tenants) -> None:
    """However the body arrives; one that grows too large is refused all the same."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    url = f"/api/v1/agents/{agent.id}/tools/hello/call"

    async def pieces(*parts: bytes) -> Any:
        for part in parts:
            yield part

    api, headers = tenants.user_a.api, {"Content-Type": JSON}
    done = await api.post(url, content=pieces(GOOD[:9], b"", GOOD[9:]), headers=headers)
    assert done.json()["text"] == "hello you"
    large = await api.post(url, content=pieces(*[b" " * 400_000] * 3, GOOD), headers=headers)
    assert (large.status_code, large.json()["code"]) == (413, "too_large")
