"""This module shows the request that a call would send: exact but for stored values, as `***`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.masking import MASK
from toolcrib.sources.http.binding import Binding, bind
from toolcrib.sources.http.bodies import Payload
from toolcrib.sources.http.headers import content_type_of
from toolcrib.sources.http.operation import Operation, unsendable
from toolcrib.sources.http.raws import charset_of
from toolcrib.sources.http.sending import Sender
from toolcrib.sources.http.slots import Slot, Values
from toolcrib.sources.http.tool import HttpTool
from toolcrib.sources.http.upstreams import is_stored
from toolcrib.sources.http.words import percent
from toolcrib.tools.source import Preview


async def preview_call(
    tool: HttpTool, binding: Binding, sender: Sender, arguments: Mapping[str, Any]
) -> Preview:
    """Raises InvalidArguments; what else is wrong stands in the preview."""
    try:
        return await _preview(tool, binding, sender, arguments)
    except UnicodeError:
        raise unsendable() from None


async def _preview(
    tool: HttpTool, binding: Binding, sender: Sender, arguments: Mapping[str, Any]
) -> Preview:
    values, missing = await binding.known()
    language = tool.rules.language
    shown = dict.fromkeys(values, MASK) | {name: language.spell(name) for name in missing}
    operation: Operation | None = None
    try:
        if missing:
            reason = f"Nothing would be sent: {', '.join(missing)} has no value."
        else:
            operation, reason = bind(tool, values).operation, ""
    except InvalidOptions as error:
        reason = f"Nothing would be sent: {error}"
    if operation is None:
        url, egress = _template_url(tool, shown, arguments), _refused(None, reason)
    else:
        url = operation.shown_url(arguments)
        egress = await _verdict(operation, sender, arguments)
    headers, body = _shown_content(tool, Values(shown, language), arguments)
    return Preview(
        request={"method": tool.draft.method, "url": url, "headers": headers, "body": body},
        egress=egress,
        missing=missing,
        place_is_stored=is_stored(tool.draft.url),
    )


async def _verdict(
    operation: Operation, sender: Sender, arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    host = operation.url.host.of(arguments)
    refusal = operation.refusal(arguments)
    verdict = {**(await sender.verdict(f"{host.origin}/")).as_json(), "host": host.host}
    if refusal is not None:
        return {**verdict, "allowed": False, "reason": f"{refusal}."}
    return verdict


def _shown_content(
    tool: HttpTool, values: Values, arguments: Mapping[str, Any]
) -> tuple[dict[str, str], Any]:
    """`(headers, body)` with the values that may be seen."""
    draft = tool.draft
    headers = tuple(header.bind(values) for header in draft.headers)
    kind = content_type_of(headers)
    shown = dict(headers)
    for write in draft.header_writers:
        header = write(arguments)
        shown |= {header[0]: header[1]} if header else {}
    payload = draft.body.bind(values, kind)(arguments, ()) if draft.body else None
    if payload is None:
        return shown, None
    if tool.files:
        shown["Content-Type"] = "multipart/form-data"
        return shown, _parts(tool, arguments)
    if not kind:
        shown["Content-Type"] = payload.content_type
    return shown, _text(payload, kind)


def _parts(tool: HttpTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A multipart body in words: its documents are not fetched for a preview."""
    names = [field.name for field in tool.files]
    return {
        "fields": {k: v for k, v in arguments.items() if k not in names and v != ""},
        "documents": {name: arguments[name] for name in names if name in arguments},
    }


def _text(payload: Payload, content_type: str) -> str:
    try:
        return payload.data.decode()
    except UnicodeDecodeError:
        return payload.data.decode(charset_of(content_type), "replace")


def _template_url(tool: HttpTool, shown: Mapping[str, str], arguments: Mapping[str, Any]) -> str:
    """The URL as far as it is known when it cannot be made."""
    pieces = Values(shown, tool.rules.language).place(tool.draft.url, tool.draft.url_where)
    return "".join(
        percent(arguments.get(piece.name))
        if isinstance(piece, Slot)
        else (piece if isinstance(piece, str) else piece.text)
        for piece in pieces
    ).strip()


def _refused(host: str | None, reason: str) -> dict[str, Any]:
    return {"allowed": False, "host": host, "addresses": [], "reason": reason}
