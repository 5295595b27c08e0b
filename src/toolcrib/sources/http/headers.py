"""This module reads an author's headers and checks that none can break the request apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.placeholders import Language, Template, joined
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.slots import Values
from toolcrib.sources.http.words import is_object, text_of

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_CONNECTIONS = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that the connection sets by itself."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeaderDraft:
    """One header with its placeholders. Braces in a header are text: it has no slots."""

    name: str
    value: Template
    where: str

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
    if not _NAME.fullmatch(name):
        problems.error(where, f"{name!r} is not a header's name.")
    elif name.lower() in _CONNECTIONS:
        problems.error(where, f"The header {name!r} is set by the connection: leave it out.")
    elif value is None or isinstance(value, Mapping | list):
        problems.error(where, f"The value of the header {name!r} must be text.")
    elif _UNSENDABLE.search(text_of(value)):
        problems.error(where, f"The value of the header {name!r} has control characters.")
    else:
        return True
    return False


def sendable(value: Any, name: str, where: str | None = None) -> str:
    """The header's value as it is sent. Raises InvalidOptions where it could end the header."""
    text = text_of(value).strip(" \t")
    if _UNSENDABLE.search(text):
        raise InvalidOptions(
            f"The value of the header {name!r} has control characters.",
            where=where,
            hint="A stored value may end in a line break that was copied along.",
        )
    return text


def content_type_of(headers: Headers) -> str:
    """The author's Content-Type, or nothing."""
    return next((value for name, value in headers if name.lower() == "content-type"), "")
