"""This module says what a process inside the walls sees of the file system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolcrib.isolation.limits import Limits
from toolcrib.isolation.programs import PATH

WORKSPACE: Final = "/workspace"
_ETC: Final = (
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/fonts",
    "/etc/mime.types",
)
"""What programs need of /etc. None of it is secret; the rest of /etc is not there."""
_WRITTEN: Final[Mapping[str, bytes]] = {
    "/etc/passwd": b"nobody:x:65534:65534:nobody:/workspace:/bin/sh\n",
    "/etc/group": b"nogroup:x:65534:\n",
    "/etc/hosts": b"127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\n",
}
_SHORT_LIVED: Final = ("/tmp", "/dev/shm")  # noqa: S108 - inside, and gone with the command
_LINKED: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """`folder` is the only place that can be written to for good; it stands at `place` inside.

    `whole`: the machine's files are shown, read-only, except `hidden`; `shown` are shown again.
    """

    folder: Path
    place: str = WORKSPACE
    network: bool = False
    whole: bool = False
    hidden: Sequence[str] = ()
    shown: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    def mounts(self, source: str, limits: Limits) -> list[str]:
        """Arguments of bwrap. `source` is where the folder can be reached at that moment."""
        sized = ("--size", str(limits.temporary), "--perms", "1777", "--tmpfs")
        return [
            *(self._everything() if self.whole else self._little()),
            *("--proc", "/proc", "--dev", "/dev"),
            *(part for path in _SHORT_LIVED for part in (*sized, path)),
            *(part for path in self.hidden for part in ("--size", "65536", "--tmpfs", path)),
            *(part for path in self.shown for part in ("--ro-bind", path, path)),
            *("--bind", source, self.place),
            *(part for path in self.hidden for part in ("--remount-ro", path)),
            *("--remount-ro", "/dev", "--chdir", self.place),
        ]

    def written(self) -> Mapping[str, bytes]:
        """Files that are made for the inside."""
        return {} if self.whole else _WRITTEN

    def variables(self) -> list[str]:
        """Arguments of bwrap: the whole environment inside."""
        own = {"PATH": f"/usr/local/bin:{PATH}", "HOME": self.place, "LANG": "C.UTF-8"}
        values = {**own, "TMPDIR": "/tmp", "USER": "nobody", **self.env}  # noqa: S108 - inside
        return [part for name, value in values.items() for part in ("--setenv", name, value)]

    def _everything(self) -> list[str]:
        return ["--ro-bind", "/", "/"]

    def _little(self) -> list[str]:
        linked = [name for name in _LINKED if Path("/", name).is_symlink()]
        plain = [name for name in _LINKED if name not in linked and Path("/", name).is_dir()]
        names = [*_ETC, *(["/etc/resolv.conf"] if self.network else [])]
        return [
            *("--ro-bind", "/usr", "/usr"),
            *(p for n in linked for p in ("--symlink", str(Path("/", n).readlink()), f"/{n}")),
            *(p for n in plain for p in ("--ro-bind", f"/{n}", f"/{n}")),
            *(p for path in names for p in ("--ro-bind-try", os.path.realpath(path), path)),
        ]
