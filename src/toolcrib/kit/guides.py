"""This module keeps the usage guides: a model sees an index first, and a guide when it asks."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from toolcrib.kit.catalogue import get_all_tools, metadata_of_tool

_PLACES = {
    "core": "expand_msg_tool message_tool task_list_tool",
    "files": "sb_shell_tool sb_files_tool sb_file_reader_tool sb_kb_tool sb_spreadsheet_tool "
    "sb_upload_file_tool sb_git_sync",
    "search": "web_search_tool image_search_tool people_search_tool company_search_tool "
    "paper_search_tool",
    "browser": "browser_tool sb_expose_tool",
    "media": "sb_vision_tool sb_image_edit_tool sb_presentation_tool sb_canvas_tool "
    "reality_defender_tool",
    "utility": "vapi_voice_tool apify_tool composio_upload_tool",
    "agent": "agent_config_tool agent_creation_tool mcp_search_tool credential_profile_tool "
    "trigger_tool",
}
_CATEGORY_OF = {name: category for category, names in _PLACES.items() for name in names.split()}
_HOW = "Tools that can be loaded: call initialize_tools with the names you need, then use them."


@dataclass(frozen=True, slots=True)
class ToolGuideEntry:
    tool_name: str
    display_name: str
    description: str
    usage_guide: str | None


class ToolGuideRegistry:
    """The guides of the installed tools. Safe to use from several threads."""

    def __init__(self, entries: Iterable[ToolGuideEntry] | None = None) -> None:
        """Without `entries` the catalogue is read when the first question comes."""
        self._lock = threading.Lock()
        self._entries = None if entries is None else {one.tool_name: one for one in entries}

    def get_guide(self, tool_name: str) -> str | None:
        """The guide under a heading; None for an unknown tool and for one that has none."""
        entry = self._known().get(tool_name)
        if entry is None or not entry.usage_guide:
            return None
        return f"## {entry.display_name} Usage Guide\n\n{entry.usage_guide.strip()}"

    def get_minimal_index(self, disabled: Iterable[str] = ()) -> str:
        """A line of names for each category, those in `disabled` left out."""
        off = set(disabled)
        lines = [_HOW]
        for category in _PLACES:
            names = sorted(
                name
                for name in self._known()
                if name not in off and _CATEGORY_OF.get(name, "utility") == category
            )
            if names:
                lines.append(f"{category}: {', '.join(names)}")
        return "\n".join(lines)

    def get_all_tool_names(self) -> list[str]:
        return list(self._known())

    def has_tool(self, tool_name: str) -> bool:
        return tool_name in self._known()

    def get_tool_info(self, tool_name: str) -> tuple[str, str] | None:
        """`(display_name, description)`."""
        entry = self._known().get(tool_name)
        return None if entry is None else (entry.display_name, entry.description)

    def forget(self) -> None:
        """Read the catalogue again at the next question."""
        with self._lock:
            self._entries = None

    def _known(self) -> dict[str, ToolGuideEntry]:
        with self._lock:
            if self._entries is None:
                found = ((name, metadata_of_tool(name)) for name in get_all_tools())
                self._entries = {
                    name: ToolGuideEntry(
                        name, said.display_name, said.description, said.usage_guide
                    )
                    for name, said in found
                    if said is not None
                }
            return self._entries


_registry = ToolGuideRegistry()


def get_tool_guide_registry() -> ToolGuideRegistry:
    """The guides of this process."""
    return _registry


def get_tool_guide(tool_name: str) -> str | None:
    return _registry.get_guide(tool_name)


def get_minimal_tool_index() -> str:
    return _registry.get_minimal_index()


def get_minimal_tool_index_filtered(disabled: Iterable[str]) -> str:
    return _registry.get_minimal_index(disabled)
