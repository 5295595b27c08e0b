"""This module is Anthropic's `POST /v1/messages`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from toolcrib.testing.wires.wire import Body, CannotSay, Reply, items_of, pieces, sse, text_of


class AnthropicMessages:
    """POST /v1/messages."""

    def name_of(self, tool: Body) -> str | None:
        return tool.get("name") if "input_schema" in tool else None

    def results_of(self, body: Body) -> list[str]:
        contents = [message["content"] for message in items_of(body, "messages")]
        blocks = [block for c in contents if isinstance(c, list) for block in cast("list[Body]", c)]
        return [text_of(b.get("content")) for b in blocks if b.get("type") == "tool_result"]

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]:
        return {
            **_message_head(reply),
            "content": [block for block, _ in _message_blocks(reply, whole=True)],
            "stop_reason": "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
        }

    def stream(self, reply: Reply, body: Body) -> str:
        start: dict[str, Any] = {
            **_message_head(reply),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }
        events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
        for place, (block, deltas) in enumerate(_message_blocks(reply, whole=False)):
            events.append({"type": "content_block_start", "index": place, "content_block": block})
            events += [
                {"type": "content_block_delta", "index": place, "delta": delta} for delta in deltas
            ]
            events.append({"type": "content_block_stop", "index": place})
        end = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
        events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}})
        events.append({"type": "message_stop"})
        return sse(events)

    def refusal(self, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def _message_head(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"msg_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _message_blocks(
    reply: Reply, *, whole: bool
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each content block, complete or as it starts, and the deltas that complete it."""
    if reply.text:
        yield (
            {"type": "text", "text": reply.text if whole else ""},
            [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)],
        )
    for call in reply.calls:
        given: dict[str, Any] = _loaded(call.arguments) if whole else {}
        yield (
            {"type": "tool_use", "id": call.id, "name": call.name, "input": given},
            [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in pieces(call.arguments)
            ],
        )


def _loaded(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise CannotSay(
            f"Anthropic sends arguments as an object; only a stream holds {arguments!r}."
        )
    return cast("dict[str, Any]", value)
