"""This module decides where Toolcrib may connect to: every address, before every connection.

`EgressPolicy` is the operator's rules and touches no network; `Guard` adds the resolver. Whatever
client sends the request asks here for the addresses and connects to those and no others, so that
no second lookup can answer something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address

from toolcrib.errors import EgressBlocked
from toolcrib.net import urls
from toolcrib.net.addresses import refusal
from toolcrib.net.allow import SETTING, AllowList
from toolcrib.net.resolver import Resolver
from toolcrib.net.urls import Destination

_REMEMBERED = 4096
_SCHEME = len("https://")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the guard says to one URL, for previews and errors. `reason` is a sentence."""

    allowed: bool
    host: str
    addresses: tuple[str, ...]
    reason: str

    def as_json(self) -> dict[str, object]:
        return {
            "allowed": self.allowed,
            "host": self.host,
            "addresses": list(self.addresses),
            "reason": self.reason,
        }


class EgressPolicy:
    """The operator's rules: https to public addresses, and whatever `allow` lists.

    Raises InvalidSettings that names a bad entry.
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allow = AllowList.parse(allow)
        self._known: dict[str, Destination] = {}

    def check_url(self, url: str) -> tuple[Destination, str]:
        """The place, and the path and query asked for there. Raises EgressBlocked.

        An address inside the URL is judged here; a host's addresses only once it is resolved.
        """
        cut = url.find("/", _SCHEME)
        if cut > 0 and len(url) <= urls.MAX_URL:
            place = self._known.get(url[:cut])
            if place is not None:
                return place, urls.path_and_query(url[cut:])
        head, rest = urls.split(url)
        place = self._known.get(head)
        if place is None:
            place = self._judge_place(urls.destination(head))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[head] = place
        return place, rest

    def check_addresses(self, place: Destination, answers: Sequence[str]) -> tuple[str, ...]:
        """The addresses to connect to, all of them good. Raises EgressBlocked for one bad one."""
        if not answers:
            raise EgressBlocked(f"The host {place.host!r} has no address.", sent=False)
        for answer in answers:
            self.check_address(place, answer)
        return tuple(answers)

    def check_address(self, place: Destination, answer: str) -> None:
        """Raises EgressBlocked unless a connection to `place` may go to this address."""
        try:
            address = ip_address(answer)
        except ValueError:
            raise EgressBlocked(
                f"The host {place.host!r} resolves to something that is no address.", sent=False
            ) from None
        if place.listed or self._allow.covers(address, place.port):
            return
        if getattr(address, "scope_id", None):
            raise _blocked(place, "an address with a zone")
        if (reason := refusal(address)) is not None:
            raise _blocked(place, reason)
        if place.scheme != "https":
            raise _plain_http(place)

    def _judge_place(self, place: Destination) -> Destination:
        if self._allow.names(place.host, place.port):
            return replace(place, listed=True)
        if place.address is not None:
            self.check_address(place, str(place.address))
        elif place.scheme != "https" and not self._allow.networks:
            raise _plain_http(place)
        return place


class Guard:
    """A policy and a resolver: the answer to "where may this connection go?"."""

    def __init__(self, policy: EgressPolicy, resolver: Resolver) -> None:
        self.policy = policy
        self.resolver = resolver

    async def addresses(self, place: Destination) -> tuple[str, ...]:
        """The judged addresses of a place: connect to these only. Raises EgressBlocked."""
        return self.policy.check_addresses(place, await self._answers(place))

    async def verdict(self, url: str) -> Verdict:
        """The same judgement for people: never raises, sends nothing but the DNS question."""
        host, answers = "", ()
        try:
            place, _ = self.policy.check_url(url)
            host = place.host
            answers = tuple(await self._answers(place))
            self.policy.check_addresses(place, answers)
        except EgressBlocked as blocked:
            return Verdict(allowed=False, host=host, addresses=answers, reason=str(blocked))
        reason = f"{SETTING} lists {place.place}." if place.listed else "The addresses may be used."
        return Verdict(allowed=True, host=host, addresses=answers, reason=reason)

    async def _answers(self, place: Destination) -> Sequence[str]:
        if place.address is not None:
            return (str(place.address),)
        try:
            return await self.resolver.resolve(place.host, place.port)
        except OSError as error:
            cause = error.strerror or str(error) or type(error).__name__
            raise EgressBlocked(
                f"The host {place.host!r} does not resolve: {cause}.",
                hint="Check the host's name.",
                sent=False,
            ) from None


def _blocked(place: Destination, what: str) -> EgressBlocked:
    verb = "is" if place.address is not None else "resolves to"
    allow = f"The operator can allow it: {SETTING}={place.place}"
    return EgressBlocked(
        f"The host {place.host!r} {verb} {what}.",
        hint=None if "metadata" in what else allow,  # its answer is the machine's own credential
        sent=False,
    )


def _plain_http(place: Destination) -> EgressBlocked:
    return EgressBlocked(
        f"http:// to {place.host!r} is not allowed: only https is.",
        hint=f"Use https, or let the operator allow it: {SETTING}={place.place}",
        sent=False,
    )
