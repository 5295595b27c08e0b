"""This module lists the built-in codes: what each is for, and which tool classes it brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A built-in code; `tools` are names of CLASSES."""

    code: str
    name: str
    description: str
    tools: tuple[str, ...] = ()


CLASSES: Mapping[str, str] = {
    "message_tool": "messages:MessageTool",
    "task_list_tool": "task_list:TaskListTool",
    "expand_msg_tool": "expand_message:ExpandMessageTool",
    "web_search_tool": "web_search:SandboxWebSearchTool",
    "image_search_tool": "image_search:SandboxImageSearchTool",
    "sb_shell_tool": "sandbox.shell:SandboxShellTool",
    "sb_files_tool": "sandbox.files:SandboxFilesTool",
    "sb_git_sync": "sandbox.git:SandboxGitTool",
    "browser_tool": "browser.tool:BrowserTool",
    "vapi_voice_tool": "voice:VapiVoiceTool",
    "agent_config_tool": "agent_config:AgentConfigTool",
    "agent_creation_tool": "agent_creation:AgentCreationTool",
    "user_settings_tool": "user_settings:UserSettingsTool",
    "api_requests_tool": "api_requests:ApiRequestsTool",
    "chat_base_tool": "chat_base:ChatBaseTool",
    "developer_tool": "developer:DeveloperTool",
    "memory_tool": "memory:MemoryTool",
    "documents_tool": "documents:DocumentsTool",
    "rag_messages_tool": "rag_messages:RagMessagesTool",
    "rag_documents_tool": "rag_documents:RagDocumentsTool",
    "subchats_parent_tool": "subchats:SubchatsParentTool",
    "subchats_child_tool": "subchats:SubchatsChildTool",
}
"""Name of the group → module and class, below this package. pyproject.toml announces the same."""

CODES = (
    Code(
        code="core",
        name="Core",
        description="Messages to the user, a task list, loading of other tools.",
        tools=("message_tool", "task_list_tool", "expand_msg_tool"),
    ),
    Code(
        code="search",
        name="Search",
        description="Web and image search, reading of web pages.",
        tools=("web_search_tool", "image_search_tool"),
    ),
    Code(
        code="web_search_google_serper",
        name="Google search (Serper)",
        description="Web search for whoever has set SERPER_API_KEY.",
        tools=("web_search_tool",),
    ),
    Code(
        code="sandbox",
        name="Sandbox",
        description="Commands and files in a folder of the chat, isolated from the machine.",
        tools=("sb_shell_tool", "sb_files_tool"),
    ),
    Code(
        code="git_sync",
        name="Git sync",
        description="Commits the chat's workspace and pushes it.",
        tools=("sb_git_sync",),
    ),
    Code(
        code="browser",
        name="Browser",
        description="A browser of the chat's own, whose every connection the guard judges.",
        tools=("browser_tool",),
    ),
    Code(
        code="voice",
        name="Phone calls",
        description="Phone calls by a voice assistant (Vapi).",
        tools=("vapi_voice_tool",),
    ),
    Code(
        code="agent_builder",
        name="Agent builder",
        description="Reads and changes the agent, and makes new ones, with the caller's rights.",
        tools=("agent_config_tool", "agent_creation_tool"),
    ),
    Code(
        code="settings",
        name="Settings",
        description="Stores a setting of the user.",
        tools=("user_settings_tool",),
    ),
    Code(
        code="generic_api_requests",
        name="Web requests",
        description="Fetches any public address.",
        tools=("api_requests_tool",),
    ),
    Code(
        code="base",
        name="Base",
        description="Names the chat, reads a web page, lists agents.",
        tools=("chat_base_tool",),
    ),
    Code(
        code="base_dev",
        name="Base for developers",
        description="Waits, for trying things out; in the development environment only.",
        tools=("developer_tool",),
    ),
    Code(
        code="memory",
        name="Memory",
        description="Remembers things about the user from chat to chat.",
        tools=("memory_tool",),
    ),
    Code(
        code="documents",
        name="Documents",
        description="Lists, reads and writes the documents of the chat.",
        tools=("documents_tool",),
    ),
    Code(
        code="rag",
        name="Search in the chat",
        description="Searches the messages of the chat, and its documents where they are enabled.",
        tools=("rag_messages_tool",),
    ),
    Code(
        code="rag_documents",
        name="Search in documents",
        description="Searches the documents of the chat.",
        tools=("rag_documents_tool",),
    ),
    Code(
        code="subchats",
        name="Subchats",
        description="Chats below a chat: opened and asked from above, reporting from below.",
    ),
    Code(
        code="subchats_parent",
        name="Subchats, from above",
        description="Opens chats below this one and sends messages to them.",
        tools=("subchats_parent_tool",),
    ),
    Code(
        code="subchats_child",
        name="Subchats, from below",
        description="Reports to the chat above.",
        tools=("subchats_child_tool",),
    ),
)


def instances(context: Any) -> dict[str, Any]:
    """One instance of each class for this context: under several codes it is one tool."""
    return {name: class_of(place)(context) for name, place in CLASSES.items()}


def class_of(place: str) -> type[Any]:
    """The class of a `module:class` below this package."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), name)
