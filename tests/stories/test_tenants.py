"""Two tenants on one installation: no answer to one ever holds a word of the other.

The requests are made from the application's own routes. A route that has no line in ROUTES fails
the tests: say there what its body is and what a stranger gets.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.support.crib import Crib, Person, open_crib
from tests.support.worlds import Tenant, furnish, furniture
from toolcrib.settings import Settings

Body = Callable[[Tenant], dict[str, Any]]
Mixed = Callable[[Tenant, Tenant], dict[str, Any]]
HIDDEN = frozenset({404})
REFUSED = frozenset({403})
SEEN = frozenset({200})
UNFIT = frozenset({422})


@dataclass(frozen=True, kw_only=True)
class Line:
    """How one route is asked.

    `body` and `query` are made of a tenant's things; asked with the other's by somebody who is
    no super-admin, the route answers with one of `foreign`. `mixed` are requests about one's own
    things that name the other's within. `changes` marks what must not be tried on one's own
    things, for the next request needs them.
    """

    foreign: frozenset[int] = HIDDEN
    body: Body | None = None
    query: Body | None = None
    files: Body | None = None
    mixed: tuple[Mixed, ...] = ()
    changes: bool = False
    open: bool = False
    """Answers without a token."""
    bare: int = 200
    """What it answers then."""


AGENT = "/api/v1/agents/{agent_id}"
CHAT = "/api/v1/chats/{chat_id}"
CAPABILITY = "/api/super-admin/capabilities"
USER = "/api/v1/users/{user_id}"
PACKAGE = "/admin/tools/{slug}"

ROUTES: dict[str, Line] = {
    # -- tools ------------------------------------------------------------------------------
    f"POST {AGENT}/tools/{{name:path}}/call": Line(
        body=lambda t: {"arguments": {"text": t.word}},
        mixed=(
            lambda own, other: {"json": {"arguments": {"text": "x"}, "chat_id": other.chat}},
            lambda own, other: {
                "json": {"arguments": {"text": "x"}, "context": {"parent_chat_id": other.chat}}
            },
        ),
    ),
    f"POST {AGENT}/tools/{{name:path}}/preview": Line(
        body=lambda t: {"arguments": {"text": t.word}},
        mixed=(lambda own, other: {"json": {"arguments": {"text": "x"}, "chat_id": other.chat}},),
    ),
    f"GET {AGENT}/tools": Line(
        mixed=(
            lambda own, other: {"params": {"chat_id": other.chat}},
            lambda own, other: {"params": {"context": f'{{"parent_chat_id": {other.chat}}}'}},
        )
    ),
    "GET /api/v1/explain": Line(
        query=lambda t: {"agent": t.agent, "tool": "repeat"},
        mixed=(
            lambda own, other: {
                "params": {"agent": own.agent, "tool": "repeat", "user": other.user.id}
            },
        ),
    ),
    # -- agents -----------------------------------------------------------------------------
    "POST /api/v1/agents": Line(
        body=lambda t: {"name": f"{t.word} new agent", "group_id": t.group},
        mixed=(
            lambda own, other: {
                "json": {"name": "a", "group_id": own.group, "capabilities": [other.capability]}
            },
            lambda own, other: {"json": {"name": "b", "capabilities": [other.private_capability]}},
            lambda own, other: {
                "json": {"name": "c", "group_id": own.group, "capabilities": [f"{other.word}_code"]}
            },
        ),
    ),
    "GET /api/v1/agents": Line(foreign=SEEN),
    f"GET {AGENT}": Line(),
    f"PATCH {AGENT}": Line(body=lambda t: {"extra": {"note": t.word}}),
    f"PUT {AGENT}/capabilities": Line(
        body=lambda t: {"capabilities": [t.capability]},
        mixed=(
            lambda own, other: {"json": {"capabilities": [other.capability]}},
            lambda own, other: {"json": {"capabilities": [f"{other.word}_code"]}},
        ),
    ),
    f"DELETE {AGENT}": Line(changes=True),
    # -- the catalogue ------------------------------------------------------------------------
    "GET /tools": Line(foreign=SEEN),
    "GET /tools/{tool_name}": Line(foreign=SEEN | HIDDEN),  # bound to an agent: none
    # -- chats and documents ----------------------------------------------------------------
    "POST /api/v1/chats": Line(
        body=lambda t: {"agent_id": t.agent},
        mixed=(
            lambda own, other: {
                "json": {"agent_id": own.agent, "context": {"parent_chat_id": other.chat}}
            },
        ),
    ),
    "GET /api/v1/chats": Line(foreign=SEEN, query=lambda t: {"agent": t.agent}),
    f"GET {CHAT}": Line(),
    f"DELETE {CHAT}": Line(changes=True),
    f"GET {CHAT}/messages": Line(),
    f"GET {CHAT}/tasks": Line(),
    f"POST {CHAT}/messages": Line(body=lambda t: {"content": "@tool:repeat"}),
    f"POST {CHAT}/documents": Line(files=lambda t: {"file": ("x.txt", b"x", "text/plain")}),
    f"GET {CHAT}/documents": Line(),
    f"GET {CHAT}/documents/{{document_id}}": Line(),
    f"GET {CHAT}/documents/{{document_id}}/content": Line(),
    f"DELETE {CHAT}/documents/{{document_id}}": Line(changes=True),
    # -- the journal ------------------------------------------------------------------------
    "GET /api/v1/calls": Line(
        foreign=SEEN, query=lambda t: {"user": t.user.id, "agent": t.agent, "tool": "fail"}
    ),
    "GET /api/v1/calls/{call_id}": Line(),
    # -- capabilities -----------------------------------------------------------------------
    f"POST {CAPABILITY}": Line(
        body=lambda t: {
            "name": "x",
            "code": f"parrot,{t.word}_code",
            "access_type": "group",
            "group_id": t.group,
        },
    ),
    f"POST {CAPABILITY}/from-registered-tool": Line(
        body=lambda t: {"code": "parrot", "group_id": t.group}
    ),
    f"GET {CAPABILITY}/registered-tools": Line(query=lambda t: {"group_id": t.group}),
    f"GET {CAPABILITY}": Line(
        foreign=SEEN, query=lambda t: {"code": f"{t.word}_code", "archived": True}
    ),
    f"GET {CAPABILITY}/{{capability_id}}": Line(),
    f"PATCH {CAPABILITY}/{{capability_id}}": Line(
        body=lambda t: {"help": t.word},
        mixed=(lambda own, other: {"json": {"group_id": other.group}},),
    ),
    f"DELETE {CAPABILITY}/{{capability_id}}": Line(changes=True),
    f"POST {CAPABILITY}/{{capability_id}}/restore": Line(),
    # -- groups, users, tokens, settings ------------------------------------------------------
    "POST /api/v1/groups": Line(foreign=REFUSED, body=lambda t: {"name": f"{t.word} group"}),
    "GET /api/v1/groups": Line(foreign=SEEN),
    "GET /api/v1/groups/{group_id}": Line(),
    "POST /api/v1/users": Line(
        foreign=REFUSED,
        body=lambda t: {"name": f"{t.word} user", "role": "user", "group_ids": [t.group]},
    ),
    "GET /api/v1/users": Line(foreign=SEEN),
    f"GET {USER}": Line(),
    f"PATCH {USER}": Line(
        body=lambda t: {"entitlements": []},
        mixed=(lambda own, other: {"json": {"group_ids": [other.group]}},),
        changes=True,
    ),
    f"PUT {USER}/password": Line(body=lambda t: {"password": "correct horse"}),
    f"POST {USER}/tokens": Line(
        body=lambda t: {"name": "x", "agent_id": t.agent},
        mixed=(lambda own, other: {"json": {"name": "x", "agent_id": other.agent}},),
    ),
    f"GET {USER}/tokens": Line(),
    f"DELETE {USER}/tokens/{{token_id}}": Line(changes=True),
    "PUT /api/v1/settings/{name}": Line(
        body=lambda t: {"value": "another-value", "group_id": t.group},
        mixed=(lambda own, other: {"json": {"value": "x", "user_id": other.user.id}},),
    ),
    "GET /api/v1/settings": Line(
        query=lambda t: {"group_id": t.group},
        mixed=(lambda own, other: {"params": {"user_id": other.user.id}},),
    ),
    "DELETE /api/v1/settings/{name}": Line(query=lambda t: {"group_id": t.group}, changes=True),
    # -- the installation: nothing here is a tenant's -----------------------------------------
    "POST /admin/tools/install": Line(foreign=HIDDEN | REFUSED, body=lambda t: {"slug": t.word}),
    "POST /admin/tools/preview": Line(
        foreign=SEEN | HIDDEN | REFUSED, body=lambda t: {"slug": t.word}
    ),
    "GET /admin/tools": Line(foreign=SEEN | HIDDEN | REFUSED),
    f"GET {PACKAGE}": Line(foreign=HIDDEN | REFUSED),
    f"PUT {PACKAGE}": Line(foreign=HIDDEN | REFUSED, body=lambda t: {"slug": t.word}),
    f"DELETE {PACKAGE}": Line(foreign=HIDDEN | REFUSED),
    f"POST {PACKAGE}/enable": Line(foreign=HIDDEN | REFUSED),
    f"POST {PACKAGE}/disable": Line(foreign=HIDDEN | REFUSED),
    f"POST {PACKAGE}/test": Line(foreign=HIDDEN | REFUSED, body=lambda t: {}),
    "PUT /admin/secrets/{name}": Line(foreign=HIDDEN | REFUSED, body=lambda t: {"value": "xxxxxx"}),
    "GET /admin/secrets": Line(foreign=SEEN | HIDDEN | REFUSED),
    "DELETE /admin/secrets/{name}": Line(foreign=HIDDEN | REFUSED),
    "GET /api/v1/mcp/servers": Line(foreign=SEEN),
    "POST /api/v1/mcp/servers/{ref}/refresh": Line(),
    "GET /api/v1/mcp/connections": Line(foreign=SEEN),
    "POST /api/v1/mcp/connections": Line(body=lambda t: {"ref": f"mcp:{t.capability}"}),
    "DELETE /api/v1/mcp/connections/{ref}": Line(),
    "POST /api/v1/mcp/connections/{ref}/confirm": Line(body=lambda t: {"code": "WDJB-MJHT"}),
    "GET /oauth/login/{ticket}": Line(foreign=UNFIT, open=True, bare=422),
    "POST /oauth/login/{ticket}/continue": Line(foreign=UNFIT, open=True, bare=422),
    "POST /oauth/login/{ticket}/deny": Line(foreign=UNFIT, open=True, bare=422),
    "GET /oauth/callback": Line(foreign=UNFIT, open=True, bare=422),
    "GET /oauth/callback/{issuer}": Line(foreign=UNFIT, open=True, bare=422),
    "GET /oauth/client.json": Line(open=True, bare=404),
    "GET /oauth/client/{issuer}": Line(open=True, bare=404),
    # -- pins: of private rows only, for who is no admin ---------------------------------------
    "GET /api/v1/pins": Line(foreign=SEEN),
    "GET /api/v1/pins/lookalikes": Line(foreign=REFUSED),
    "POST /api/v1/pins/look": Line(foreign=REFUSED),
    "POST /api/v1/pins/apply": Line(foreign=REFUSED, body=lambda t: {"tools": {}}),
    "GET /api/v1/pins/{ref:path}/diff": Line(),
    "POST /api/v1/pins/{ref:path}/accept": Line(),
    "GET /api/v1/pins/{ref:path}": Line(),
    "DELETE /api/v1/pins/{ref:path}": Line(changes=True),
    "GET /api/v1/plugins": Line(foreign=SEEN | HIDDEN | REFUSED),
    "POST /api/v1/plugins/reload": Line(foreign=HIDDEN | REFUSED),
    "GET /api/v1/me": Line(foreign=SEEN),
    "GET /openapi.json": Line(foreign=SEEN),
    "HEAD /openapi.json": Line(foreign=SEEN),
    "GET /schemas/package.json": Line(foreign=SEEN, open=True),
    "GET /llms.txt": Line(foreign=SEEN, open=True),
    "GET /.well-known/oauth-protected-resource": Line(open=True, bare=404),
    "GET /.well-known/oauth-protected-resource/{place:path}": Line(open=True, bare=404),
    "GET /healthz": Line(foreign=SEEN, open=True),
    "GET /readyz": Line(foreign=SEEN, open=True),
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request, ready to be sent."""

    route: str
    method: str
    path: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True)
