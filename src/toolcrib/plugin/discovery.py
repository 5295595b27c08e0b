"""This module discovers plugins: finds their entry points, loads each, reports every one.

One plugin's failure is its own: its registrations are dropped, the report names the distribution,
the entry point and the cause, and the rest load.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace

from toolcrib.plugin.code_digest import is_editable
from toolcrib.plugin.finding import Found, find_plugins
from toolcrib.plugin.host import Host
from toolcrib.plugin.loading import Attempt
from toolcrib.plugin.recording import Key, Recording
from toolcrib.plugin.registration import Registry, default_registry
from toolcrib.plugin.reports import PluginReport, one_line

__all__ = ["GROUPS", "PluginReport", "Plugins", "discover", "discover_plugins"]

_log = logging.getLogger(__name__)
GROUPS = ("toolcrib.tools", "primethink.tools")
"""Entry-point groups that are always looked at."""
TIMEOUT = 20.0
"""Seconds that one plugin may take to load."""


@dataclass(slots=True)
class _Known:
    report: PluginReport
    attempt: Attempt


class Plugins:
    """The plugins of one registry and how each of them went.

    `host` is a Host, or any other object that plugins shall get as their context.
    """

    def __init__(
        self,
        registry: Registry,
        host: object = None,
        *,
        groups: Sequence[str] = GROUPS,
        timeout: float = TIMEOUT,
    ) -> None:
        self._registry = registry
        self._host = host
        self._groups = tuple(dict.fromkeys(groups))
        self._timeout = timeout
        self._known: dict[Key, _Known] = {}
        self._turn = asyncio.Lock()

    @property
    def reports(self) -> list[PluginReport]:
        """Every plugin that was found, by name."""
        reports = [known.report for known in self._known.values()]
        return sorted(reports, key=lambda r: (r.name, r.distribution, r.value))

    async def load(self, *, only: AbstractSet[str] | None = None) -> list[PluginReport]:
        """Load what was not tried yet. `only` limits it to plugins of these names."""
        return await self._pass(only, again=False)

    async def reload(self, *, only: AbstractSet[str] | None = None) -> list[PluginReport]:
        """Try failed plugins again and load newly installed ones; loaded ones stay as they are.

        Python keeps what it imported, so another version of a loaded plugin, or its removal,
        needs a restart: the report says so.
        """
        return await self._pass(only, again=True)

    async def _pass(self, only: AbstractSet[str] | None, *, again: bool) -> list[PluginReport]:
        async with self._turn:
            importlib.invalidate_caches()
            found = await asyncio.to_thread(find_plugins, self._groups)
            self._compare(found)
            for one in found:
                if only is None or one.name in only:
                    await self._visit(one, again=again)
        return self.reports

    def _compare(self, found: Sequence[Found]) -> None:
        """Say of plugins that are known whether what is installed still is what runs."""
        installed = {one.key: one for one in found}
        for key, known in list(self._known.items()):
            now = installed.get(key)
            if known.report.status == "loaded":
                known.report = replace(known.report, error=_drift(known.report, now))
            elif now is None:
                del self._known[key]

    async def _visit(self, found: Found, *, again: bool) -> None:
        known = self._known.get(found.key)
        if known is None:
            await self._load(found)
        elif again and known.report.status == "failed":
            if known.attempt.running:
                error = "still loading since an earlier attempt; restart to try again"
                known.report = replace(known.report, error=f"TimeoutError: {error}")
            else:
                known.attempt.forget()
                await self._load(found)

    async def _load(self, found: Found) -> None:
        began = time.perf_counter()
        recording = Recording(self._registry, found.origin)
        host = self._host
        context = host.context_for(recording) if isinstance(host, Host) else host
        attempt = Attempt(found, recording, context)
        try:
            error = await attempt.run(self._timeout)
            codes = recording.commit() if error is None else ()
        finally:
            if recording.state != "committed":
                recording.drop()
        if error is not None and not attempt.running:
            attempt.undo()
        report = PluginReport(
            name=found.name,
            distribution=found.distribution,
            version=found.version,
            value=found.value,
            group=found.group,
            status="loaded" if error is None else "failed",
            error=None if error is None else one_line(error) + _advice(found, error),
            codes=codes,
            duration_ms=round((time.perf_counter() - began) * 1000, 3),
        )
        self._known[found.key] = _Known(report, attempt)
        _tell(report, error)


async def discover(
    registry: Registry,
    host: object = None,
    *,
    groups: Sequence[str] = GROUPS,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - each plugin's deadline, in a thread
    only: AbstractSet[str] | None = None,
) -> list[PluginReport]:
    """Load the installed plugins into a registry once. `timeout` is in seconds for each."""
    return await Plugins(registry, host, groups=groups, timeout=timeout).load(only=only)


def discover_plugins(
    context: object = None,
    *,
    registry: Registry | None = None,
    groups: Sequence[str] = GROUPS,
    timeout: float = TIMEOUT,
) -> list[str]:
    """Load the installed plugins and return the names of those that loaded (PrimeThink's call).

    Each plugin whose `register` takes a second argument gets `context`. Blocks until all are
    done, at most `timeout` seconds for each; inside a running event loop prefer
    `await discover(...)`.
    """
    target = registry if registry is not None else default_registry()

    def run() -> list[PluginReport]:
        return asyncio.run(discover(target, context, groups=groups, timeout=timeout))

    with ThreadPoolExecutor(1, thread_name_prefix="toolcrib-discovery") as beside:
        reports = beside.submit(copy_context().run, run).result()
    return [report.name for report in reports if report.status == "loaded"]


def _drift(report: PluginReport, now: Found | None) -> str | None:
    if now is None:
        return f"{report.distribution} was removed; restart to unload version {report.version}"
    if now.version != report.version:
        return f"restart to load version {now.version}; version {report.version} is running"
    return None


def _advice(found: Found, error: BaseException) -> str:
    """Python reads the paths of editable installs when it starts, and then no more."""
    top = found.value.partition(":")[0].partition(".")[0]
    missed = isinstance(error, ModuleNotFoundError) and error.name == top
    if not missed or not is_editable(found.distribution):
        return ""
    return "; restart, if `pip install -e` was run after the start"


def _tell(report: PluginReport, error: BaseException | None) -> None:
    if error is None:
        _log.info("plugin %r of %s loaded: %s", report.name, report.distribution, report.codes)
        return
    _log.warning(
        "plugin %r (%s) of %s %s failed: %s",
        report.name,
        report.value,
        report.distribution,
        report.version,
        report.error,
        exc_info=(type(error), error, error.__traceback__),
    )
