"""This module starts Chromium with no way out but the gate, and never as root.

Chromium's own sandbox stays on, which it cannot for root: then the browser runs as a user that
nobody is, with a home that is removed afterwards. Where cgroups can hold it, so that a page cannot
take all memory of the machine, they do.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from toolcrib.builtin.available import Obstacle
from toolcrib.errors import CallFailed
from toolcrib.isolation.cgroups import Cgroups
from toolcrib.isolation.limits import MIB, Limits
from toolcrib.isolation.programs import PATH, find_strangers
from toolcrib.net.gate import HOST, Gate

if TYPE_CHECKING:
    from playwright.async_api import Browser

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_STARTING: Final = 50_000.0
"""Milliseconds; a busy machine may need many."""
_MOST_MEMORY: Final = 4096 * MIB
_ARGUMENTS: Final = (
    "--disable-quic",
    "--proxy-bypass-list=<-loopback>",
    # Names are the gate's to resolve, and only once it has judged them.
    f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {HOST}",
    # What would send datagrams past a proxy; the switch has had two names.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--no-pings",
)
# Chromium would ask its maker about every form. Of several such lists only the last one counts.
_WITHOUT: Final = """\
for one do
  shift
  case $one in --disable-features=*) one=$one,AutofillServerCommunication ;; esac
  set -- "$@" "$one"
done
"""


def find_chromium(program: str) -> str | Obstacle:
    """The browser's path, or why agents cannot browse here."""
    if program == "off":
        return "browsing is switched off here", "Set TOOLCRIB_BROWSER=auto."
    if find_spec("playwright") is None:
        return "browsing needs Playwright, which is not installed", "pip install toolcrib[browser]"
    if program != "auto":
        if os.access(program, os.X_OK):
            return program
        return f"TOOLCRIB_BROWSER names {program!r}, which is no program", "Name a Chromium."
    for name in _NAMES:
        if (found := shutil.which(name, path=f"{PATH}:/usr/local/bin")) is not None:
            return found
    return (
        "browsing needs Chromium, which is not installed",
        "apt-get install chromium, or TOOLCRIB_BROWSER=/path/of/chromium",
    )


class Chromium:
    """One browser process for all chats. Make it with `start`, and `close` it."""

    def __init__(self, browser: Browser, ending: AsyncExitStack) -> None:
        self.browser = browser
        self._ending = ending

    @classmethod
    async def start(cls, program: str, gate: Gate, cgroups: Cgroups | None = None) -> Chromium:
        """Raises CallFailed with what Chromium said when it does not start."""
        from playwright.async_api import Error, async_playwright  # noqa: PLC0415 - an extra

        async with AsyncExitStack() as ending:
            home = Path(tempfile.mkdtemp(prefix="toolcrib-browser-"))
            ending.push_async_callback(asyncio.to_thread, _clean_up, home, cgroups)
            groups = cgroups.enter(home.name, _limits()) if cgroups else ()
            playwright = await async_playwright().start()
            ending.push_async_callback(playwright.stop)
            try:
                browser = await playwright.chromium.launch(
                    executable_path=_launcher(program, home, groups),
                    chromium_sandbox=True,
                    args=list(_ARGUMENTS),
                    timeout=_STARTING,
                    # Without a pass nothing gets through: what the browser does of its own accord.
                    proxy={"server": gate.address},
                    env=cast("dict[str, str | float | bool]", {"PATH": PATH, "HOME": str(home)}),
                )
            except Error as error:
                raise CallFailed(f"The browser does not start: {_words(error)}") from error
            return cls(browser, ending.pop_all())

    @property
    def is_open(self) -> bool:
        return self.browser.is_connected()

    async def close(self) -> None:
        async with self._ending:
            if self.is_open:
                await self.browser.close()


def _limits() -> Limits:
    """For the browser as a whole: half of the machine's memory, and no more than it ever needs."""
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return Limits(memory=min(half, _MOST_MEMORY), processes=4096)


def _clean_up(home: Path, cgroups: Cgroups | None) -> None:
    shutil.rmtree(home, ignore_errors=True)
    if cgroups is not None:
        cgroups.leave(home.name)


def _launcher(program: str, home: Path, groups: Sequence[Path]) -> str:
    """A program that becomes somebody else before it becomes the browser."""
    strangers = find_strangers()
    setpriv = shutil.which("setpriv", path=PATH)
    profile = home / "profile"
    profile.mkdir()
    prefix = ""
    if strangers is not None and setpriv is not None:
        user = strangers.of(-1)
        os.chown(profile, user, user)
        home.chmod(0o711)
        who = f"--reuid={user} --regid={user} --clear-groups --no-new-privs"
        prefix = f"{shlex.quote(setpriv)} {who} -- "
    inside = shlex.quote(str(profile))
    clean = " ".join(f"{name}={inside}" for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"))
    script = home / "chromium"
    entering = "".join(f"echo $$ > {shlex.quote(str(one))} || exit 97\n" for one in groups)
    script.write_text(
        f"#!/bin/sh\n{entering}{_WITHOUT}exec {prefix}/usr/bin/env -i PATH={PATH} {clean} "
        f'{shlex.quote(program)} "$@" --user-data-dir={inside}/data\n'
    )
    script.chmod(0o755)
    return str(script)


def _words(error: Any) -> str:
    """Playwright's message without its call log."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "sandbox" in line.lower() or "FATAL" in line]
    return (telling or lines or ["no reason was given"])[0][:500]
