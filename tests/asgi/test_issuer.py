"""Tokens of the operator's OIDC issuer: who comes in with them, and every one that is refused."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwk, jwt

from tests.support.crib import Crib, open_crib, problem_of
from tests.support.issuer import Issuer
from toolcrib.errors import SetupError
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.net.oidc_keys import IssuerKeys
from toolcrib.settings import Settings

ME = "/api/v1/me"
PUBLIC = "http://127.0.0.1:8420"
API = "tools-api"


@pytest.fixture
async def issuer() -> AsyncGenerator[Issuer]:
    async with Issuer() as issuer:
        yield issuer


def settings_for(issuer: Issuer, data_dir: Path, **more: Any) -> Settings:
    given: dict[str, Any] = {
        "data_dir": data_dir,
        "public_url": PUBLIC,
        "oidc_issuer": issuer.url,
        "oidc_audience": (API,),
        **more,
    }
    return Settings(**given)


@pytest.fixture
async def crib(issuer: Issuer, data_dir: Path) -> AsyncGenerator[Crib]:
    async with open_crib(settings_for(issuer, data_dir)) as crib:
        await crib.person("alice", "user")
        yield crib


async def ask(crib: Crib, token: str, path: str = ME) -> httpx.Response:
    return await (await crib.client(token)).get(path)


@pytest.mark.parametrize("kind", ["RSA", "EC", "OKP"])
async def test_the_user_of_a_token_comes_in(crib: Crib, issuer: Issuer, kind: Any) -> None:
    """With the role and the groups that the user has here."""
    issuer.new_key("second", kind)
    answer = await ask(crib, issuer.token(issuer.claims("alice", API)))
    assert answer.status_code == 200, answer.text
    alice = await crib.platform.storage.users.find_by_name("alice")
    assert alice is not None
    assert (answer.json()["user_id"], answer.json()["role"]) == (alice.id, "user")


async def test_own_tokens_work_beside_them(crib: Crib) -> None:
    """An issuer adds a way in and takes none away."""
    bob = await crib.person("bob", "user")
    assert (await bob.api.get(ME)).json()["user_id"] == bob.id


@pytest.mark.parametrize("audience", [API, PUBLIC, f"{PUBLIC}/", ["other", API]])
async def test_audiences_of_the_server(crib: Crib, issuer: Issuer, audience: Any) -> None:
    """The operator's name for it, and its public address."""
    assert (await ask(crib, issuer.token(issuer.claims("alice", audience)))).status_code == 200


async def test_a_token_for_one_endpoint_is_for_no_other(crib: Crib, issuer: Issuer) -> None:
    """RFC 8707: what was issued for an agent's endpoint does not open the API, nor another's."""
    token = issuer.token(issuer.claims("alice", f"{PUBLIC}/mcp/agents/7"))
    assert (await ask(crib, token)).status_code == 401
    assert (await ask(crib, token, "/mcp/agents/8")).status_code == 401
    assert (await ask(crib, token, "/mcp/agents/7")).status_code != 401
    assert (await ask(crib, token, "/mcp/agents/7/")).status_code != 401


WRONG_CLAIMS: dict[str, tuple[dict[str, Any], str]] = {
    "another audience": ({"aud": "somebody-else"}, "audience"),
    "no audience": ({"aud": None}, "audience"),
    "an audience that is no text": ({"aud": {"a": API}}, "audience"),
    "another issuer": ({"iss": "https://evil.example"}, "another issuer"),
    "expired": ({"exp": int(time.time()) - 3600}, "expired"),
    "without an end": ({"exp": None}, "when it ends"),
    "an end that is no time": ({"exp": "tomorrow"}, "exp is no time"),
    "not yet": ({"nbf": int(time.time()) + 3600}, "not valid yet"),
    "from the future": ({"iat": int(time.time()) + 3600}, "not valid yet"),
    "bound to a key": ({"cnf": {"jkt": "x"}}, "bound to a key"),
    "without a name": ({"sub": None}, "'sub'"),
    "a name that is no text": ({"sub": 7}, "'sub'"),
}


