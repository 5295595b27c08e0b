"""This module loads one plugin so that nothing it does there can stop the others.

It imports and registers in a daemon thread of its own, in a copy of the context, before a
deadline. What cannot be contained: `os._exit`, a crash inside a C extension, the memory it takes.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import logging
import re
import sys
import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from types import ModuleType
from typing import Any

from toolcrib.errors import PluginBroken
from toolcrib.plugin.finding import Found
from toolcrib.plugin.recording import Recording

_log = logging.getLogger(__name__)
_VALUE = re.compile(r"(?P<module>[\w.]+)(:(?P<attribute>[\w.]+))?(\[.*\])?")


class Attempt:
    """One try at loading a plugin. Nothing is committed here: that is the caller's decision."""

    def __init__(self, found: Found, recording: Recording, context: Any) -> None:
        self.found = found
        self.error: BaseException | None = None
        self._recording = recording
        self._context = context
        self._streams = (sys.stdout, sys.stderr)
        self._thread = threading.Thread(
            target=copy_context().run,
            args=(self._run,),
            name=f"toolcrib-plugin-{found.name}",
            daemon=True,
        )
        self._ended: Callable[[], object] = lambda: None
        self._modules = frozenset(sys.modules)
        self._forgotten = False
        self._started = False
        self._over = False

    @property
    def running(self) -> bool:
        """Whether it still loads, be it long after its deadline."""
        return self._started and not self._over

    async def run(self, timeout: float) -> BaseException | None:  # noqa: ASYNC109 - a thread's deadline
        """Returns what went wrong, or None. A plugin that is not done in time is left behind."""
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        self._ended = lambda: loop.call_soon_threadsafe(_settle, ended)
        self._started = True
        self._thread.start()
        done, _ = await asyncio.wait({ended}, timeout=timeout)
        if not done:
            return TimeoutError(f"still loading after {timeout:g} s; it was left behind")
        return self.error

    def undo(self) -> None:
        """Take a failed attempt out of the process: its modules, the streams it replaced."""
        self.forget()
        if (sys.stdout, sys.stderr) != self._streams:
            sys.stdout, sys.stderr = self._streams

    def forget(self) -> None:
        """Let the next attempt import anew what this one was the first to import."""
        if self._forgotten:
            return
        self._forgotten = True
        package = self.found.value.partition(":")[0].partition(".")[0]
        if package == __name__.partition(".")[0]:  # our own modules are everybody's
            return
        for name in frozenset(sys.modules) - self._modules:
            if name.partition(".")[0] == package:
                sys.modules.pop(name, None)

    def _run(self) -> None:
        try:
            with self._recording.active():
                _register(self.found, self._recording, self._context)
        except BaseException as error:  # noqa: BLE001 - SystemExit too is only this plugin's end
            self.error = error
        finally:
            self._over = True
            try:
                self._ended()
            except RuntimeError:  # nobody waits any more: the loop is closed
                _log.debug("plugin %r ended after its loop", self.found.name)


def _settle(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


def _register(found: Found, recording: Recording, context: Any) -> None:
    if found.broken is not None:
        raise PluginBroken("its entry_points.txt cannot be read") from found.broken
    target = _target(found.value)
    if isinstance(target, ModuleType):
        if not recording.has_changes:
            raise PluginBroken(
                f"{found.value!r} names a module that registers nothing when it is imported",
                hint="Write module:function, or use @capability in the module.",
            )
        return
    if not callable(target):
        raise PluginBroken(
            f"{found.value!r} is {type(target).__name__}, not a function",
            hint="Point the entry point at register(registry_fn, context=None).",
        )
    result = call_register(target, recording, context)
    if inspect.isawaitable(result):
        asyncio.run(_finish(result))


async def _finish(result: Awaitable[Any]) -> None:
    await result


def _target(value: str) -> Any:
    match = _VALUE.fullmatch(value)
    if match is None:
        raise PluginBroken(f"{value!r} is not of the form module:function")
    module = importlib.import_module(match["module"])
    steps = match["attribute"].split(".") if match["attribute"] else []
    return functools.reduce(getattr, steps, module)


def call_register(register: Callable[..., Any], recording: Recording, context: Any) -> Any:
    """Call a plugin's `register`, with the context if it takes one; returns what it returns."""
    given = recording.register_tools
    match _context_goes(register):
        case "positional":
            return register(given, context)
        case "keyword":
            return register(given, context=context)
        case _:
            return register(given)


def _context_goes(register: Callable[..., Any]) -> str | None:
    """How the second argument is passed, if at all: by position, or by keyword if it must be."""
    try:
        parameters = inspect.signature(register).parameters.values()
    except (TypeError, ValueError):  # a callable without a signature
        return None
    kinds = [parameter.kind for parameter in parameters]
    places = kinds.count(inspect.Parameter.POSITIONAL_ONLY) + kinds.count(
        inspect.Parameter.POSITIONAL_OR_KEYWORD
    )
    if places >= 2 or inspect.Parameter.VAR_POSITIONAL in kinds:
        return "positional"
    named = any(p.name == "context" and p.kind is p.KEYWORD_ONLY for p in parameters)
    return "keyword" if named else None
