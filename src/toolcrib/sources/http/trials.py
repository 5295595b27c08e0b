"""This module tries a draft before its stored values are known, to find what cannot work."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolcrib.errors import InvalidOptions
from toolcrib.secrets.placeholders import Language, Placeholder
from toolcrib.sources.http.hosts import FixedHost
from toolcrib.sources.http.operation import Draft, Operation
from toolcrib.sources.http.problems import Problems
from toolcrib.sources.http.sending import Sender
from toolcrib.sources.http.slots import Values

_PLACE = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_BASES = ("https://x.example", "https")
_PARTS = ("x", "1")
"""What a stored value may be inside a URL: a name or a port; at its start, an address or scheme."""


def try_draft(
    draft: Draft, names: Iterable[str], language: Language, sender: Sender, problems: Problems
) -> None:
    """Adds a problem when no likely value makes a request of the draft, and a warning when the
    sender would refuse the place that the author wrote out."""
    _warn_of_refusal(draft, sender, problems)
    failure: InvalidOptions | None = None
    names = frozenset(names)
    for values in _samples(draft, names):
        try:
            operation = draft.bind(Values(values, language))
        except InvalidOptions as error:
            failure = failure or error
        else:
            _warn_of_choice(operation, sorted(names), draft.url_where, problems)
            return
    if failure is not None:
        problems.caught(failure, draft.url_where)


def _warn_of_refusal(draft: Draft, sender: Sender, problems: Problems) -> None:
    place = _PLACE.match(draft.url[0]) if isinstance(draft.url[0], str) else None
    if place is None or (place.end() == len(place.string) and len(draft.url) > 1):
        return
    refusal = sender.refusal(f"{place[0]}/")
    if refusal is not None:
        problems.warn(draft.url_where, refusal)


def _warn_of_choice(operation: Operation, names: list[str], where: str, problems: Problems) -> None:
    if names and not isinstance(operation.url.host, FixedHost):
        problems.warn(
            where,
            "An argument chooses the host: calls are refused unless each of these is limited to "
            f"hosts where it is stored: {', '.join(names)}.",
        )


def _samples(draft: Draft, names: frozenset[str]) -> Iterable[dict[str, str]]:
    head = draft.url[0]
    for part in _PARTS:
        values = dict.fromkeys(names, part)
        if not isinstance(head, Placeholder):
            yield values
            continue
        for base in _BASES:
            yield values | {head.name: base}
