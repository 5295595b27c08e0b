"""This module holds the demo's steps: a visible list, each asking the REST surface for little."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.cli import example
from toolcrib.cli.demo_ending import curl_line, what_next
from toolcrib.cli.demo_story import ARGUMENTS, CODE, MISSING_CODE, TOOL, Story
from toolcrib.cli.paths import CAPABILITIES, path
from toolcrib.cli.server import running_server, server_has_tool
from toolcrib.errors import Conflict, PluginBroken

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

_PAGE = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """What one step shows. `made` says whether it made something or found it."""

    text: str
    made: bool | None = None
    rows: Sequence[Mapping[str, Any]] = ()
    columns: Sequence[str] = ()


Step = Callable[[Story], Awaitable[Scene]]


async def install_plugin(story: Story) -> Scene:
    version = example.installed()
    made = version is None
    if made:
        await example.install()
        version = example.installed()
    story.facts["plugin"] = {"distribution": example.DISTRIBUTION, "version": version, "made": made}
    return Scene(text=f"{example.DISTRIBUTION} {version}, installed with pip", made=made)


async def load_plugin(story: Story) -> Scene:
    page = await story.client.post(path("plugins", "reload"))
    found = [one for one in page["items"] if one["distribution"] == example.DISTRIBUTION]
    if not found or found[0]["status"] != "loaded":
        cause = found[0]["error"] if found else "its entry point was not found"
        raise PluginBroken(f"The plugin {example.DISTRIBUTION!r} did not load: {cause}.")
    story.facts["plugin"] |= found[0]
    codes = ", ".join(found[0]["codes"])
    return Scene(text=f"Its function {found[0]['value']} registered the codes {codes}.")


async def make_group(story: Story) -> Scene:
    row, made = await _made(story, path("groups"), {"name": "Demo workshop"})
    story.facts["group"] = row | {"made": made}
    return Scene(text=f"group {row['id']}, {row['name']!r}: a tenant", made=made)


async def make_user(story: Story) -> Scene:
    body = {"name": "demo", "role": "user", "group_ids": [story.facts["group"]["id"]]}
    row, made = await _made(story, path("users"), body | {"entitlements": []})
    story.facts["user"] = row | {"made": made}
    return Scene(text=f"user {row['id']}, {row['name']!r}, who belongs to it", made=made)


async def make_capability(story: Story) -> Scene:
    group = story.facts["group"]["id"]
    body = {"code": CODE, "group_id": group}
    row, made = await _made(story, f"{CAPABILITIES}/from-registered-tool", body, CAPABILITIES)
    story.facts["capability"] = row | {"made": made}
    text = f"capability {row['id']}, {row['name']!r}: lets the group use the code {CODE!r}"
    return Scene(text=text, made=made)


async def make_agent(story: Story) -> Scene:
    group = story.facts["group"]["id"]
    missing = {
        "name": "Hello poems",
        "code": MISSING_CODE,
        "type": "internal",
        "access_type": "group",
        "group_id": group,
        "description": "Poems, as soon as somebody writes the plugin",
    }
    poems, _ = await _made(story, CAPABILITIES, missing)
    body = {"name": "Demo clerk", "group_id": group}
    row, made = await _made(story, path("agents"), body)
    wanted = [story.facts["capability"]["id"], poems["id"]]
    row = await story.client.put(
        path("agents", row["id"], "capabilities"), {"capabilities": wanted}
    )
    story.facts["agent"] = row | {"made": made}
    text = f"agent {row['id']}, {row['name']!r}: holds {CODE!r}, and {MISSING_CODE!r} besides"
    return Scene(text=text, made=made)


async def list_tools(story: Story) -> Scene:
    found = await story.as_user.get(path("agents", story.facts["agent"]["id"], "tools"))
    story.facts["tools"] = found["tools"]
    story.facts["skipped"] = found["skipped"]
    rows = [one | {"description": one["description"].partition("\n")[0]} for one in found["tools"]]
    text = f"What user {story.facts['user']['id']} gets from the agent now:"
    return Scene(text=text, rows=rows, columns=("name", "description", "ref"))


async def explain_skip(story: Story) -> Scene:
    asked = {"agent": story.facts["agent"]["id"], "user": story.facts["user"]["id"]}
    found = await story.client.get(path("explain"), tool=MISSING_CODE, **asked)
    story.facts["explanation"] = found
    skip = next(one for one in story.facts["skipped"] if MISSING_CODE in one["ref"])
    text = f"{MISSING_CODE!r} is missing: {skip['reason']}.\nThe fix: {skip['fix']}"
    return Scene(text=text, rows=found["steps"], columns=("step", "verdict", "detail"))


async def call_tool(story: Story) -> Scene:
    agent = story.facts["agent"]["id"]
    body = {"arguments": ARGUMENTS}
    result = await story.as_user.post(path("agents", agent, "tools", TOOL, "call"), body)
    story.facts["call"] = result
    said = f"{TOOL}({json.dumps(ARGUMENTS)}) answered in {result['duration_ms']:.1f} ms:"
    return Scene(text=f"{said}\n{result['text']}")


async def show_journal(story: Story) -> Scene:
    page = await story.client.get(path("calls"), agent=story.facts["agent"]["id"], limit=5)
    story.facts["calls"] = page["items"]
    columns = ("started_at", "tool", "user_id", "arguments", "success", "duration_ms")
    return Scene(text="Who called what, and how it went:", rows=page["items"], columns=columns)


async def make_token(story: Story) -> Scene:
    """A second run cannot show the first one's token again, so it makes another in its place."""
    place = path("users", story.facts["user"]["id"], "tokens")
    for old in (await story.client.get(place))["items"]:
        if old["name"] == "demo":
            await story.client.delete(f"{place}/{old['id']}")
    token = (await story.client.post(place, {"name": "demo"}))["token"]
    server = await asyncio.to_thread(running_server, story.settings)
    story.facts |= {"token": token, "server": server, "curl": curl_line(story, token, server)}
    knows = server and await server_has_tool(server, token, story.facts["agent"]["id"], TOOL)
    story.facts["server_has_tool"] = bool(knows)
    return Scene(text=what_next(story))


STEPS: tuple[tuple[str, Step], ...] = (
    ("A plugin: a Python package that brings tools", install_plugin),
    ("Toolcrib loads it", load_plugin),
    ("A group", make_group),
    ("A user", make_user),
    ("A capability puts the plugin's tools within the group's reach", make_capability),
    ("An agent that holds it", make_agent),
    ("The agent's tools, for this user", list_tools),
    ("What is missing, why, and what would mend it", explain_skip),
    ("A call", call_tool),
    ("Its record in the journal", show_journal),
    ("What to try next", make_token),
)


async def _made(
    story: Story, place: str, body: dict[str, Any], listed: str | None = None
) -> tuple[dict[str, Any], bool]:
    """The new row, or the one that was there already."""
    try:
        return await story.client.post(place, body), True
    except Conflict:
        same = {key: body[key] for key in ("name", "code", "group_id") if key in body}
        return await _found(story.client, listed or place, same), False


async def _found(client: Client, place: str, same: Mapping[str, Any]) -> dict[str, Any]:
    cursor: str | None = None
    while True:
        page = await client.get(place, limit=_PAGE, cursor=cursor)
        for row in page["items"]:
            if all(row.get(key) == value for key, value in same.items()):
                return row
        cursor = page["next_cursor"]
        if not cursor:
            raise Conflict(f"Something else is in the demo's way at {place}: {dict(same)!r}.")
