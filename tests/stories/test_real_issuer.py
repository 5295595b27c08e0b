"""An authorization server of another author, `oidc-provider`: its tokens open our doors, and its
login page opens an upstream's."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from joserfc import jwk, jwt
from joserfc.errors import JoseError
from mcp.client import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.stories.test_mcp_upstream import agent_of, call, tools_of
from tests.support.crib import open_crib, problem_of
from tests.support.listening import listening
from tests.support.logging_in import CONNECTIONS, World, code_of
from tests.support.mcp_guarded import GuardedMcp
from tests.support.mcp_real import npm_file
from tests.support.tenants import make_tenants
from toolcrib.settings import Settings

PUBLIC = "http://127.0.0.1:8420"
CALLBACK = f"{PUBLIC}/oauth/callback"
SCRIPT = Path(__file__).parents[1] / "support" / "oidc_provider.mjs"
CLIENTS = [
    {
        "client_id": "machine",
        "client_secret": "secret-of-the-machine",
        "grant_types": ["client_credentials"],
        "redirect_uris": [],
        "response_types": [],
    },
]


@dataclass
class Provider:
    """The server that runs, and its keys."""

    url: str
    keys: jwk.KeySet

    def claims(self, token: str) -> Mapping[str, Any] | None:
        try:
            return jwt.decode(token, self.keys, algorithms=["RS256"]).claims
        except (JoseError, ValueError):
            return None

    def knows(self, token: str, resource: str) -> bool:
        """What a resource server checks of a token."""
        claims = self.claims(token)
        return claims is not None and (claims["iss"], claims["aud"]) == (self.url, resource)

    async def machine(self, resource: str) -> str:
        """A token that a machine got for a resource."""
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.post(
                f"{self.url}/token",
                data={"grant_type": "client_credentials", "resource": resource, "scope": "tools"},
                auth=("machine", "secret-of-the-machine"),
            )
        return answer.json()["access_token"]


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    module = npm_file("oidc-provider@9", "lib/index.js")
    node = shutil.which("node") or "node"
    process = await asyncio.create_subprocess_exec(
        node,
        str(SCRIPT),
        str(module),
        json.dumps(CLIENTS),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    line = ""
    try:
        while not line.startswith("http"):
            read = await process.stdout.readline()
            assert read, "the provider ended"
            line = read.decode().strip()
        async with httpx.AsyncClient(trust_env=False) as client:
            keys = (await client.get(f"{line}/jwks")).json()
        yield Provider(url=line, keys=jwk.KeySet.import_key_set(keys))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def log_in(url: str, name: str) -> str:
    """What a person does at the login page: signs in, agrees; the address they are sent back to."""
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False) as browser:
        answer = await browser.get(url)
        for _ in range(12):
            if answer.is_redirect:
                target = str(answer.url.join(answer.headers["location"]))
                if target.startswith(CALLBACK):
                    return target
                answer = await browser.get(target)
                continue
            assert answer.status_code == 200, answer.text
            action = re.search(r'<form[^>]*action="([^"]+)"', answer.text)
            assert action is not None, answer.text
            prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)
            form = {"prompt": prompt[1] if prompt else "login", "login": name, "password": "x"}
            answer = await browser.post(str(answer.url.join(unescape(action[1]))), data=form)
    raise AssertionError("the login did not come to an end")


async def test_its_tokens_open_our_doors(provider: Provider, data_dir: Path) -> None:
    """For the API, and for the endpoint that they were made for; not for another's."""
    settings = Settings(data_dir=data_dir, public_url=PUBLIC, oidc_issuer=provider.url)
    async with open_crib(settings) as crib:
        user = await crib.person("machine", "user")
        api = await crib.client(await provider.machine(PUBLIC))
        assert (await api.get("/api/v1/me")).json()["user_id"] == user.id
        for resource in ("https://tools.example.com", f"{PUBLIC}/mcp/agents/1"):
            other = await crib.client(await provider.machine(resource))
            assert problem_of(await other.get("/api/v1/me"))[0] == 401


