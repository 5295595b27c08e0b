"""This module answers ordinary requests without the SDK, with the same answers.

It is a third of the SDK's cost in the newer era and a tenth in the older one.
"""

from __future__ import annotations

from typing import Any, Final

from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from starlette.types import Receive, Send

from toolcrib.resolution.toolset import Toolset
from toolcrib.surfaces.mcp.answering import Answers
from toolcrib.surfaces.mcp.failures import RpcError
from toolcrib.surfaces.mcp.listing import Pages
from toolcrib.surfaces.mcp.reading import Ordinary
from toolcrib.surfaces.mcp.served import SILENT, Back, Served
from toolcrib.surfaces.mcp.sessions import Session
from toolcrib.surfaces.mcp.streaming import Attending, Reply
from toolcrib.surfaces.mcp.wire import LEVELS, dumps, error_message, notification, result_message
from toolcrib.tools.call import no_log, no_progress
from toolcrib.tools.waits import Waits

CANCELLED: Final = -32800
"""The code that the SDK answers a cancelled request of the older era with."""
_MAY_ASK: Final = frozenset({"mcp", "package"})


class Lean:
    """Answers what it says that it takes."""

    def __init__(self, answers: Answers, pages: Pages) -> None:
        self._answers = answers
        self._pages = pages
        self._waits = Waits[Attending]()

    def takes(self, asked: Ordinary, toolset: Toolset, session: Session | None) -> bool:
        """Not where a tool could want what only the SDK does: put a question to the client's
        person, or see its arguments compared with headers."""
        if asked.method == "tools/list":
            return True
        if session is not None and asked.request_id in session.in_flight:
            return False
        tool = toolset.find(asked.params["name"])
        if tool is None:
            return True
        can_be_asked = session.can_be_asked if session is not None else asked.can_be_asked
        if can_be_asked and (tool.kind in _MAY_ASK or tool.forward is not None):
            return False
        return not (asked.modern and self._pages.marks_headers(toolset, tool))

    async def answer(
        self,
        asked: Ordinary,
        served: Served,
        session: Session | None,
        receive: Receive,
        send: Send,
    ) -> None:
        reply = Reply(send)
        try:
            if asked.method == "tools/list":
                result = await self._answers.list(served, asked.params, modern=asked.modern)
            else:
                result = await self._call(asked, served, session, receive, reply)
        except RpcError as error:
            status = ERROR_CODE_HTTP_STATUS.get(error.code, 200) if asked.modern else 200
            told = error_message(asked.request_id, error.code, error.message, error.data)
            await reply.end(told, status=status)
            return
        if result is not None:
            await reply.end(result_message(asked.request_id, result))

    async def _call(
        self,
        asked: Ordinary,
        served: Served,
        session: Session | None,
        receive: Receive,
        reply: Reply,
    ) -> bytes | None:
        """The result; None when the client is gone and there is nobody to answer."""
        async with Attending(receive, reply, self._waits) as attending:
            if session is not None:
                session.in_flight[asked.request_id] = attending
            try:
                back = _back(asked, session, reply)
                called = await self._answers.call(served, asked.params, back, modern=asked.modern)
                return dumps(called)
            finally:
                if session is not None:
                    session.in_flight.pop(asked.request_id, None)
        if session is not None:
            raise RpcError(CANCELLED, "The request was cancelled.")
        return None


def _back(asked: Ordinary, session: Session | None, reply: Reply) -> Back:
    """What of the call's course the client wants to hear."""
    token = asked.meta.get("progressToken")
    if token is None and session is None:
        return SILENT

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told: dict[str, Any] = {"progressToken": token, "progress": done}
        told |= {"total": total} if total is not None else {}
        told |= {"message": message} if message is not None else {}
        await reply.tell(notification("notifications/progress", told))

    async def log(level: str, data: Any, logger: str | None) -> None:
        least = (session and session.level) or LEVELS[0]
        if level in LEVELS and LEVELS.index(level) >= LEVELS.index(least):
            named = {"logger": logger} if logger is not None else {}
            told = {"level": level, "data": data, **named}
            await reply.tell(notification("notifications/message", told))

    return Back(
        progress=no_progress if token is None else progress,
        log=no_log if session is None else log,
    )