@pytest.mark.parametrize("wrong", WRONG_CLAIMS)
async def test_wrong_claims_are_refused(crib: Crib, issuer: Issuer, wrong: str) -> None:
    """Each with the reason, and nothing of the token's content."""
    changes, words = WRONG_CLAIMS[wrong]
    answer = await ask(crib, issuer.token(issuer.claims("alice", API, **changes)))
    assert problem_of(answer) == (401, "not_authenticated", None)
    assert words in answer.json()["detail"]
    assert "evil" not in answer.text
    assert "somebody-else" not in answer.text


def unsigned(claims: dict[str, Any], header: dict[str, Any], signature: str = "") -> str:
    parts = [json.dumps(one).encode() for one in (header, claims)]
    return ".".join([base64.urlsafe_b64encode(p).decode().rstrip("=") for p in parts] + [signature])


@pytest.mark.parametrize("algorithm", ["none", "None", "nOnE", "", None, 7])
async def test_a_token_without_a_signature_is_refused(
    crib: Crib, issuer: Issuer, algorithm: Any
) -> None:
    """However the header spells it."""
    token = unsigned(issuer.claims("alice", API), {"alg": algorithm, "kid": "first"})
    answer = await ask(crib, token)
    assert problem_of(answer) == (401, "not_authenticated", None)
    assert "private key" in answer.json()["detail"]


async def test_the_public_key_is_no_shared_secret(crib: Crib, issuer: Issuer) -> None:
    """HS256 with the text of the public key: the classic confusion."""
    public = issuer.keys[0].as_dict(private=False)
    for text in (json.dumps(public), str(public["n"])):
        secret = jwk.OctKey.import_key(text)
        token = jwt.encode(
            {"alg": "HS256", "kid": "first"},
            issuer.claims("alice", API),
            secret,
            algorithms=["HS256"],
        )
        assert problem_of(await ask(crib, token))[0] == 401


async def test_another_key_under_the_same_id_is_refused(crib: Crib, issuer: Issuer) -> None:
    """The signature decides, not the id."""
    foreign = jwk.generate_key("RSA", 2048, {"kid": "first"}, private=True)
    answer = await ask(crib, issuer.token(issuer.claims("alice", API), key=foreign))
    assert "signature" in answer.json()["detail"]
    assert answer.status_code == 401


async def test_a_changed_token_is_refused(crib: Crib, issuer: Issuer) -> None:
    """One claim changed under the old signature."""
    token = issuer.token(issuer.claims("alice", API))
    head, _, signature = token.split(".")
    claims = json.dumps(issuer.claims("root", API)).encode()
    middle = base64.urlsafe_b64encode(claims).decode().rstrip("=")
    assert (await ask(crib, f"{head}.{middle}.{signature}")).status_code == 401


@pytest.mark.parametrize("kid", [["first"], {"first": 1}, 1, True])
async def test_an_id_that_is_no_text_is_refused(crib: Crib, issuer: Issuer, kid: Any) -> None:
    """A header is a stranger's: whatever stands there is a wrong token, no fault of ours."""
    token = unsigned(issuer.claims("alice", API), {"alg": "RS256", "kid": kid}, "c2ln")
    assert problem_of(await ask(crib, token)) == (401, "not_authenticated", None)


@pytest.mark.parametrize("header", [{"typ": "logout+jwt"}, {"typ": "dpop+jwt"}])
async def test_other_kinds_of_tokens_are_refused(
    crib: Crib, issuer: Issuer, header: dict[str, Any]
) -> None:
    """What the issuer signed for another purpose is no access token."""
    answer = await ask(crib, issuer.token(issuer.claims("alice", API), **header))
    assert "typ" in answer.json()["detail"]


async def test_a_critical_header_that_nobody_knows_is_refused(crib: Crib, issuer: Issuer) -> None:
    """RFC 7515: what must be understood is not passed over."""
    token = issuer.token(issuer.claims("alice", API), crit=["x"], x="1")
    assert (await ask(crib, token)).status_code == 401


