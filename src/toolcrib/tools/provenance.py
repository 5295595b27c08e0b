"""This module says what stands behind a tool besides what a model sees of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolcrib.tools.canonical import digest


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Facts that may be shown to every admin, so none of them holds a value that is secret.

    `upstream` is where calls go, `method` how; `distribution`, `version` and `code` say which
    Python code runs; `definition` is the digest of all that the author wrote.
    """

    facts: Mapping[str, Any]

    @cached_property
    def fingerprint(self) -> str:
        return digest(self.facts)
