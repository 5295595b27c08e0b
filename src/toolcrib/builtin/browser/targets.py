"""This module finds what an agent means on a page.

A target is what the page's outline shows (`button "Sign in"`), the label or placeholder of a
field, the text of a link or button, or a CSS selector: the first that is there is meant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from toolcrib.errors import InvalidArguments

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

_OUTLINE: Final = re.compile(r'\s*-?\s*([a-z]+)\s+"((?:[^"\\]|\\.)*)".*')
_SELECTOR: Final = re.compile(r"[#.\[a-z*][^\n]*", re.IGNORECASE)


async def locate(page: Page, target: str) -> Locator:
    """Raises InvalidArguments for what is not there, and for what is there more than once."""
    text = target.strip()
    if not text:
        raise InvalidArguments("The action needs a target.")
    for candidate in _candidates(page, text):
        number = await _count(candidate)
        if number == 1:
            return candidate
        if number > 1:
            visible = candidate.filter(visible=True)
            if await visible.count() == 1:
                return visible
            raise InvalidArguments(
                f"{text!r} is on the page {number} times.",
                hint="Take the outline of the page, and name it as it stands there, "
                "or use a CSS selector.",
            )
    raise InvalidArguments(
        f"{text!r} is not on the page.",
        hint="browser_extract_content with what='outline' shows what is.",
    )


def _candidates(page: Page, text: str) -> list[Locator]:
    found: list[Locator] = []
    outline = _OUTLINE.fullmatch(text)
    if outline is not None:
        name = outline[2].replace('\\"', '"')
        found.append(page.get_by_role(cast("Any", outline[1]), name=name, exact=True))
    found += [
        page.get_by_label(text, exact=True),
        page.get_by_placeholder(text, exact=True),
        page.get_by_role("button", name=text, exact=True),
        page.get_by_role("link", name=text, exact=True),
        page.get_by_text(text, exact=True),
    ]
    if _SELECTOR.fullmatch(text):
        found.append(page.locator(f"css={text}"))
    return found


async def _count(candidate: Locator) -> int:
    """0 also for what is no role or no selector."""
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    try:
        return await candidate.count()
    except Error:
        return 0