@pytest.mark.timeout(120)
async def test_its_login_opens_an_upstream(provider: Provider, data_dir: Path) -> None:
    """Registration, login, consent, calls, renewal with rotation, revocation: all of them real.

    The caller came with a token of the same issuer, and it reaches nobody.
    """
    settings = Settings(
        data_dir=data_dir,
        egress_allow=("127.0.0.0/8",),
        public_url=PUBLIC,
        oidc_issuer=provider.url,
        oidc_provision=True,
    )
    trusts: Any = provider
    async with open_crib(settings) as crib, GuardedMcp(trusts) as server:
        server.metadata = {"scopes_supported": ["tools", "offline_access"]}
        tenants = await make_tenants(crib)
        own = await provider.machine(PUBLIC)
        caller = await crib.platform.authenticator.caller_of(own)
        user = tenants.user_a.__class__(
            id=caller.user_id, token=own, caller=caller, api=await crib.client(own)
        )
        world = World(crib, tenants, trusts, server)
        row = await world.row()
        agent = await agent_of(tenants, tenants.admin_a, row)
        await crib.desk.users.update(crib.operator, user.id, group_ids=[tenants.a])
        begun = await world.begin(user, f"mcp:{row}")
        browser = await crib.client()
        back = await log_in(await world.going(begun["url"], browser), "alice")
        page = await browser.get(back)
        assert page.status_code == 200, page.text
        made = await world.confirm(user, f"mcp:{row}", code_of(page))
        assert made.status_code == 200, made.text
        await world.until_listed(user, agent, "echo")

        # Its tokens live for 5 s, which is within the margin: each call renews.
        for _ in range(3):
            assert (await call(user, agent, "echo", word="hi"))["success"]
        assert len(set(server.tokens)) >= 3
        assert own not in "\n".join(server.received)
        claims = provider.claims(server.tokens[-1])
        assert claims is not None
        assert claims["sub"] == "alice", "the upstream sees who logged in there"

        gone = await user.api.delete(f"{CONNECTIONS}/mcp:{row}")
        assert gone.status_code == 204, gone.text
        assert (await tools_of(user, agent))["tools"] == []


class Kept(TokenStorage):
    """What the SDK's client keeps of a login."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def person_of_the_sdk(url: str, name: str, kept: Kept) -> OAuthClientProvider:
    """The official SDK's login, with somebody in front of it."""
    came_back: list[httpx.URL] = []

    async def open_page(address: str) -> None:
        came_back.append(httpx.URL(await log_in(address, name)))

    async def take_answer() -> AuthorizationCodeResult:
        answer = came_back.pop().params
        return AuthorizationCodeResult(
            code=answer["code"], state=answer.get("state"), iss=answer.get("iss")
        )

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="A client")
    return OAuthClientProvider(url, metadata, kept, open_page, take_answer)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_finds_its_way_in(provider: Provider, data_dir: Path, era: Any) -> None:
    """The official SDK's client knows an endpoint's address and nothing else: it is refused, reads
    the metadata, registers, logs a person in, and calls a tool as that user."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        public = f"http://127.0.0.1:{place.getsockname()[1]}"
        settings = Settings(
            data_dir=data_dir,
            public_url=public,
            oidc_issuer=provider.url,
            oidc_provision=True,
            oidc_scopes=("tools",),
        )
        async with open_crib(settings) as crib, listening(crib.app, place):
            tenants = await make_tenants(crib)
            own = await crib.person("carol", "user", tenants.a)
            agent = await tenants.agent(tenants.admin_a, tenants.a, "greet")
            url, kept = f"{public}/mcp/agents/{agent.id}", Kept()
            login = person_of_the_sdk(url, "carol", kept)
            async with (
                httpx2.AsyncClient(auth=login, trust_env=False) as http,
                Client(streamable_http_client(url, http_client=http), mode=era) as client,
            ):
                said = await client.call_tool("hello", {"name": "Ada"})
            assert [block.text for block in said.content] == ["hello Ada"]
            assert kept.tokens is not None
            claims = provider.claims(kept.tokens.access_token)
            assert claims is not None
            assert (claims["sub"], claims["aud"]) == ("carol", url)
            calls = (await own.api.get("/api/v1/calls")).json()["items"]
            assert [(one["tool"], one["user_id"]) for one in calls] == [("hello", own.id)]
            stranger = person_of_the_sdk(url, "dave", Kept())
            async with httpx2.AsyncClient(auth=stranger, trust_env=False) as http:
                hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
                answer = await http.post(url, json=hello)
            assert (answer.status_code, "agent" in answer.text.lower()) == (404, True), answer.text
            assert await crib.platform.storage.users.find_by_name("dave") is not None
