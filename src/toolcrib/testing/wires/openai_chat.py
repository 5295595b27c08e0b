"""This module is OpenAI's `POST /v1/chat/completions`."""

from __future__ import annotations

import json
from typing import Any, cast

from toolcrib.testing.wires.wire import Body, Reply, WireCall, items_of, pieces, text_of


class OpenAIChat:
    """POST /v1/chat/completions."""

    def name_of(self, tool: Body) -> str | None:
        function = cast("Body", tool.get("function") or {})
        return function.get("name")

    def results_of(self, body: Body) -> list[str]:
        return [
            text_of(m.get("content")) for m in items_of(body, "messages") if m["role"] == "tool"
        ]

    def whole(self, reply: Reply, body: Body) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [_chat_call(call) for call in reply.calls]
        choice = {"index": 0, "message": message, "finish_reason": _chat_end(reply)}
        return {
            **_chat_head(reply, "chat.completion"),
            "choices": [choice],
            "usage": _CHAT_USAGE,
        }

    def stream(self, reply: Reply, body: Body) -> str:
        head = _chat_head(reply, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in pieces(reply.text)]
        for place, call in enumerate(reply.calls):
            first = {"index": place, **_chat_call(call)}
            first["function"] = {"name": call.name, "arguments": ""}
            deltas.append({"tool_calls": [first]})
            deltas += [
                {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}
                for piece in pieces(call.arguments)
            ]
        chunks: list[dict[str, Any]] = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in deltas
        ]
        end: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": _chat_end(reply)}
        chunks.append({**head, "choices": [end]})
        if cast("Body", body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**head, "choices": [], "usage": _CHAT_USAGE})
        return "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n"

    def refusal(self, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "code": None}}


_CHAT_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _chat_head(reply: Reply, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.id}", "object": kind, "created": 0, "model": reply.model}


def _chat_call(call: WireCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _chat_end(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"
