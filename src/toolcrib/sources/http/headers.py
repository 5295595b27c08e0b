"""This module reads an author's headers and checks that none can break the request apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.errors import InvalidArguments, InvalidOptions
from toolcrib.net import fields
from toolcrib.secrets.placeholders import Language, Template, joined
from toolcrib.sources.http.kinds import TYPES, kind_of, media_type
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.slots import Read, Values
from toolcrib.sources.http.words import is_object, text_of

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeaderDraft:
    """One header with its placeholders. Braces in a header are text: it has no slots."""

    name: str
    value: Template
    where: str

    @property
    def written(self) -> str:
        """The author's own text of the value."""
        return "".join(piece for piece in self.value.pieces if isinstance(piece, str))

    def bind(self, values: Values) -> tuple[str, str]:
        """Raises UnresolvedPlaceholderError, or InvalidOptions for a value that cannot be sent."""
        return self.name, sendable(
            self.value.fill(values.by_name, where=self.where), self.name, self.where
        )


def read_headers(
    headers: object, language: Language, problems: Problems, where: str
) -> tuple[HeaderDraft, ...]:
    """The headers that can be used; what cannot becomes a problem with its place."""
    if headers is None:
        return ()
    if not is_object(headers):
        problems.error(where, "Headers must be an object of names and values.")
        return ()
    drafts: dict[str, HeaderDraft] = {}
    for name, value in headers.items():
        place = joined(where, name)
        if not _usable(name, value, place, problems):
            continue
        if name.lower() in drafts:
            problems.error(place, f"The header {name!r} is given twice.")
        template = Template.of(text_of(value).strip(" \t"), language)
        drafts[name.lower()] = HeaderDraft(name=name, value=template, where=place)
    return tuple(drafts.values())


def _usable(name: str, value: object, where: str, problems: Problems) -> bool:
    if not fields.is_name(name):
        problems.error(where, f"{name!r} is not a header's name.")
    elif fields.is_of_connection(name):
        problems.error(where, f"The header {name!r} is set by the connection: leave it out.")
    elif value is None or isinstance(value, Mapping | list):
        problems.error(where, f"The value of the header {name!r} must be text.")
    elif not fields.can_be_sent(text_of(value)):
        problems.error(
            where, f"The value of the header {name!r} has control characters or half a character."
        )
    else:
        return True
    return False


def sendable(value: Any, name: str, where: str | None = None) -> str:
    """The header's value as it is sent. Raises InvalidOptions where it could end the header."""
    text = text_of(value).strip(" \t")
    if not fields.can_be_sent(text):
        raise InvalidOptions(
            f"The value of the header {name!r} has control characters or half a character.",
            where=where,
            hint="A stored value may end in a line break that was copied along.",
        )
    return text


def sendable_argument(header: tuple[str, str]) -> tuple[str, str]:
    """A header that an argument filled. Raises InvalidArguments where it could end the header."""
    name, value = header
    if not fields.can_be_sent(value):
        raise InvalidArguments(
            f"The value of the header {name!r} has control characters or half a character."
        )
    return name, value.strip(" \t")


def content_type_of(headers: Headers) -> str:
    """The author's Content-Type, or nothing."""
    return next((value for name, value in headers if name.lower() == "content-type"), "")


def content_type_draft(headers: Sequence[HeaderDraft]) -> HeaderDraft | None:
    return next((header for header in headers if header.name.lower() == "content-type"), None)


def warn_of_text(
    pieces: Read, headers: Sequence[HeaderDraft], problems: Problems, where: str
) -> None:
    """Tell an author how values are written into a template that is text, where it may surprise."""
    header = content_type_draft(headers)
    if header is None:
        kind = kind_of("", pieces)
        how = "values are not escaped" if kind == "text" else "values are escaped for that"
        sent = media_type(TYPES[kind])
        problems.warn(where, f"Without a Content-Type header it is sent as {sent}: {how}.")
    elif not header.value.names and kind_of(header.written, pieces) == "text":
        problems.warn(header.where, f"In a body of type {header.written!r} values are not escaped.")
