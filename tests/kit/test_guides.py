"""Usage guides, their index, and their cache."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from toolcrib.coordination.cache import LocalCache
from toolcrib.kit.guide_cache import ToolCache
from toolcrib.kit.guides import (
    ToolGuideEntry,
    ToolGuideRegistry,
    get_minimal_tool_index,
    get_minimal_tool_index_filtered,
    get_tool_guide,
    get_tool_guide_registry,
)

FIRST = "Tools that can be loaded: call initialize_tools with the names you need, then use them."


@pytest.mark.usefixtures("workshop")
def test_guides_of_installed_tools() -> None:
    """A heading and the author's text; None for an unknown tool and for one without a guide."""
    assert get_tool_guide("browser_tool") == "## Browser Usage Guide\n\nLook before you click."
    assert get_tool_guide("message_tool") is None
    assert get_tool_guide("no_such_tool") is None
    registry = get_tool_guide_registry()
    assert registry.get_all_tool_names() == [
        "message_tool",
        "web_search_tool",
        "browser_tool",
        "vapi_voice_tool",
        "lathe_tool",
    ]
    assert (registry.has_tool("browser_tool"), registry.has_tool("sb_files_tool")) == (True, False)
    assert registry.get_tool_info("browser_tool") == ("Browser", "Browse")
    assert registry.get_tool_info("no_such_tool") is None


@pytest.mark.usefixtures("workshop")
def test_the_index() -> None:
    """A line for each category that has something; strangers are utilities."""
    assert get_minimal_tool_index() == (
        f"{FIRST}\ncore: message_tool\nsearch: web_search_tool\nbrowser: browser_tool\n"
        "utility: lathe_tool, vapi_voice_tool"
    )


@pytest.mark.usefixtures("workshop")
def test_a_filtered_index_keeps_the_neighbours() -> None:
    """Only the name itself goes, and a category that has none left."""
    found = get_minimal_tool_index_filtered(["lathe_tool", "browser_tool"])
    assert (
        found == f"{FIRST}\ncore: message_tool\nsearch: web_search_tool\nutility: vapi_voice_tool"
    )


def test_every_category_has_a_line() -> None:
    """Seven of them, in one order, names sorted."""
    names = "trigger_tool sb_vision_tool sb_files_tool message_tool apify_tool browser_tool"
    more = "web_search_tool paper_search_tool"
    entries = [ToolGuideEntry(name, name, "", None) for name in f"{names} {more}".split()]
    lines = ToolGuideRegistry(entries).get_minimal_index().splitlines()
    assert lines == [
        FIRST,
        "core: message_tool",
        "files: sb_files_tool",
        "search: paper_search_tool, web_search_tool",
        "browser: browser_tool",
        "media: sb_vision_tool",
        "utility: apify_tool",
        "agent: trigger_tool",
    ]


@pytest.mark.usefixtures("workshop")
def test_many_threads_read_one_catalogue() -> None:
    """All get the same answer."""
    registry = ToolGuideRegistry()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: registry.get_minimal_index(), range(32)))
    assert set(answers) == {registry.get_minimal_index()}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Broken:
    """A cache that cannot be reached."""

    async def get(self, key: str) -> bytes | None:
        raise ConnectionError("no cache")

    async def put(self, key: str, value: bytes, *, seconds: float) -> None:
        raise ConnectionError("no cache")

    async def drop(self, prefix: str) -> int:
        raise ConnectionError("no cache")


async def test_cached_guides_last_an_hour() -> None:
    """Under a key with the version, as a value that names the tool."""
    clock = Clock()
    cache = LocalCache(clock=clock)
    guides = ToolCache(cache)
    assert await guides.set_tool_guide("browser_tool", "Look.") is True
    assert json.loads(await cache.get("tool_guide:v1:browser_tool") or b"") == {
        "tool_name": "browser_tool",
        "guide": "Look.",
        "version": "v1",
    }
    clock.now = 3599
    assert await guides.get_tool_guide("browser_tool") == "Look."
    clock.now = 3600
    assert await guides.get_tool_guide("browser_tool") is None


async def test_several_cached_guides() -> None:
    """Set, read and dropped together or one by one."""
    guides = ToolCache(LocalCache())
    assert await guides.set_multiple({"a": "A", "b": "B"}) == 2
    assert await guides.get_multiple(["a", "b", "c"]) == {"a": "A", "b": "B"}
    await guides.invalidate("a")
    assert await guides.get_multiple(["a", "b"]) == {"b": "B"}
    await guides.invalidate_all()
    assert await guides.get_multiple(["a", "b"]) == {}


async def test_a_broken_cache_is_an_empty_one() -> None:
    """Nothing of it reaches the caller."""
    guides = ToolCache(Broken())
    assert await guides.set_tool_guide("a", "A") is False
    assert await guides.set_multiple({"a": "A"}) == 0
    assert await guides.get_tool_guide("a") is None
    await guides.invalidate("a")
    await guides.invalidate_all()
