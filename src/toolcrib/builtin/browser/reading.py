"""This module reads as much of a page as an agent can use, whatever the page has to say."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from toolcrib.builtin.browser.sessions import ANSWERING, Session
from toolcrib.errors import CallFailed

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

LONGEST: Final = 30_000
"""Characters of a page that are given at once."""
_GLIMPSE: Final = 4_000
TITLE: Final = 300
URL: Final = 2_000
_READERS: Final = {
    "text": "element.innerText",
    "html": "element.outerHTML",
    "links": "[...element.querySelectorAll('a[href]')]"
    ".map(a => `${a.innerText.trim()} <${a.href}>`).join('\\n')",
}
_PART: Final = """(element, [begin, end]) => {
  const whole = String(%s);
  return [whole.slice(begin, end), whole.length];
}"""


async def shown(page: Page) -> dict[str, Any]:
    outline = await page.locator("body").aria_snapshot()
    more = len(outline) - _GLIMPSE
    cut = f"\n… {more} characters more: browser_extract_content" if more > 0 else ""
    title = (await page.title())[:TITLE]
    return {"url": page.url[:URL], "title": title, "outline": outline[:_GLIMPSE] + cut}


async def read(session: Session, part: Locator, what: str, offset: int) -> tuple[str, int]:
    """A piece of the text, and how long it is. What a page answers may be anything, or nothing."""
    try:
        async with asyncio.timeout(ANSWERING):
            piece, size = await part.evaluate(_PART % _READERS[what], [offset, offset + LONGEST])
    except TimeoutError:
        await session.give_up(part.page)
        raise CallFailed(
            "The page did not answer any more, and is closed.", hint="Open an address."
        ) from None
    text = str(piece)[:LONGEST].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text, int(size)
