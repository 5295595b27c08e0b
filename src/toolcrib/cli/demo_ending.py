"""This module says what to try after the demo."""

from __future__ import annotations

import json
import shlex

from toolcrib.cli.demo_story import ARGUMENTS, CODE, TEXT, TOOL, Story
from toolcrib.cli.paths import path
from toolcrib.cli.program import this_program


def curl_line(story: Story, token: str, server: str | None) -> str:
    """The demo's call over REST, for a shell."""
    address = server or f"http://127.0.0.1:{story.settings.port or 8420}"
    url = f"{address}{path('agents', story.facts['agent']['id'], 'tools', TOOL, 'call')}"
    body = json.dumps({"arguments": ARGUMENTS})
    return (
        f"curl {shlex.quote(url)} -H 'Authorization: Bearer {token}' "
        f"-H 'Content-Type: application/json' -d {shlex.quote(body)}"
    )


def what_next(story: Story) -> str:
    """Commands to try, with the ids of this installation."""
    program, facts = this_program(), story.facts
    agent, group, user = (facts[key]["id"] for key in ("agent", "group", "user"))
    count = f"tools call --agent {agent} --user {user} hello_word_count '{json.dumps(TEXT)}'"
    lines = [
        _about_server(story, program),
        "The same call over REST, with a token of this user:",
        f"  {facts['curl']}",
        "Other things to try:",
        f"  {program} {count}",
        f"  {program} capabilities activate hello_notes --group {group}",
        f"  {program} agents hold {agent} {CODE} hello_notes",
        f"  {program} plugins new weather",
        "The tutorial docs/tutorials/first-steps.md shows how to write a tool of your own.",
    ]
    return "\n".join(lines)


def _about_server(story: Story, program: str) -> str:
    server = story.facts["server"]
    if server is None:
        return f"No server runs on {story.settings.data_dir}; start one with: {program} serve"
    if story.facts["server_has_tool"]:
        return f"The server at {server} has loaded the plugin too."
    return (
        f"The server at {server} did not load the plugin: it may run in another Python "
        "environment. Install the plugin there as well."
    )
