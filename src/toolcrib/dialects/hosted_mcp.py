"""This module words an MCP server for the vendors that connect to it themselves.

A capability's options become one canonical dict; OpenAI takes it as it is, Anthropic takes a
server and a toolset behind four gates. What a vendor could not do safely is refused, with the
reason and what would mend it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from toolcrib.sources.mcp.canonical import canonical, settings_needed, tool_names, with_login

__all__ = [
    "AnthropicForm",
    "Refusal",
    "anthropic_form",
    "canonical",
    "refused_by_openai",
    "settings_needed",
    "with_login",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why a vendor does not get a server. Both texts are clauses without a full stop."""

    reason: str
    fix: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AnthropicForm:
    """What Anthropic gets: an entry of `mcp_servers`, one of `tools`, and what it cannot get."""

    server: dict[str, Any] = field(repr=False)
    toolset: dict[str, Any]
    dropped: tuple[str, ...] = ()
    """Names of headers that Anthropic cannot send, each with the reason."""


def refused_by_openai(entry: Mapping[str, Any]) -> Refusal | None:
    """Why the entry would make OpenAI refuse every request; None when it would not."""
    if not entry.get("server_label"):
        return Refusal(reason="server_label is missing", fix="give the server a short label")
    if not (entry.get("server_url") or entry.get("connector_id")):
        return Refusal(reason="server_url is missing", fix="set server_url")
    return None


def anthropic_form(entry: Mapping[str, Any]) -> AnthropicForm | Refusal:
    """The entry behind Anthropic's four gates."""
    refusal = _approval(entry) or _place(entry)
    if refusal is not None:
        return refusal
    toolset: dict[str, Any] = {
        "type": "mcp_toolset",
        "mcp_server_name": entry["server_label"],
    }
    if "allowed_tools" in entry:
        names = tool_names(entry["allowed_tools"])
        if names is None:
            return Refusal(
                reason="allowed_tools cannot be read as a list of tool names",
                fix="write it as a list of strings, or leave it out to allow every tool",
            )
        toolset["default_config"] = {"enabled": False}
        toolset["configs"] = {name: {"enabled": True} for name in names}
    token, dropped = _bearer(entry.get("headers"))
    server = {"type": "url", "name": entry["server_label"], "url": entry["server_url"]}
    if token:
        server["authorization_token"] = token
    return AnthropicForm(server=server, toolset=toolset, dropped=dropped)


def _approval(entry: Mapping[str, Any]) -> Refusal | None:
    if entry.get("require_approval") == "never":
        return None
    return Refusal(
        reason="require_approval is not exactly 'never' and Anthropic has no approval flow",
        fix="set require_approval to 'never', or use an OpenAI model",
    )


def _place(entry: Mapping[str, Any]) -> Refusal | None:
    for name in ("server_url", "server_label"):
        value = entry.get(name)
        if not isinstance(value, str) or not value.strip():
            return Refusal(reason=f"{name} is missing", fix=f"set {name}")
    if not entry["server_url"].lower().startswith("https://"):
        return Refusal(reason="server_url does not start with https://", fix="serve it over TLS")
    return None


def _bearer(headers: object) -> tuple[str | None, tuple[str, ...]]:
    """The one bearer token that Anthropic can send, and the headers that it cannot."""
    if headers is None:
        return None, ()
    if not isinstance(headers, Mapping):
        return None, ("headers (not an object)",)
    token: str | None = None
    dropped: list[str] = []
    for name, value in cast("Mapping[object, object]", headers).items():
        if str(name).strip().lower() != "authorization":
            dropped.append(f"{name} (Anthropic sends no header but Authorization)")
            continue
        found = _token(value)
        if found is None:
            dropped.append(f"{name} (Anthropic knows no scheme but Bearer)")
        else:
            token = found
    return token, tuple(dropped)


def _token(value: object) -> str | None:
    words = value.split() if isinstance(value, str) else []
    if len(words) == 2 and words[0].lower() == "bearer":
        return words[1]
    if len(words) == 1 and words[0].lower() not in {"bearer", "basic", "digest"}:
        return words[0]  # a raw token, without a scheme
    return None