async def test_a_key_for_encryption_signs_nothing(crib: Crib, issuer: Issuer) -> None:
    """A key says what it is for."""
    issuer.says = {"use": "enc"}
    answer = await ask(crib, issuer.token(issuer.claims("alice", API)))
    assert "no key" in answer.json()["detail"]


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
async def test_a_short_key_is_refused(crib: Crib, issuer: Issuer) -> None:
    """1024 bits of RSA prove nothing any more."""
    short = jwk.generate_key("RSA", 1024, {"kid": "short"}, private=True)
    issuer.keys.append(short)
    assert (await ask(crib, issuer.token(issuer.claims("alice", API)))).status_code == 401


async def test_somebody_unknown_is_told_so(crib: Crib, issuer: Issuer) -> None:
    """The token is good, so the words may be clear."""
    answer = await ask(crib, issuer.token(issuer.claims("mallory", API)))
    assert problem_of(answer) == (403, "not_granted", None)
    assert "'mallory' does not exist" in answer.json()["detail"]
    assert await crib.platform.storage.users.find_by_name("mallory") is None


async def test_names_differ_by_case(crib: Crib, issuer: Issuer) -> None:
    """An issuer may have both; only one of them is the user here."""
    assert problem_of(await ask(crib, issuer.token(issuer.claims("ALICE", API))))[0] == 403


async def test_a_super_admin_stays_outside(crib: Crib, issuer: Issuer) -> None:
    """Whoever can name accounts at the issuer must not become the installation's master."""
    await crib.person("root", "super_admin")
    answer = await ask(crib, issuer.token(issuer.claims("root", API)))
    assert problem_of(answer) == (403, "not_granted", None)
    assert "TOOLCRIB_OIDC_SUPER_ADMINS" in answer.json()["hint"]


async def test_super_admins_where_the_operator_says_so(issuer: Issuer, data_dir: Path) -> None:
    """The setting lets them in, with all they may."""
    async with open_crib(settings_for(issuer, data_dir, oidc_super_admins=True)) as crib:
        await crib.person("root", "super_admin")
        answer = await ask(crib, issuer.token(issuer.claims("root", API)))
        assert answer.json()["role"] == "super_admin"


async def test_users_are_made_and_follow_the_issuers_groups(issuer: Issuer, data_dir: Path) -> None:
    """A newcomer gets the role user; groups are those that exist here, and a later token's win."""
    more = {"oidc_provision": True, "oidc_groups_claim": "groups", "oidc_user_claim": "email"}
    async with open_crib(settings_for(issuer, data_dir, **more)) as crib:
        groups = {
            name: (await crib.desk.groups.create(crib.operator, name=name)).id
            for name in ("sales", "ops")
        }

        async def come(named: Any) -> dict[str, Any]:
            claims = issuer.claims(
                "1", API, email="eve@example.com", email_verified=True, groups=named
            )
            answer = await ask(crib, issuer.token(claims))
            assert answer.status_code == 200, answer.text
            return answer.json()

        first = await come(["sales", "unknown"])
        assert (first["role"], first["group_ids"]) == ("user", [groups["sales"]])
        assert (await come(["ops", "sales"]))["group_ids"] == sorted(groups.values())
        assert (await come(None))["group_ids"] == []
        stored = await crib.platform.storage.users.find_by_name("eve@example.com")
        assert stored is not None
        assert (stored.id, stored.group_ids) == (first["user_id"], frozenset())


async def test_an_older_token_brings_no_groups_back(issuer: Issuer, data_dir: Path) -> None:
    """Whoever was taken out of a group at the issuer stays out, though an old token is good."""
    more = {"oidc_provision": True, "oidc_groups_claim": "groups"}
    async with open_crib(settings_for(issuer, data_dir, **more)) as crib:
        sales = await crib.desk.groups.create(crib.operator, name="sales")
        now = int(time.time())
        old = issuer.token(issuer.claims("eve", API, groups=["sales"], iat=now - 20))
        assert (await ask(crib, old)).json()["group_ids"] == [sales.id]
        new = issuer.token(issuer.claims("eve", API, groups=[], iat=now - 10))
        assert (await ask(crib, new)).json()["group_ids"] == []
        assert (await ask(crib, old)).json()["group_ids"] == []


