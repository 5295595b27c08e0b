"""Links: every one that stays inside the repository leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import TOP, anchors, links, name_of, pages


def broken(page: Path) -> list[str]:
    """Targets without a file, or with a fragment that no heading has."""
    found: list[str] = []
    for target in links(page):
        path, _, fragment = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (fragment and fragment not in anchors(there)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_resolve(page: Path):
    """Files exist and headings are there."""
    assert broken(page) == []


def test_every_page_can_be_reached():
    """From the README, by links alone, a reader gets to every page of docs/."""
    seen: set[Path] = set()
    queue = [TOP / "README.md"]
    while queue:
        page = queue.pop()
        if page in seen:
            continue
        seen.add(page)
        targets = [(page.parent / target.partition("#")[0]).resolve() for target in links(page)]
        queue += [one for one in targets if one.suffix == ".md" and one.exists()]
    assert [name_of(page) for page in pages() if page not in seen] == []


def test_pages_named_in_the_source_exist():
    """A message that sends somebody to a page sends them to one that is there."""
    files = [*(TOP / "src").rglob("*.py"), *(TOP / "script").rglob("*")]
    texts = [path.read_text() for path in files if path.is_file()]
    named = {name for text in texts for name in re.findall(r"docs/[\w/.-]+\.md", text)}
    assert [name for name in sorted(named) if not (TOP / name).is_file()] == []
    assert named


def test_broken_links_are_seen(tmp_path: Path):
    """The check finds a missing file and a missing heading, and lets good ones be."""
    (tmp_path / "other.md").write_text("# A *good* title, here\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md) [b](other.md#a-good-title-here) [c](no.md) ![d](no.svg)\n"
        "[e](other.md#bad) [f](https://example.org/x) `[g](nowhere)`\n"
        "```text\n[h](nowhere)\n```\n"
    )
    assert broken(page) == ["no.md", "no.svg", "other.md#bad"]
