"""This module hands MCP servers to the vendor of a model, where the vendor connects to them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from toolcrib.dialects.hosted_mcp import AnthropicForm, anthropic_form, refused_by_openai
from toolcrib.errors import MissingExtra, SetupError
from toolcrib.surfaces.langchain.servers import ConnectedConfig, Fallback

_log = logging.getLogger(__name__)
Entries = Sequence[Mapping[str, Any]]
_VENDORS = {
    ("langchain_openai", "ChatOpenAI"): "openai",
    ("langchain_anthropic", "ChatAnthropic"): "anthropic",
}
"""The model classes whose vendors connect to MCP servers; Azure's and Bedrock's are others."""
_PACKAGES = {package for package, _ in _VENDORS}


def attach_mcp(
    llm: BaseChatModel | str,
    internal_tools: Sequence[Any],
    mcp_tool_configs: Entries,
    *,
    fallback: Fallback = None,
) -> tuple[BaseChatModel | str, list[Any]]:
    """`(model, agent_tools)` for `create_agent`: the tools, and the servers the vendor can take.

    `llm` is a chat model, whose class decides, or a `provider:model` string. OpenAI gets each
    config as a tool of the Responses API; Anthropic gets it on a copy of the model. A server that
    cannot be attached is skipped with a warning that says why and what would mend it; with
    `fallback="connect"` its tools are added instead, and Toolcrib connects to it. Raises SetupError
    when the configurations were made without that.
    """
    model = _model(llm)
    tools = list(internal_tools)
    vendor = _vendor(model)
    if fallback == "connect":
        mcp_tool_configs, theirs = _split(model, vendor, mcp_tool_configs)
        tools += theirs
    if not mcp_tool_configs:
        return model, tools
    if vendor == "openai":
        return model, tools + _for_openai(model, mcp_tool_configs)
    if vendor == "anthropic" and isinstance(model, str):
        raise MissingExtra(
            f"MCP servers cannot be attached to {model!r}: a model is made of it by langchain.",
            hint="pip install 'toolcrib[agents,anthropic]', or pass a ChatAnthropic.",
        )
    if vendor == "anthropic":
        return _for_anthropic(cast("BaseChatModel", model), tools, mcp_tool_configs)
    kind = model if isinstance(model, str) else type(model).__name__
    for entry in mcp_tool_configs:
        _log.warning(
            "MCP server %s skipped on %s: its vendor has no hosted MCP that Toolcrib knows. "
            "Use an OpenAI or Anthropic model.",
            _label(entry),
            kind,
        )
    return model, tools


def _split(model: object, vendor: str, entries: Entries) -> tuple[Entries, list[BaseTool]]:
    """The servers that the vendor takes, and the tools of the others."""
    hosted: list[Mapping[str, Any]] = []
    tools: list[BaseTool] = []
    for entry in entries:
        if _takes(model, vendor, entry):
            hosted.append(entry)
        elif isinstance(entry, ConnectedConfig):
            tools += entry.tools
        else:
            raise SetupError(
                f"MCP server {_label(entry)} was not connected to.",
                hint='Pass fallback="connect" to get_tools_from_capabilities too.',
            )
    return hosted, tools


def _takes(model: object, vendor: str, entry: Mapping[str, Any]) -> bool:
    if vendor == "openai":
        responses = getattr(model, "use_responses_api", None) is not False
        return responses and refused_by_openai(entry) is None
    return vendor == "anthropic" and isinstance(anthropic_form(entry), AnthropicForm)


def _model(llm: BaseChatModel | str) -> BaseChatModel | str:
    if not isinstance(llm, str) or find_spec("langchain") is None:
        return llm
    from langchain.chat_models import init_chat_model  # noqa: PLC0415 - heavy, and not always there

    return init_chat_model(llm)


def _vendor(model: object) -> str:
    if isinstance(model, str):
        return model.partition(":")[0]
    for kind in type(model).__mro__:
        package = kind.__module__.partition(".")[0]
        vendor = _VENDORS.get((package, kind.__name__))
        if vendor is not None:
            return vendor
        if package.startswith("langchain_") and package not in _PACKAGES:
            return ""  # another vendor's class that derives from one of these
    return ""


def _for_openai(model: BaseChatModel | str, entries: Entries) -> list[dict[str, Any]]:
    if getattr(model, "use_responses_api", None) is False:
        for entry in entries:
            _log.warning(
                "MCP server %s skipped on OpenAI: the model has use_responses_api=False and only "
                "the Responses API connects to MCP servers. Leave use_responses_api unset.",
                _label(entry),
            )
        return []
    attached: list[dict[str, Any]] = []
    for entry in entries:
        refusal = refused_by_openai(entry)
        if refusal is None:
            attached.append(dict(entry))
        else:
            _log.warning(
                "MCP server %s skipped on OpenAI: %s. Mend it: %s.",
                _label(entry),
                refusal.reason,
                refusal.fix,
            )
    return attached


class _Servers(list[dict[str, Any]]):
    """`mcp_servers` whose tokens do not show when the model is printed."""

    def __repr__(self) -> str:
        hidden = [{k: "***" if "token" in k else v for k, v in one.items()} for one in self]
        return repr(hidden)


def _for_anthropic(
    model: BaseChatModel, tools: list[Any], entries: Entries
) -> tuple[BaseChatModel, list[Any]]:
    present = cast("list[dict[str, Any]]", getattr(model, "mcp_servers", None) or [])
    servers = _Servers(present)
    for entry in entries:
        form = _form(entry, taken={str(one.get("name")) for one in servers})
        if form is not None:
            servers.append(form.server)
            tools.append(form.toolset)
    if len(servers) == len(present):
        return model, tools
    return model.model_copy(update={"mcp_servers": servers}), tools


def _form(entry: Mapping[str, Any], *, taken: set[str]) -> AnthropicForm | None:
    form = anthropic_form(entry)
    if isinstance(form, AnthropicForm) and form.server["name"] not in taken:
        for name in form.dropped:
            _log.warning(
                "MCP server %s on Anthropic: header %s is dropped. "
                "Use `Authorization: Bearer …`, or an OpenAI model.",
                _label(entry),
                name,
            )
        return form
    reason, fix = "its server_label is taken by another server", "give it another label"
    if not isinstance(form, AnthropicForm):
        reason, fix = form.reason, form.fix
    _log.warning("MCP server %s skipped on Anthropic: %s. Mend it: %s.", _label(entry), reason, fix)
    return None


def _label(entry: Mapping[str, Any]) -> str:
    return repr(entry.get("server_label") or "without a label")