class World:
    crib: Crib
    a: Tenant
    b: Tenant
    root: Person


@pytest.fixture
async def world(settings: Settings) -> AsyncGenerator[World]:
    async with open_crib(settings, registry=furniture()) as crib:
        a, b = await furnish(crib, "kestrel"), await furnish(crib, "walrus")
        yield World(crib=crib, a=a, b=b, root=await crib.somebody(1))


def routes_of(crib: Crib) -> Iterator[tuple[str, str]]:
    """(method, path) of every route that the application has."""
    for route in crib.app.routes:
        for method in sorted(route.methods or ()):  # type: ignore[attr-defined]
            yield method, route.path  # type: ignore[attr-defined]


def filled(path: str, tenant: Tenant) -> Iterator[str]:
    """The path with the tenant's things in it, once for each of a kind."""
    one_each = {
        "chat_id": tenant.chat,
        "document_id": tenant.document,
        "group_id": tenant.group,
        "user_id": tenant.user.id,
        "token_id": tenant.token_id,
        "name": "repeat" if "/tools/" in path else tenant.setting,
        "slug": f"{tenant.word}_package",
        "ref": f"mcp:{tenant.capability}",
        "place": f"mcp/agents/{tenant.agent}",
        "tool_name": "message_tool",
        "ticket": "a-ticket-of-nobody",
        "issuer": "0" * 32,
    }
    several = {
        "agent_id": (tenant.agent, tenant.own_agent),
        "call_id": (tenant.call, tenant.admin_call),
        "capability_id": (tenant.capability, tenant.private_capability),
    }
    plain = path.replace(":path}", "}")
    made = [
        plain.format(**one_each, **{name: pair[which] for name, pair in several.items()})
        for which in (0, 1)
    ]
    yield from dict.fromkeys(made)


