"""Wires: a scripted reply in each vendor's words, whole or as a stream of events.

In comes a Reply; out goes what the vendor's API would have sent. Next: `ScriptedModel` serves it.
"""

from collections.abc import Mapping

from toolcrib.testing.wires.anthropic import AnthropicMessages
from toolcrib.testing.wires.openai_chat import OpenAIChat
from toolcrib.testing.wires.openai_responses import OpenAIResponses
from toolcrib.testing.wires.wire import CannotSay, Reply, Wire, WireCall

__all__ = ["WIRES", "CannotSay", "Reply", "Wire", "WireCall"]

WIRES: Mapping[str, Wire] = {
    "/chat/completions": OpenAIChat(),
    "/responses": OpenAIResponses(),
    "/messages": AnthropicMessages(),
}
"""The formats by path, without the leading `/v1`."""