@pytest.mark.parametrize("verified", [None, False, "true"])
async def test_an_address_must_be_verified(issuer: Issuer, data_dir: Path, verified: Any) -> None:
    """Else anybody could come in under anybody's address."""
    more = {"oidc_provision": True, "oidc_user_claim": "email"}
    async with open_crib(settings_for(issuer, data_dir, **more)) as crib:
        claims = issuer.claims("1", API, email="a@example.com", email_verified=verified)
        assert problem_of(await ask(crib, issuer.token(claims)))[0] == 401


async def test_a_removed_membership_counts_at_once(crib: Crib, issuer: Issuer) -> None:
    """What is remembered of a token is forgotten when the user changes."""
    group = await crib.desk.groups.create(crib.operator, name="sales")
    token = issuer.token(issuer.claims("alice", API))
    me = (await ask(crib, token)).json()
    assert me["group_ids"] == []
    await crib.desk.users.update(crib.operator, me["user_id"], group_ids=[group.id])
    assert (await ask(crib, token)).json()["group_ids"] == [group.id]


async def test_keys_are_fetched_once_and_again_for_a_new_one(crib: Crib, issuer: Issuer) -> None:
    """A rotated key works at once; made-up ids do not make the issuer work."""
    for subject in ("alice", "alice", "mallory"):
        await ask(crib, issuer.token(issuer.claims(subject, API)))
    assert issuer.count("/keys") == 1
    for number in range(5):
        token = issuer.token(issuer.claims("alice", API), kid=f"made-up-{number}")
        assert (await ask(crib, token)).status_code == 401
    assert issuer.count("/keys") == 1, "asked a moment ago"


async def keys_with(issuer: Issuer, client: GuardedClient, **times: float) -> IssuerKeys:
    keys = IssuerKeys(issuer.url, client, **times)
    assert [key["kid"] for key in await keys.keys("first")] == ["first"]
    return keys


async def test_rotation(issuer: Issuer) -> None:
    """Once the pause is over an unknown id is looked for; known ids cost nothing."""
    async with GuardedClient(EgressPolicy(["127.0.0.0/8"])) as client:
        keys = await keys_with(issuer, client, pause=0)
        issuer.new_key("second")
        assert [key["kid"] for key in await keys.keys("second")] == ["first", "second"]
        asked = issuer.count("/keys")
        await keys.keys("second")
        await keys.keys("first")
        assert issuer.count("/keys") == asked


async def test_tokens_that_come_together_wait_for_the_first_look(issuer: Issuer) -> None:
    """None of them is refused because another one is asking already."""
    async with GuardedClient(EgressPolicy(["127.0.0.0/8"])) as client:
        keys = IssuerKeys(issuer.url, client)
        found = await asyncio.gather(*(keys.keys("first") for _ in range(5)))
        assert [[key["kid"] for key in one] for one in found] == [["first"]] * 5
        assert issuer.count("/keys") == 1


async def test_known_keys_serve_while_new_ones_are_looked_for(issuer: Issuer) -> None:
    """An issuer that hangs holds up nobody whose key is known; a new id is waited for."""
    async with GuardedClient(EgressPolicy(["127.0.0.0/8"])) as client:
        keys = await keys_with(issuer, client, pause=0)
        issuer.new_key("second")
        issuer.answers.clear()
        waiting = [asyncio.create_task(keys.keys("second")) for _ in range(2)]
        await issuer.reached.wait()
        assert [key["kid"] for key in await keys.keys("first")] == ["first"]
        issuer.answers.set()
        for task in waiting:
            assert [key["kid"] for key in await task] == ["first", "second"]


async def test_a_look_that_was_broken_off_is_taken_up_again(issuer: Issuer) -> None:
    """A client that hangs up leaves nothing behind that refuses the next one."""
    async with GuardedClient(EgressPolicy(["127.0.0.0/8"])) as client:
        keys = IssuerKeys(issuer.url, client)
        issuer.answers.clear()
        task = asyncio.create_task(keys.keys("first"))
        await issuer.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        issuer.answers.set()
        assert [key["kid"] for key in await keys.keys("first")] == ["first"]