def asked_of(line: Line, tenant: Tenant) -> dict[str, Any]:
    options = {"json": line.body, "params": line.query, "files": line.files}
    return {name: make(tenant) for name, make in options.items() if make}


def requests_about(crib: Crib, tenant: Tenant, *, own: bool) -> Iterator[Asked]:
    """Every route, asked about this tenant's things."""
    for method, path in routes_of(crib):
        route = f"{method} {path}"
        line = ROUTES[route]
        if own and line.changes:
            continue
        for place in filled(path, tenant):
            options = asked_of(line, tenant)
            yield Asked(route=route, method=method, path=place, options=options)


def requests_across(crib: Crib, own: Tenant, other: Tenant) -> Iterator[Asked]:
    """Every route that can name the other's things while it is about one's own."""
    for method, path in routes_of(crib):
        route = f"{method} {path}"
        for make in ROUTES[route].mixed:
            yield Asked(
                route=route,
                method=method,
                path=next(filled(path, own)),
                options=make(own, other),
            )


async def send(api: httpx.AsyncClient, asked: Asked) -> httpx.Response:
    return await api.request(asked.method, asked.path, **asked.options)


def said(answer: httpx.Response) -> str:
    """Everything that came back, in lowercase."""
    return f"{answer.headers!r} {answer.text}".lower()


