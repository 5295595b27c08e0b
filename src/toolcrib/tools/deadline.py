"""This module spends a call's deadline on what must come before the call itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from toolcrib.errors import CallTimeout
from toolcrib.tools.call import Call

Result = TypeVar("Result")


async def before_call(call: Call, work: Awaitable[Result], what: str) -> tuple[Result, Call]:
    """What the work gives, and the call with the seconds that are left for it.

    `what` is a plural noun. Raises CallTimeout when they were not ready by the deadline.
    """
    began = time.monotonic()
    limit = asyncio.timeout(call.deadline)
    try:
        async with limit:
            result = await work
    except TimeoutError:
        if not limit.expired():
            raise
        raise CallTimeout(f"{what} were not ready within {call.deadline:g} s.") from None
    return result, replace(call, deadline=max(call.deadline - (time.monotonic() - began), 0.0))
