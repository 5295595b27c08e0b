"""This module gives calls what they need where nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.identity.authentication import now
from toolcrib.invocation.ids import new_call_id
from toolcrib.invocation.invoke import Invoker
from toolcrib.invocation.running import Runner
from toolcrib.invocation.steps import standard_steps
from toolcrib.plugin.registration import Registry, default_registry
from toolcrib.resolution.offering import InternalProvider, Providers
from toolcrib.settings import Settings
from toolcrib.sources.native.shelf import NativeShelf


@dataclass(frozen=True, kw_only=True, slots=True)
class Bare:
    """What calls need where nothing is stored: registered tools, and the steps but the journal."""

    providers: Providers
    invoker: Invoker
    settings: Settings


def bare(registry: Registry | None = None) -> Bare:
    """Parts for code that uses registered tools without a database, users or grants."""
    settings = Settings()
    shelf = NativeShelf(registry or default_registry(), allow_langsmith=settings.allow_langsmith)
    return Bare(
        providers={"internal": InternalProvider(shelf)},
        invoker=Invoker(
            standard_steps(
                journal=None,
                runner=Runner(),
                call_timeout=settings.call_timeout,
                result_limit=settings.result_limit,
            ),
            clock=now,
            new_id=new_call_id,
        ),
        settings=settings,
    )