def leaks(asked: Asked, answer: httpx.Response, *words: str) -> list[str]:
    """Words in the answer that the request itself did not hold."""
    told = f"{asked.path} {asked.options!r}".lower()
    return [word for word in words if word in said(answer) and word not in told]


async def seen_by_owners(tenant: Tenant) -> list[Any]:
    """What the tenant's people see of their own, to tell whether anybody touched it."""
    paths = [
        "/api/v1/agents",
        f"/api/v1/chats/{tenant.chat}/messages",
        f"/api/v1/chats/{tenant.chat}/documents",
        "/api/v1/chats",
        "/api/v1/calls",
        f"{CAPABILITY}?archived=true",
        "/api/v1/groups",
        "/api/v1/users",
        "/api/v1/settings",
        f"/api/v1/users/{tenant.user.id}/tokens",
    ]
    return [
        (await person.api.get(path)).json()
        for person in (tenant.user, tenant.admin)
        for path in paths
    ]


async def test_every_route_is_asked(world: World) -> None:
    """A new route needs a line above, and a line whose route is gone has to go."""
    there = {f"{method} {path}" for method, path in routes_of(world.crib)}
    assert sorted(there - set(ROUTES)) == [], "these routes have no line in ROUTES"
    assert sorted(set(ROUTES) - there) == [], "these lines of ROUTES have no route"


