"""This module does one thing on a page, as a person would."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from toolcrib.builtin.browser.targets import locate
from toolcrib.errors import InvalidArguments

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

_SETTLING: Final = 5_000.0
_SCREEN: Final = 700

_OnElement = Callable[["Locator", str], Awaitable[object]]
_OnPage = Callable[["Page"], Awaitable[object]]
ELEMENTS: Mapping[str, _OnElement] = {
    "click": lambda element, _: element.click(),
    "fill": lambda element, value: element.fill(value),
    "select": lambda element, value: element.select_option(value),
    "check": lambda element, _: element.check(),
    "uncheck": lambda element, _: element.uncheck(),
    "hover": lambda element, _: element.hover(),
    "press": lambda element, value: element.press(value or "Enter"),
}
"""Done to a target."""
PAGES: Mapping[str, _OnPage] = {
    "back": lambda page: page.go_back(),
    "forward": lambda page: page.go_forward(),
    "reload": lambda page: page.reload(),
    "scroll_down": lambda page: page.mouse.wheel(0, _SCREEN),
    "scroll_up": lambda page: page.mouse.wheel(0, -_SCREEN),
}
"""Done to the page."""
ACTIONS: Final = [*ELEMENTS, *PAGES]


async def act(page: Page, action: str, target: str, value: str) -> None:
    """Do it, and wait a little for what it brings. Raises InvalidArguments, playwright's Error."""
    if action in PAGES:
        await PAGES[action](page)
    elif action == "press" and not target.strip():
        await page.keyboard.press(value or "Enter")
    elif action in ELEMENTS:
        await ELEMENTS[action](await locate(page, target), value)
    else:
        raise InvalidArguments(f"There is no action {action!r}.", hint=", ".join(ACTIONS))
    await settle(page)


async def settle(page: Page) -> None:
    """Wait until the page has loaded, but not for ever."""
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    with suppress(Error):
        await page.wait_for_load_state("load", timeout=_SETTLING)
