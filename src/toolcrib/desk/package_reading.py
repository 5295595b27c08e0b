"""This module reads a package with all that its own type has to say about it; nothing is asked
of a database or a network."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.resolution.installed import PackageKinds
from toolcrib.sources.http.package_document import TYPES, PackageReading, read_package
from toolcrib.tools.source import Finding


def read_for(kinds: PackageKinds, document: object) -> tuple[PackageReading, Sequence[Finding]]:
    """A package as it would be kept, and every finding. `kinds` are the types that run here."""
    reading = read_package(document)
    name = str(reading.package.get("type"))
    kind = kinds.get(name)
    if kind is not None:
        more = [one for one in kind.check(reading.package) if one not in reading.findings]
        return reading, [*reading.findings, *more]
    if name not in TYPES:
        return reading, reading.findings
    idle = Finding(
        where="type",
        message=f"Packages of type {name!r} can be installed and do not run here yet.",
        severity="warning",
    )
    return reading, [*reading.findings, idle]
