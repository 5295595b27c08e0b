"""This module shows how the plugins loaded, and tries the failed ones again."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.coordination.signals import Signals
from toolcrib.errors import NotGranted
from toolcrib.grants.decide import INSTALLATION, decide
from toolcrib.identity.caller import Caller
from toolcrib.plugin.discovery import PluginReport, Plugins


class LoadedPlugins:
    """The installation's plugins: admins see them, super-admins reload them."""

    def __init__(self, *, plugins: Plugins, signals: Signals) -> None:
        self._plugins = plugins
        self._signals = signals

    async def list(self, caller: Caller) -> Sequence[PluginReport]:
        """By name. Raises NotGranted for who is no admin."""
        verdict = decide(caller, "see", INSTALLATION)
        if not verdict:
            raise NotGranted(f"You may not see the plugins: {verdict.reason}.")
        return self._plugins.reports

    async def reload(self, caller: Caller) -> Sequence[PluginReport]:
        """Load new plugins and try failed ones again, in every process."""
        verdict = decide(caller, "change", INSTALLATION)
        if not verdict:
            raise NotGranted(f"You may not reload the plugins: {verdict.reason}.")
        # Every process reloads when it learns of the change, this one too.
        await self._signals.bump("plugins")
        return await self._plugins.reload(only=frozenset())
