"""This module is OpenAI's `POST /v1/responses`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from toolcrib.testing.wires.wire import Body, Reply, pieces, sse, text_of


class OpenAIResponses:
    """POST /v1/responses."""

    def name_of(self, tool: Body) -> str | None:
        return tool.get("name") if tool.get("type") == "function" else None

    def results_of(self, body: Body) -> list[str]:
        given = body.get("input")
        items = cast("list[Body]", given) if isinstance(given, list) else []
        return [text_of(i.get("output")) for i in items if i.get("type") == "function_call_output"]

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]:
        return _response(reply, "completed", list(_response_items(reply)))

    def stream(self, reply: Reply, body: Body) -> str:
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": _response(reply, "in_progress", [])}
        ]
        for place, item in enumerate(_response_items(reply)):
            events += _response_events(item, place)
        done = self.whole(reply, body)
        events.append({"type": "response.completed", "response": done})
        return sse({**event, "sequence_number": n} for n, event in enumerate(events))

    def refusal(self, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "code": None}}


_RESPONSE_USAGE: dict[str, Any] = {
    "input_tokens": 1,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 1,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 2,
}


def _response(reply: Reply, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": _RESPONSE_USAGE if status == "completed" else None,
    }


def _response_items(reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.text:
        text: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": []}
        yield {
            "type": "message",
            "id": f"msg_{reply.id}",
            "status": "completed",
            "role": "assistant",
            "content": [text],
        }
    for call in reply.calls:
        yield {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }


def _response_events(item: dict[str, Any], place: int) -> Iterator[dict[str, Any]]:
    at = {"output_index": place, "item_id": item["id"]}
    is_text = item["type"] == "message"
    empty: dict[str, Any] = {"content": []} if is_text else {"arguments": ""}
    opened = {**item, **empty, "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": place, "item": opened}
    if is_text:
        part = item["content"][0]
        at["content_index"] = 0
        yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
        for piece in pieces(part["text"]):
            yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **at, "part": part}
    else:
        name = "response.function_call_arguments"
        for piece in pieces(item["arguments"]):
            yield {"type": f"{name}.delta", **at, "delta": piece}
        yield {
            "type": f"{name}.done",
            **at,
            "name": item["name"],
            "arguments": item["arguments"],
        }
    yield {"type": "response.output_item.done", "output_index": place, "item": item}
