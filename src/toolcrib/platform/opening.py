"""This module opens a platform, and knows those that are open."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from types import TracebackType
from typing import Any

from toolcrib.platform.keys import key_file_of
from toolcrib.platform.kit import bind_kit
from toolcrib.platform.platform import Platform
from toolcrib.plugin.registration import Registry, default_registry
from toolcrib.settings import Settings
from toolcrib.storage import open_storage

_open: list[Platform] = []


class Opening:
    """Both `await open_platform(…)` and `async with open_platform(…) as platform` work."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        *,
        wait_ready: bool,
        background: bool,
        patience: float | None,
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._wait_ready = wait_ready
        self._background = background
        self._patience = patience
        self._platform: Platform | None = None

    def __await__(self) -> Generator[Any, None, Platform]:
        return self._opened().__await__()

    async def __aenter__(self) -> Platform:
        self._platform = await self._opened()
        return self._platform

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._platform is not None:
            await self._platform.close()

    async def _opened(self) -> Platform:
        settings = self._settings
        key_file = key_file_of(settings)
        storage = await open_storage(settings.database, redis=settings.redis_url.get_secret_value())
        try:
            platform = Platform(settings, storage, self._registry, key_file)
            await self._begin(platform)
        except BaseException:
            await storage.close()
            raise
        if self._wait_ready:
            await platform.wait_ready()
        _open.append(platform)
        platform.at_close(lambda: _open.remove(platform))
        platform.at_close(bind_kit(platform))
        return platform

    async def _begin(self, platform: Platform) -> None:
        platform.listen()
        limits, patience = platform.servers.limits, self._patience
        if patience is None and not self._background:
            patience = limits.opening  # nobody would hear of a server that answers later
        if patience is not None:
            platform.servers.limits = replace(limits, patience=patience)
        if self._background:
            await platform.start()
        elif self._wait_ready:
            await platform.load_plugins()


def open_platform(
    settings: Settings | None = None,
    *,
    registry: Registry | None = None,
    wait_ready: bool = True,
    background: bool = True,
    patience: float | None = None,
) -> Opening:
    """Open Toolcrib in this process.

    Without `settings` they are read from the environment (`TOOLCRIB_*`). With `wait_ready` it
    returns once plugins were loaded, whether or not all of them could be. Without `background`
    nothing runs beside the caller, for one errand: other processes' changes are not followed, old
    calls are not pruned, and plugins are loaded only for `wait_ready`.

    `patience`: seconds for which resolving waits for an MCP server that has not answered yet; its
    tools are missing from the Toolset until it does. Otherwise a moment, as a server should, and
    without `background` as long as connecting may take.
    """
    return Opening(
        settings or Settings(),
        registry or default_registry(),
        wait_ready=wait_ready,
        background=background,
        patience=patience,
    )


def current_platform() -> Platform | None:
    """The platform that this process opened last and has not closed."""
    return _open[-1] if _open else None
