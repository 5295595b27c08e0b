"""This module holds a draft, the operation it becomes, and the request of one call.

A Draft is a definition read once; bound to stored values it is an Operation, which has no hole
left but slots; filled with a call's arguments it is a Request. Nothing is read twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from toolcrib.errors import InvalidArguments
from toolcrib.net.urls import MAX_URL
from toolcrib.secrets.binding import hosts_of, may_go_to
from toolcrib.sources.http.bodies import BodyDraft, BodyMaker, Files
from toolcrib.sources.http.headers import HeaderDraft, Headers, content_type_of, sendable_argument
from toolcrib.sources.http.hosts import FixedHost
from toolcrib.sources.http.segments import SegmentRules
from toolcrib.sources.http.slots import Read, Values
from toolcrib.sources.http.styles import Arguments, QueryWriter
from toolcrib.sources.http.urls import Step, UrlPlan, compile_url

HeaderWriter = Callable[[Arguments], tuple[str, str] | None]
"""A header that an argument fills; None when it is absent."""


class Request(NamedTuple):
    """What goes on the wire, but for what the connection adds."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes | None

    def __repr__(self) -> str:
        return f"Request({self.method})"  # the rest may hold values


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A request as its definition describes it, with placeholders and slots."""

    method: str
    url: Read
    url_where: str
    segments: SegmentRules = field(default_factory=SegmentRules)
    query: tuple[QueryWriter, ...] = ()
    headers: tuple[HeaderDraft, ...] = ()
    header_writers: tuple[HeaderWriter, ...] = ()
    body: BodyDraft | None = None

    def bind(self, values: Values) -> Operation:
        """Raises UnresolvedPlaceholderError, or InvalidOptions for a URL that comes to nothing."""
        url = compile_url(
            values.place(self.url, self.url_where), self.segments, where=self.url_where
        )
        headers = tuple(header.bind(values) for header in self.headers)
        kind = content_type_of(headers)
        return Operation(
            method=self.method,
            url=url,
            target=_target(url),
            query=(*url.query, *self.query),
            headers=headers,
            header_writers=self.header_writers,
            body=self.body.bind(values, kind) if self.body else None,
            typed=bool(kind),
            limits=tuple(
                (name, hosts_of(value))
                for name, value in values.by_name.items()
                if hosts_of(value) or not isinstance(url.host, FixedHost)
            ),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """A request whose only holes are slots.

    `limits`: where the values inside it may go, each with its hosts. Where arguments choose the
    host every value is among them, and one without hosts may go nowhere.
    """

    method: str
    url: UrlPlan
    target: tuple[Step, ...]
    """The URL up to its query, in as few steps as it has holes."""
    query: tuple[Step, ...]
    headers: Headers
    header_writers: tuple[HeaderWriter, ...]
    body: BodyMaker | None
    typed: bool
    limits: tuple[tuple[str, tuple[str, ...]], ...]

    def __repr__(self) -> str:
        return f"Operation({self.method})"  # the rest holds the values

    def render(self, arguments: Arguments, files: Files = ()) -> Request:
        """Raises InvalidArguments for what cannot be sent."""
        try:
            url = _joined(self.target, arguments)
            query = _query(self.query, arguments) if self.query else ""
            headers = list(self.headers)
            for write in self.header_writers:
                header = write(arguments)
                if header is not None:
                    headers.append(sendable_argument(header))
            payload = self.body(arguments, files) if self.body else None
        except UnicodeError:
            raise unsendable() from None
        if payload is not None and not self.typed:
            headers.append(("Content-Type", payload.content_type))
        url = f"{url}?{query}" if query else url
        if len(url) > MAX_URL:
            raise InvalidArguments(f"The arguments make a URL of more than {MAX_URL} characters.")
        return Request(
            method=self.method,
            url=url,
            headers=headers,
            body=payload.data if payload else None,
        )

    def refusal(self, arguments: Arguments) -> str | None:
        """Why a value inside the request may not go to its host; names it, never shows it."""
        if not self.limits:
            return None
        host = self.url.host.of(arguments)
        for name, hosts in self.limits:
            if not hosts:
                return (
                    f"{name!r} is limited to no hosts, and an argument chooses the host "
                    f"{host.host!r}: limit the value to the hosts that may have it"
                )
            if not may_go_to(hosts, host.host, host.port):
                return f"{name!r} may be sent to {', '.join(hosts)} only, not to {host.host!r}"
        return None

    def shown_url(self, arguments: Arguments) -> str:
        """The URL of a call with stored values as `***`; the host stays readable."""
        fields = self.query[len(self.url.query) :]
        query = _query((*self.url.shown_query, *fields), arguments)
        path = _joined(self.url.shown_path, arguments)
        url = self.url.host.of(arguments).origin + path
        return f"{url}?{query}" if query else url


def unsendable() -> InvalidArguments:
    return InvalidArguments(
        "A text holds a character that cannot be sent: half a surrogate pair, "
        "or one outside the body's charset."
    )


def _target(url: UrlPlan) -> tuple[Step, ...]:
    host = url.host
    if not isinstance(host, FixedHost):
        return (lambda arguments: host.of(arguments).origin, *url.path)
    first = url.path[0]
    if isinstance(first, str):
        return (host.origin + first, *url.path[1:])
    return (host.origin, *url.path)


def _joined(steps: tuple[Step, ...], arguments: Arguments) -> str:
    if len(steps) == 1 and isinstance(steps[0], str):
        return steps[0]
    return "".join([step if isinstance(step, str) else step(arguments) for step in steps])


def _query(steps: tuple[Step, ...], arguments: Arguments) -> str:
    pairs = [step if isinstance(step, str) else step(arguments) for step in steps]
    return "&".join([pair for pair in pairs if pair])
