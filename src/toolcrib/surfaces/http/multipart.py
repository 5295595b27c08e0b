"""This module reads the one file of a multipart body as it arrives, without keeping it whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from toolcrib.documents.document import MAX_BYTES
from toolcrib.surfaces.http.problems import Refusal

_MAX_FRAME = 64 * 1024
"""Bytes of the body that are not the file's: boundaries, headers, other fields."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IncomingFile:
    """A file whose bytes are still to come. `filename` is the sender's word, unchecked."""

    filename: str
    content_type: str
    chunks: AsyncIterator[bytes]


@dataclass(slots=True)
class _Part:
    """The part that is being read. `data` is what came since it was last looked at."""

    headers: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    filename: str | None = None
    data: list[bytes] = field(default_factory=list[bytes])


class _Form:
    """Follows the parser: which part is open, and what belongs to the file."""

    def __init__(self) -> None:
        self.file: _Part | None = None
        self.ended = False
        self._part = _Part()
        self._name = b""
        self._value = b""

    def on_part_begin(self) -> None:
        self._part = _Part()

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        self._part.headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self._part.headers.get(b"content-disposition"))
        filename = options.get(b"filename")
        if filename is None:
            return
        if self.file is not None:
            raise Refusal(422, "One file at a time, please.", where="file")
        self._part.filename = filename.decode("utf-8", "replace")
        self.file = self._part

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._part is self.file:
            self._part.data.append(data[start:end])

    def on_end(self) -> None:
        self.ended = True

    def parser(self, boundary: bytes) -> MultipartParser:
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self.on_part_begin,
                "on_header_field": self.on_header_field,
                "on_header_value": self.on_header_value,
                "on_header_end": self.on_header_end,
                "on_headers_finished": self.on_headers_finished,
                "on_part_data": self.on_part_data,
                "on_end": self.on_end,
            },
        )


@asynccontextmanager
async def one_file(request: Request) -> AsyncGenerator[IncomingFile]:
    """The file of the form. Its chunks must be read to the end for all of the body to be checked.

    Raises Refusal for a body that is no such form; the chunks raise it for what comes later.
    """
    form = _Form()
    parser = form.parser(_boundary(request))
    _check_length(request)
    async with aclosing(_pieces(request, form, parser)) as pieces:
        first = await anext(pieces, None)
        if form.file is None or first is None:
            raise Refusal(422, "The form holds no file.", where="file")
        declared = form.file.headers.get(b"content-type", b"").decode("latin-1")
        yield IncomingFile(
            filename=form.file.filename or "",
            content_type=declared,
            chunks=_joined(first, pieces),
        )


async def _pieces(
    request: Request, form: _Form, parser: MultipartParser
) -> AsyncGenerator[list[bytes]]:
    """What each chunk of the body brings of the file, from its headers on."""
    frame = 0
    try:
        async with aclosing(request.stream()) as stream:
            async for chunk in stream:
                parser.write(chunk)
                data = _taken(form)
                frame += len(chunk) - sum(map(len, data))
                if frame > _MAX_FRAME:
                    raise Refusal(413, "There is too much around the file.")
                if form.file is not None:
                    yield data
    except FormParserError as error:
        raise Refusal(400, f"The form cannot be read: {error}") from None
    except ClientDisconnect:
        raise Refusal(400, "The sender left before the end.") from None
    if not form.ended:
        raise Refusal(400, "The form ends too early.")


def _taken(form: _Form) -> list[bytes]:
    if form.file is None:
        return []
    data, form.file.data = form.file.data, []
    return data


async def _joined(first: list[bytes], rest: AsyncGenerator[list[bytes]]) -> AsyncIterator[bytes]:
    for chunk in first:
        yield chunk
    async for data in rest:
        for chunk in data:
            yield chunk


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise Refusal(
            415,
            "The body is not declared as a form with a file.",
            where="Content-Type",
            hint="Send `multipart/form-data` with the file in the field `file`.",
        )
    return boundary


def _check_length(request: Request) -> None:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > MAX_BYTES + _MAX_FRAME:
        raise Refusal(413, f"The document is larger than {MAX_BYTES} bytes.", where="file")