@pytest.mark.parametrize("who", ["admin", "user", "bound"])
async def test_the_others_things_are_out_of_reach(world: World, who: str) -> None:
    """Asked about the other's things, each route answers as if they were not there."""
    person: Person = getattr(world.a, who)
    before = await seen_by_owners(world.b)
    wrong: list[Any] = []
    for asked in requests_about(world.crib, world.b, own=False):
        answer = await send(person.api, asked)
        allowed = ROUTES[asked.route].foreign | (REFUSED if who == "bound" else frozenset())
        if answer.status_code not in allowed or leaks(asked, answer, world.b.word):
            wrong.append((asked.route, answer.status_code, answer.text))
    assert wrong == []
    assert await seen_by_owners(world.b) == before


@pytest.mark.parametrize("who", ["admin", "user", "bound"])
async def test_ones_own_things_hold_no_word_of_the_other(world: World, who: str) -> None:
    """Lists, rows, errors and journals of one tenant, asked by each of its people."""
    person: Person = getattr(world.a, who)
    unread = {"admin": (world.a.private,), "user": (), "bound": ()}[who]
    worked: set[str] = set()
    wrong: list[Any] = []
    for asked in requests_about(world.crib, world.a, own=True):
        answer = await send(person.api, asked)
        if answer.is_success:
            worked.add(asked.route)
        words = leaks(asked, answer, world.b.word, world.a.value, *unread)
        if words or answer.status_code >= 500:
            wrong.append((asked.route, answer.status_code, words, answer.text))
    assert wrong == []
    # The test would say nothing if nothing worked.
    assert {f"GET {AGENT}", f"GET {AGENT}/tools", "GET /api/v1/calls"} <= worked


@pytest.mark.parametrize("who", ["admin", "user", "bound"])
async def test_the_others_things_cannot_be_named_within(world: World, who: str) -> None:
    """Neither attached, nor spoken from, nor bound to, nor given to."""
    person: Person = getattr(world.a, who)
    wrong: list[Any] = []
    for asked in requests_across(world.crib, world.a, world.b):
        answer = await send(person.api, asked)
        refused = answer.status_code in HIDDEN | REFUSED | UNFIT
        if not refused or leaks(asked, answer, world.b.word):
            wrong.append((asked.route, answer.status_code, answer.text))
    assert wrong == []


async def test_without_a_token_there_is_nothing(world: World) -> None:
    """Every route but the open ones asks for one, whatever it is asked about."""
    api = await world.crib.client()
    wrong: list[Any] = []
    for tenant in (world.a, world.b):
        for asked in requests_about(world.crib, tenant, own=False):
            answer = await send(api, asked)
            line = ROUTES[asked.route]
            expected = line.bare if line.open else 401
            if answer.status_code != expected or leaks(asked, answer, tenant.word):
                wrong.append((asked.route, answer.status_code, answer.text))
    assert wrong == []


async def test_a_super_admin_reads_no_diary(world: World) -> None:
    """Every group is theirs to see; what is one user's alone is not."""
    wrong: list[Any] = []
    for tenant in (world.a, world.b):
        for asked in requests_about(world.crib, tenant, own=True):
            if asked.method != "GET" or "/tokens" in asked.path:
                continue  # a user's tokens are the super-admins' to revoke, so they see their names
            answer = await send(world.root.api, asked)
            if words := leaks(asked, answer, tenant.private, tenant.value):
                wrong.append((asked.route, answer.status_code, words))
            if "/chats/" in asked.path and answer.status_code != 404:
                wrong.append((asked.route, answer.status_code))
    assert wrong == []
    assert (await world.root.api.get(f"/api/v1/agents/{world.b.agent}")).status_code == 200


