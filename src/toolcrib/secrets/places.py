"""This module keeps a host that stored values decide out of what people are told of errors.

Results keep their hosts: links in them have to work. Sentences of ours lose the host, its port and
every address, for they name whatever it was that could not be reached.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv6Address
from typing import Final

from toolcrib.errors import ToolcribError
from toolcrib.secrets.masking import MASK

_V4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.]*\w)", re.ASCII)
_V6 = re.compile(r"(?i:\[?((?<![\w:.])[0-9a-f:.]{2,45})(?![\w:])(?:\](?::\d{1,5})?)?)", re.ASCII)


@dataclass(frozen=True)
class HiddenHost:
    """The parts of one host that may be read nowhere: the whole name, or those around slots."""

    names: tuple[str, ...] = field(repr=False)

    def text(self, text: str) -> str:
        """The text with the host, its port and every address as `***`."""
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        return _V6.sub(_without_address, _V4.sub(MASK, text))

    @contextmanager
    def hidden(self) -> Generator[None]:
        """Errors of ours leave without the host."""
        try:
            yield
        except ToolcribError as error:
            error.message = self.text(error.message)
            error.hint = error.hint and self.text(error.hint)
            raise

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        names = sorted({*filter(None, self.names)}, key=len, reverse=True)
        if not names:
            return None
        either = "|".join(map(re.escape, names))
        return re.compile(
            rf"(?<![\w-])(?:\[(?:{either})\]|(?:{either}))(?::\d{{1,5}})?(?![\w-])", re.IGNORECASE
        )


class _Open(HiddenHost):
    def text(self, text: str) -> str:
        return text


OPEN: Final[HiddenHost] = _Open(())
"""A host that stands in the definition."""


def _without_address(found: re.Match[str]) -> str:
    try:
        IPv6Address(found[1])
    except ValueError:
        return found[0]
    return MASK
