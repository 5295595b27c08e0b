"""This module lets plugins stand alone: their tools without a database, users or grants, and the
values of their settings from the environment."""

from __future__ import annotations

import os
from collections.abc import Sequence

from toolcrib.errors import NotFound
from toolcrib.platform.bare import Bare, bare
from toolcrib.plugin.discovery import GROUPS, Plugins
from toolcrib.plugin.host import Host
from toolcrib.plugin.registration import Registry
from toolcrib.plugin.reports import PluginReport
from toolcrib.settings import Settings
from toolcrib.sources.native.shelf import NativeShelf


class EnvironmentValues:
    """The value of a setting is the environment variable of its name."""

    async def find(self, name: str, *, user_id: int | None, group_id: int | None) -> str | None:
        return os.environ.get(name)


async def alone(settings: Settings, codes: Sequence[str]) -> tuple[Bare, list[PluginReport]]:
    """Load the installed plugins for the tools of these codes; the reports are of those that
    failed. Raises NotFound for a code that none of them registers."""
    registry = Registry()
    plugins = Plugins(
        registry,
        Host(values=EnvironmentValues()),
        groups=(*GROUPS, *settings.plugin_groups),
        timeout=settings.plugin_timeout,
    )
    reports = await plugins.load()
    failed = [report for report in reports if report.status == "failed"]
    known = sorted(NativeShelf(registry).codes())
    for code in codes:
        if code not in known:
            raise NotFound(
                f"No installed plugin registers the code {code!r}.",
                where="--code",
                hint=f"Registered here: {', '.join(known) or 'none'}." + _blame(failed),
            )
    return bare(registry), failed


def _blame(failed: Sequence[PluginReport]) -> str:
    names = ", ".join(report.name for report in failed)
    return f" These could not be loaded: {names}; see `toolcrib plugins check`." if names else ""