async def test_a_setting_never_comes_back(world: World) -> None:
    """Not to its owner, not to its admin, not to a super-admin, in no answer at all."""
    wrong: list[str] = []
    for tenant in (world.a, world.b):
        for person in (tenant.user, tenant.admin, tenant.bound, world.root):
            for asked in requests_about(world.crib, tenant, own=True):
                if asked.method != "GET":
                    continue
                if tenant.value in said(await send(person.api, asked)):
                    wrong.append(asked.route)
    assert wrong == []


async def test_both_tenants_may_use_the_same_words(world: World) -> None:
    """A name or code that the other has is free here, so that no conflict tells of it."""
    api = world.a.admin.api
    taken = {
        "POST /api/v1/agents": ("/api/v1/agents", {"name": "walrus group's agent"}),
        f"POST {CAPABILITY}": (
            CAPABILITY,
            {"name": "x", "code": "parrot,walrus_code", "access_type": "group"},
        ),
        "PUT /api/v1/settings": ("/api/v1/settings/WALRUS_TOKEN", {"value": "another-value"}),
    }
    for route, (path, body) in taken.items():
        method = route.partition(" ")[0]
        answer = await api.request(method, path, json=body | {"group_id": world.a.group})
        assert answer.is_success, (route, answer.text)


async def ask_gateway(
    api: httpx.AsyncClient, place: str, method: str, params: dict[str, Any], session: str = ""
) -> httpx.Response:
    """An MCP request, of the newer era or in a session of the older one."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {"Accept": "application/json, text/event-stream"}
    if session:
        headers |= {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": session}
    elif method != "initialize":
        headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        headers |= {"Mcp-Name": params["name"]} if "name" in params else {}
        params = {**params, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await api.post(place, json=body, headers=headers)


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "x", "version": "1"},
}
CALL = {"name": "repeat", "arguments": {"text": "x"}}


@pytest.mark.parametrize("who", ["admin", "user", "bound"])
async def test_the_gateway_keeps_tenants_apart(world: World, who: str) -> None:
    """The other's agents do not exist to MCP clients, nor their sessions; one's own list, call and
    refusal hold no word of the other."""
    person: Person = getattr(world.a, who)
    other = f"/mcp/agents/{world.b.agent}"
    opened = await ask_gateway(world.b.user.api, other, "initialize", HELLO)
    session = opened.headers["mcp-session-id"]
    theirs = [
        await ask_gateway(person.api, place, method, params, through)
        for place in (other, f"/mcp/agents/{world.b.own_agent}", f"/mcp/agents/{world.a.agent}")
        for method, params in (("tools/list", {}), ("tools/call", CALL), ("server/discover", {}))
        for through in ("", session)
        if through or str(world.a.agent) not in place
    ]
    own = [
        await ask_gateway(person.api, place, method, params)
        for place in (f"/mcp/agents/{world.a.agent}", "/mcp")
        for method, params in (("tools/list", {}), ("tools/call", CALL), ("server/discover", {}))
    ]
    assert [answer.status_code for answer in theirs] == [404] * len(theirs)
    assert {answer.status_code for answer in own} <= {200, 404}
    assert [answer.status_code for answer in own[:2]] == [200, 200]
    words = [word for answer in own + theirs for word in (world.b.word,) if word in said(answer)]
    assert words == []
    still = await ask_gateway(world.b.user.api, other, "tools/call", CALL, session)
    assert still.status_code == 200


async def test_the_gateway_wants_a_token(world: World) -> None:
    api = await world.crib.client()
    places = ("/mcp", f"/mcp/agents/{world.a.agent}", "/mcp/agents/999999")
    answers = [await ask_gateway(api, place, "tools/list", {}) for place in places]
    assert [answer.status_code for answer in answers] == [401] * 3
