"""This module finds the entry points of installed distributions, one broken one at a time.

`importlib.metadata.entry_points()` gives up on all of them when one file cannot be read, so each
distribution is read alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions

from toolcrib.plugin.changes import Origin
from toolcrib.plugin.recording import Key


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One plugin that is installed. `broken` says why it cannot even be looked at."""

    name: str
    distribution: str
    version: str
    value: str
    group: str
    broken: Exception | None = None

    @property
    def key(self) -> Key:
        return Key(self.distribution, self.value)

    @property
    def origin(self) -> Origin:
        return Origin(
            distribution=self.distribution,
            version=self.version,
            entry_point=self.name,
            value=self.value,
        )


def find_plugins(groups: Sequence[str]) -> list[Found]:
    """Every plugin once, by name. A distribution found twice on the path counts where Python
    would import it from, one that announces the same function in two groups counts once."""
    seen: set[str] = set()
    found: dict[Key, Found] = {}
    for distribution in distributions():
        announced = list(_announced(distribution, groups))
        if not announced or _normalised(announced[0].distribution) in seen:
            continue
        seen.add(_normalised(announced[0].distribution))
        for one in sorted(announced, key=lambda f: groups.index(f.group) if f.group else 0):
            found.setdefault(one.key, one)
    return sorted(found.values(), key=lambda f: (f.name, f.distribution, f.value))


def _announced(distribution: Distribution, groups: Sequence[str]) -> Iterator[Found]:
    try:
        text = distribution.read_text("entry_points.txt") or ""
        if not any(group in text for group in groups):
            return
        wanted = [entry for entry in distribution.entry_points if entry.group in groups]
    except Exception as error:  # noqa: BLE001 - foreign metadata may be broken in any way
        name = _name(distribution)
        yield Found(
            name=name,
            distribution=name,
            version=_version(distribution),
            value="entry_points.txt",
            group="",
            broken=error,
        )
        return
    for entry in wanted:
        yield Found(
            name=entry.name,
            distribution=_name(distribution),
            version=_version(distribution),
            value=re.sub(r"\s", "", entry.value),
            group=entry.group,
        )


def _name(distribution: Distribution) -> str:
    try:
        return str(distribution.metadata["Name"] or _folder(distribution))
    except Exception:  # noqa: BLE001 - the same
        return _folder(distribution)


def _version(distribution: Distribution) -> str:
    try:
        return str(distribution.metadata["Version"] or "")
    except Exception:  # noqa: BLE001 - the same
        return ""


def _folder(distribution: Distribution) -> str:
    folder = str(getattr(distribution, "_path", "unknown")).rstrip("/").rpartition("/")[2]
    return folder.partition("-")[0]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
