"""This module makes phone calls through Vapi: a voice assistant that calls and talks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.errors import CallFailed, SourceProtocolError
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

KEY = "VAPI_PRIVATE_KEY"
NUMBER = "VAPI_PHONE_NUMBER_ID"
_CALL = ("id", "status", "endedReason", "createdAt", "startedAt", "endedAt", "cost", "customer")
_DETAILS = (*_CALL, "summary", "transcript", "recordingUrl", "analysis")
_ID: dict[str, Any] = {"minLength": 1, "maxLength": 100, "pattern": "^[A-Za-z0-9_-]+$"}
GUIDE = f"""
A call is made to a real person and costs money: call only a number that the user gave you for this
purpose, and say in `first_message` who is calling and for whom.

`make_phone_call` answers at once with the call's id; look with `get_call_details` until its status
is `ended`, then read `transcript` and `summary`. `end_call` hangs up. `list_calls` shows the latest
ones.

It needs the settings {KEY} and {NUMBER} of the user or the group.
"""


@tool_metadata(
    "Phone calls",
    "Let a voice assistant call somebody",
    icon="phone",
    color="rose",
    weight=120,
    visible=True,
    usage_guide=GUIDE,
    category="utility",
)
class VapiVoiceTool(BuiltIn):
    """Calls by Vapi's interface, with the caller's key and number."""

    @method_metadata("Make a phone call", "Calls a number")
    @annotations(read_only=False, open_world=True)
    @openapi_schema(
        name="make_phone_call",
        description="Let a voice assistant call a number and talk. Answers the call's id.",
    )
    @param(
        "phone_number",
        "string",
        "With country code, as in +442071838750",
        required=True,
        pattern=r"^\+[1-9][0-9]{6,14}$",
    )
    @param("first_message", "string", "What it says first", required=True, maxLength=2000)
    @param("system_prompt", "string", "How it should behave and what to find out", maxLength=20_000)
    @answers
    async def make_phone_call(
        self, phone_number: str, first_message: str, system_prompt: str = ""
    ) -> ToolResult:
        assistant: dict[str, Any] = {"firstMessage": first_message}
        if system_prompt:
            message = {"role": "system", "content": system_prompt}
            assistant["model"] = {"provider": "openai", "model": "gpt-4o", "messages": [message]}
        body = {
            "phoneNumberId": await self.setting(NUMBER),
            "customer": {"number": phone_number},
            "assistant": assistant,
        }
        return self.success_response(_shown(await self._object("POST", "/call", body), _CALL))

    @method_metadata("End a call", "Hangs up")
    @annotations(read_only=False)
    @openapi_schema(name="end_call", description="Hang up a call that is going on.")
    @param("call_id", "string", "The call's id", required=True, **_ID)
    @answers
    async def end_call(self, call_id: str) -> ToolResult:
        call = await self._object("GET", f"/call/{quote(call_id, safe='')}")
        if call.get("status") == "ended":
            return self.success_response(_shown(call, _CALL))
        monitor = call.get("monitor")
        url = (
            cast("Mapping[str, Any]", monitor).get("controlUrl")
            if isinstance(monitor, Mapping)
            else None
        )
        if not isinstance(url, str):
            return self.fail_response("This call cannot be controlled: it is not going on.")
        # The address is the service's word, so it gets no key, and the guard looks at it.
        answer = await self.lent.web.request("POST", url, content={"type": "end-call"})
        if not answer.ok:
            raise CallFailed(f"The voice service answered HTTP {answer.status}.")
        return self.success_response({"id": call_id, "status": "ending"})

    @method_metadata("Call details", "Shows a call with its transcript")
    @annotations(read_only=True)
    @openapi_schema(
        name="get_call_details", description="Show a call: status, transcript, summary."
    )
    @param("call_id", "string", "The call's id", required=True, **_ID)
    @answers
    async def get_call_details(self, call_id: str) -> ToolResult:
        call = await self._object("GET", f"/call/{quote(call_id, safe='')}")
        return self.success_response(_shown(call, _DETAILS))

    @method_metadata("List calls", "Shows the latest calls")
    @annotations(read_only=True)
    @openapi_schema(name="list_calls", description="Show the latest calls.")
    @param("limit", "integer", "How many", default=10, minimum=1, maximum=100)
    @answers
    async def list_calls(self, limit: int = 10) -> ToolResult:
        found = await self._asked("GET", f"/call?limit={limit}")
        if not isinstance(found, list):
            raise SourceProtocolError("The voice service's answer is not a list of calls.")
        rows = cast("list[object]", found)
        calls = [
            _shown(cast("Mapping[str, Any]", row), _CALL)
            for row in rows
            if isinstance(row, Mapping)
        ]
        return self.success_response({"calls": calls})

    async def _object(self, method: str, path: str, content: Any = None) -> Mapping[str, Any]:
        found = await self._asked(method, path, content)
        if not isinstance(found, Mapping):
            raise SourceProtocolError("The voice service's answer is not a call.")
        return cast("Mapping[str, Any]", found)

    async def _asked(self, method: str, path: str, content: Any = None) -> object:
        key = await self.setting(KEY)
        answer = await self.lent.web.request(
            method,
            self.lent.addresses["vapi"].rstrip("/") + path,
            headers={"Authorization": f"Bearer {key}"},
            content=content,
            values=[key],
        )
        if not answer.ok:
            raise CallFailed(
                f"The voice service answered HTTP {answer.status}: {_why(answer.body)}"
            )
        try:
            return json.loads(answer.body)
        except ValueError:
            raise SourceProtocolError("The voice service's answer is not JSON.") from None


def _shown(call: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: call[name] for name in names if call.get(name) is not None}


def _why(body: bytes) -> str:
    """What the service says of a refusal, in a line."""
    try:
        said = json.loads(body)
    except ValueError:
        return "no reason given."
    message = cast("Mapping[str, Any]", said).get("message") if isinstance(said, Mapping) else None
    return str(message or "no reason given.")[:500]
