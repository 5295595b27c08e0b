"""This module holds whole sandboxes to their memory and number of processes, through cgroups.

Both versions are spoken. Nothing is taken for granted: containers often show cgroups that cannot
be written to, so whoever asks gets None there, and limits hold for each process only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolcrib.isolation.limits import Limits

MOUNT: Final = Path("/sys/fs/cgroup")
_OURS: Final = "toolcrib-sandboxes"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cgroups:
    """Folders under which groups are made: of memory and of processes, or one for both."""

    version: int
    memory: Path
    processes: Path

    def enter(self, name: str, limits: Limits) -> Sequence[Path]:
        """Make the group and set its limits; whoever writes its pid into these files is in it.

        Raises OSError.
        """
        for place, values in self._values(limits):
            group = place / name
            group.mkdir(exist_ok=True)
            for file, value in values.items():
                (group / file).write_text(value)
            _forbid_swap(group, self.version, limits.memory)
        return [place / name / "cgroup.procs" for place in self._places]

    def starved(self, name: str) -> int:
        """How often a process of the group was killed for want of memory."""
        file = "memory.events" if self.version == 2 else "memory.oom_control"
        with suppress(OSError, ValueError):
            for line in (self.memory / name / file).read_text().splitlines():
                key, _, value = line.partition(" ")
                if key == "oom_kill":
                    return int(value)
        return 0

    def leave(self, name: str) -> bool:
        """Remove the group if nothing runs in it; whether it is gone."""
        for place in self._places:
            with suppress(OSError):
                (place / name).rmdir()
        return not any((place / name).exists() for place in self._places)

    @property
    def _places(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((self.memory, self.processes)))

    def _values(self, limits: Limits) -> list[tuple[Path, Mapping[str, str]]]:
        if self.version == 2:
            both = {"memory.max": str(limits.memory), "pids.max": str(limits.processes)}
            return [(self.memory, both)]
        return [
            (self.memory, {"memory.limit_in_bytes": str(limits.memory)}),
            (self.processes, {"pids.max": str(limits.processes)}),
        ]


def find_cgroups(
    mount: Path = MOUNT, membership: Path = Path("/proc/self/cgroup")
) -> Cgroups | None:
    """What can really be written to here: a group is made, limited and removed."""
    for make in (_second, _first):
        try:
            found = make(mount, _paths(membership))
            if found is not None:
                found.enter("probe", Limits())
                found.leave("probe")
                return found
        except OSError:
            continue
    return None


def _paths(membership: Path) -> dict[str, str]:
    """Controller → the path of this process's group; "" is version 2's."""
    found: dict[str, str] = {}
    for line in membership.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        found |= dict.fromkeys(controllers.split(","), path)
    return found


def _first(mount: Path, paths: Mapping[str, str]) -> Cgroups | None:
    if "memory" not in paths or "pids" not in paths:
        return None
    memory, processes = (_own(mount / name, paths[name]) / _OURS for name in ("memory", "pids"))
    for place in (memory, processes):
        place.mkdir(exist_ok=True)
    return Cgroups(version=1, memory=memory, processes=processes)


def _second(mount: Path, paths: Mapping[str, str]) -> Cgroups | None:
    own = _own(mount, paths.get("", "/"))
    if not {"memory", "pids"} <= set((own / "cgroup.controllers").read_text().split()):
        return None
    ours = own / _OURS
    # The kernel refuses this for a group that holds processes, unless it is the topmost.
    _pass_on(own)
    ours.mkdir(exist_ok=True)
    _pass_on(ours)
    return Cgroups(version=2, memory=ours, processes=ours)


def _pass_on(group: Path) -> None:
    control = group / "cgroup.subtree_control"
    if not {"memory", "pids"} <= set(control.read_text().split()):
        control.write_text("+memory +pids")


def _own(mount: Path, path: str) -> Path:
    """A container may be told a path that is the host's: then its own group is the topmost."""
    own = mount / path.lstrip("/")
    return own if (own / "cgroup.procs").exists() else mount


def _forbid_swap(group: Path, version: int, memory: int) -> None:
    """Kernels without swap accounting have no such file."""
    file = group / ("memory.swap.max" if version == 2 else "memory.memsw.limit_in_bytes")
    if file.exists():
        with suppress(OSError):
            file.write_text("0" if version == 2 else str(memory))
