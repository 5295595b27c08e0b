"""Phone calls against a look-alike of Vapi on loopback: as built-in tools, and as a package."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.chatting import Office, Talk, open_office
from tests.support.endpoints import open_endpoints
from toolcrib.settings import Settings
from toolcrib.testing.replies import json_answer, raw
from toolcrib.testing.upstream import RecordingUpstream

KEY = "vapi-private-key-0123456789"
CALL: dict[str, Any] = {
    "id": "c-1",
    "status": "in-progress",
    "createdAt": "2026-11-30T10:00:00Z",
    "customer": {"number": "+442071838750"},
    "orgId": "not shown",
}
PACKAGES = Path(__file__).parents[2] / "examples" / "packages"


@pytest.fixture
async def upstream() -> AsyncGenerator[RecordingUpstream]:
    async with RecordingUpstream() as opened:
        yield opened


@pytest.fixture
async def office(settings: Settings, upstream: RecordingUpstream) -> AsyncGenerator[Office]:
    chosen = settings.model_copy(
        update={"egress_allow": (upstream.place,), "vapi_url": upstream.url("")}
    )
    async with open_office(chosen, ["voice"]) as opened:
        yield opened


@pytest.fixture
async def talk(office: Office) -> Talk:
    ada = await office.person("ada")
    for name, value in (("VAPI_PRIVATE_KEY", KEY), ("VAPI_PHONE_NUMBER_ID", "number-1")):
        await ada.api.put(f"/api/v1/settings/{name}", json={"value": value})
    return await office.talk(ada)


async def test_a_call(talk: Talk, upstream: RecordingUpstream) -> None:
    """The assistant's words, the user's number and key are sent; the id comes back."""
    upstream.reply("/call", json_answer(CALL, status=201))
    made = await talk.ok(
        "make_phone_call",
        phone_number="+442071838750",
        first_message="Hello, this is a test.",
        system_prompt="Be brief.",
    )
    assert made == {key: value for key, value in CALL.items() if key != "orgId"}
    (sent,) = upstream.requests
    assert (sent.method, sent.header("Authorization")) == ("POST", f"Bearer {KEY}")
    body = json.loads(sent.body)
    assert (body["phoneNumberId"], body["customer"]) == ("number-1", {"number": "+442071838750"})
    assert body["assistant"]["firstMessage"] == "Hello, this is a test."
    assert body["assistant"]["model"]["messages"] == [{"role": "system", "content": "Be brief."}]


async def test_details_and_list(talk: Talk, upstream: RecordingUpstream) -> None:
    """What is of use, without the account's own facts."""
    ended = {**CALL, "status": "ended", "transcript": "AI: Hello", "summary": "Said hello."}
    upstream.reply("/call/c-1", json_answer(ended))
    upstream.reply("/call", json_answer([CALL, ended]))
    details = await talk.ok("get_call_details", call_id="c-1")
    assert (details["transcript"], details["summary"]) == ("AI: Hello", "Said hello.")
    listed = await talk.ok("list_calls", limit=2)
    assert [call["status"] for call in listed["calls"]] == ["in-progress", "ended"]
    assert upstream.requests[-1].query == "limit=2"


async def test_hanging_up(talk: Talk, upstream: RecordingUpstream) -> None:
    """Through the address that the service names, without the key; an ended call stays ended."""
    control = {"controlUrl": upstream.url("/live/c-1/control")}
    upstream.reply("/call/c-1", json_answer({**CALL, "monitor": control}))
    upstream.reply("/live/c-1/control", json_answer({}))
    assert await talk.ok("end_call", call_id="c-1") == {"id": "c-1", "status": "ending"}
    sent = upstream.requests[-1]
    assert (sent.path, json.loads(sent.body)) == ("/live/c-1/control", {"type": "end-call"})
    assert sent.header("Authorization") is None
    upstream.reply("/call/c-1", json_answer({**CALL, "status": "ended"}))
    assert (await talk.ok("end_call", call_id="c-1"))["status"] == "ended"


async def test_a_control_address_inside_is_not_called(
    talk: Talk, upstream: RecordingUpstream
) -> None:
    """The service's word about an address is nobody's permission."""
    control = {"controlUrl": "https://169.254.169.254/control"}
    upstream.reply("/call/c-1", json_answer({**CALL, "monitor": control}))
    code, _ = await talk.failed("end_call", call_id="c-1")
    assert code == "blocked"


@pytest.mark.parametrize("number", ["112", "+1", "tel:+442071838750", "+44 20 7183 8750"])
async def test_numbers_that_are_none(talk: Talk, upstream: RecordingUpstream, number: str) -> None:
    """Refused before anything is sent."""
    arguments = {"phone_number": number, "first_message": "Hello"}
    code, _ = await talk.failed("make_phone_call", **arguments)
    assert (code, upstream.requests) == ("invalid_arguments", [])


async def test_a_refusal_is_told(talk: Talk, upstream: RecordingUpstream) -> None:
    """With the service's reason; the key is masked in it."""
    upstream.reply("/call", json_answer({"message": f"no credit for {KEY}"}, status=402))
    code, words = await talk.failed("list_calls")
    assert (code, words) == (
        "tool_error",
        "The voice service answered HTTP 402: no credit for ***",
    )


async def test_a_call_that_may_have_been_made(talk: Talk, upstream: RecordingUpstream) -> None:
    """The connection broke after the request: nobody can tell, and it is not sent again."""
    upstream.reply("/call", raw(b"HTTP/1.1 201 Created\r\nContent-Length: 90\r\n\r\n{"))
    arguments = {"phone_number": "+442071838750", "first_message": "Hello"}
    code, _ = await talk.failed("make_phone_call", **arguments)
    assert (code, len(upstream.requests)) == ("outcome_unknown", 1)
    code, _ = await talk.failed("list_calls")
    assert code != "outcome_unknown"


async def test_as_packages(settings: Settings) -> None:
    """The same service without Python: documents that any installation can install."""
    async with open_endpoints(settings) as endpoints:
        for name, value in {
            "VAPI_URL": endpoints.upstream.url(""),
            "VAPI_PRIVATE_KEY": KEY,
            "VAPI_PHONE_NUMBER_ID": "number-1",
        }.items():
            await endpoints.crib.desk.secrets.put(endpoints.root.caller, name, value)
        for slug in ("vapi_make_phone_call", "vapi_get_call"):
            document = json.loads((PACKAGES / f"{slug}.json").read_text())
            await endpoints.crib.desk.packages.install(endpoints.root.caller, document)
            endpoints.held.append(f"installed__{slug}")
        await endpoints.crib.desk.agents.set_capabilities(
            endpoints.root.caller, endpoints.agent, endpoints.held
        )
        endpoints.upstream.reply("/call", json_answer(CALL, status=201))
        endpoints.upstream.reply("/call/c-1", json_answer(CALL))
        made = await endpoints.call(
            "vapi_make_phone_call", phone_number="+442071838750", first_message="Hello"
        )
        assert made.success, made.output.text
        sent = endpoints.upstream.requests[0]
        assert sent.header("Authorization") == f"Bearer {KEY}"
        assert json.loads(sent.body) == {
            "phoneNumberId": "number-1",
            "customer": {"number": "+442071838750"},
            "assistant": {"firstMessage": "Hello"},
        }
        seen = await endpoints.call("vapi_get_call", call_id="c-1")
        assert seen.success
        assert "in-progress" in seen.output.text