async def test_an_issuer_that_is_down(issuer: Issuer) -> None:
    """Keys that are known serve on; without any the operator is told."""
    async with GuardedClient(EgressPolicy(["127.0.0.0/8"])) as client:
        keys = await keys_with(issuer, client, fresh=0, pause=0)
        issuer.status = 500
        assert [key["kid"] for key in await keys.keys("first")] == ["first"]
        with pytest.raises(SetupError, match="HTTP 500"):
            await IssuerKeys(issuer.url, client).keys(None)


async def test_an_issuer_of_another_name_is_not_believed(issuer: Issuer) -> None:
    """The discovery document must name the issuer that was set."""
    async with GuardedClient(EgressPolicy(["127.0.0.0/8"])) as client:
        issuer.names_itself = "https://another.example"
        with pytest.raises(SetupError, match="another issuer"):
            await IssuerKeys(issuer.url, client).keys(None)


async def test_without_keys_the_answer_is_503(crib: Crib, issuer: Issuer) -> None:
    """A client must not throw its good token away because the issuer is down."""
    issuer.status = 500
    answer = await ask(crib, issuer.token(issuer.claims("alice", API)))
    assert answer.status_code == 503
    assert issuer.url not in answer.text


async def test_metadata_and_challenge(crib: Crib, issuer: Issuer) -> None:
    """RFC 9728: a client finds the issuer from nothing but the endpoint's address."""
    api = await crib.client()
    refused = await api.post("/mcp/agents/7", json={})
    assert refused.status_code == 401
    where = f"{PUBLIC}/.well-known/oauth-protected-resource/mcp/agents/7"
    assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{where}"'
    document = (await api.get(where)).json()
    assert document["resource"] == f"{PUBLIC}/mcp/agents/7"
    assert document["authorization_servers"] == [issuer.url]
    whole = (await api.get("/.well-known/oauth-protected-resource")).json()
    assert whole["resource"] == PUBLIC
    again = await api.get("/mcp", headers={"Authorization": "Bearer nope"})
    assert again.headers["www-authenticate"].endswith(', error="invalid_token"')
    unknown = await api.get("/.well-known/oauth-protected-resource/api/v1/agents")
    assert problem_of(unknown)[0] == 404


async def test_metadata_below_a_prefix(issuer: Issuer, data_dir: Path) -> None:
    """A proxy may pass the path on as RFC 9728 writes it, or below the prefix."""
    public = f"{PUBLIC}/crib"
    async with open_crib(settings_for(issuer, data_dir, public_url=public)) as crib:
        api = await crib.client()
        for path in (
            "/.well-known/oauth-protected-resource/crib/mcp/agents/7",
            "/crib/.well-known/oauth-protected-resource/mcp/agents/7",
        ):
            assert (await api.get(path)).json()["resource"] == f"{public}/mcp/agents/7"
        root = "/.well-known/oauth-protected-resource/crib"
        assert (await api.get(root)).json()["resource"] == public
        refused = await api.get("/crib/mcp/agents/7")
        place = f"{public}/.well-known/oauth-protected-resource/mcp/agents/7"
        assert place in refused.headers["www-authenticate"]


async def test_without_an_issuer_there_is_no_metadata(settings: Settings) -> None:
    """And a signed token is as wrong as any other."""
    async with Issuer() as issuer, open_crib(settings) as crib:
        api = await crib.client(issuer.token(issuer.claims("alice", API)))
        refused = await api.get(ME)
        assert problem_of(refused) == (401, "not_authenticated", None)
        assert refused.headers["www-authenticate"] == "Bearer"
        assert problem_of(await api.get("/.well-known/oauth-protected-resource"))[0] == 404


def test_an_issuer_needs_an_audience(data_dir: Path) -> None:
    """Else every token of the issuer would do, whomever it is for."""
    with pytest.raises(ValueError, match="oidc_audience"):
        Settings(data_dir=data_dir, oidc_issuer="https://login.example.com")
