"""This module reads the documentation: its pages, their blocks of code and their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).parents[2]
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)\s*$")
COMMENT = re.compile(r"^<!-- (?P<word>run|not run)(?:: (?P<reason>.*\S))? -->$")
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?P<target>[^)\s]+)\)|!\[[^\]]*\]\((?P<image>[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (?P<text>.*\S)\s*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One fenced block. `mark` is the comment above it: `run`, `not run` or nothing."""

    language: str
    text: str
    line: int
    mark: str = ""
    reason: str = ""


def pages() -> list[Path]:
    """Every page that a reader may open: the top ones, docs/ and the examples' own."""
    found = [
        *TOP.glob("*.md"),
        *(TOP / "docs").rglob("*.md"),
        *(TOP / "examples").glob("*/README.md"),
    ]
    return sorted(found)


def name_of(page: Path) -> str:
    return page.relative_to(TOP).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, with the comment that stands directly above each."""
    lines = page.read_text().splitlines()
    above, start, opened = "", 0, None
    for number, line in enumerate(lines, start=1):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened, start = fence, number
        elif opened is not None and line.strip() == "```":
            mark = COMMENT.match(above)
            yield Block(
                language=opened["language"],
                text="\n".join(text[len(opened["indent"]) :] for text in lines[start : number - 1]),
                line=start + 1,
                mark=mark["word"] if mark else "",
                reason=(mark["reason"] or "") if mark else "",
            )
            opened, above = None, ""
        elif opened is None and line.strip():
            above = line.strip()


def links(page: Path) -> Iterator[str]:
    """Targets of links and pictures inside this repository, code blocks left out."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for match in LINK.finditer(re.sub(r"`[^`\n]*`", "", text)):
        target = match["target"] or match["image"]
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors(page: Path) -> set[str]:
    """The fragments that a page's headings can be reached by."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = [match["text"] for line in text.splitlines() if (match := HEADING.match(line))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
