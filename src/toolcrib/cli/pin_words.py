"""This module puts pins into words for a terminal: what drifted, and how definitions differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.cli.answers import Answer, say, table

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.catalog.lock import Drift

_MARKS = {"same": "", "removed": "[-{}-]", "added": "{{+{}+}}"}
_LONG = 300


def as_row(pin: Mapping[str, Any]) -> dict[str, Any]:
    """A pin without its definition."""
    return {key: value for key, value in pin.items() if key != "definition"}


def checked(drift: Sequence[Drift], file: Path, tools: int, *, exit_code: int) -> Answer:
    """The answer to a check."""
    from toolcrib.catalog.diff import differences, summary_of  # noqa: PLC0415
    from toolcrib.catalog.lock import SAYS  # noqa: PLC0415

    rows: list[dict[str, Any]] = []
    for one in drift:
        changes = differences(one.before, one.after) if one.before and one.after else []
        rows.append(
            {
                "ref": one.ref,
                "kind": one.kind,
                "says": SAYS[one.kind],
                "differences": summary_of(changes),
                "changes": [change.as_json() for change in changes],
            }
        )

    def show(console: Console) -> None:
        if not rows:
            say(console, f"✓ All tools are as {file} says ({tools}).")
            return
        console.print(table(rows, "ref", "says", "differences"))
        say(console, "See `toolcrib lock diff`; write the file anew with `toolcrib lock export`.")

    return Answer(data={"drift": rows, "tools": tools}, show=show, exit_code=exit_code)


def show_diffs(console: Console, diffs: Sequence[Mapping[str, Any]]) -> None:
    if not diffs:
        say(console, "Nothing waits.")
    for diff in diffs:
        say(console, f"{diff['ref']}  {diff['fingerprint']}", style="bold")
        if diff["accepted"] is None:
            say(console, "  Nobody accepted any definition of it before.")
        for change in diff["changes"]:
            say(console, f"  {change['where']}: {change['says']}")
            say(console, f"    {_told(change)}")
        if not diff["changes"]:
            say(console, f"  {_short(diff['definition'])}")


def _told(change: Mapping[str, Any]) -> str:
    if change["words"]:
        return "".join(_marked(word) for word in change["words"])
    return f"{_short(change['before'])} → {_short(change['after'])}"


def _marked(word: Mapping[str, Any]) -> str:
    return (_MARKS[word["op"]] or "{}").format(word["text"])


def _short(value: Any) -> str:
    if value is None:
        return "-"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
