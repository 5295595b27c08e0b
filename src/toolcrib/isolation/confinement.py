"""This module confines programs that run for long: MCP servers that are started as processes.

They see the machine's files, read-only, without what is nobody else's business: our data, homes,
sockets of other services. They have a home of their own, which stays, and no environment but what
their definition names. The network is not taken from them: most of them are there to use it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolcrib.errors import SetupError
from toolcrib.isolation.limits import MIB, Limits
from toolcrib.isolation.probing import Isolation, probe
from toolcrib.isolation.running import Command
from toolcrib.isolation.view import View

HOME: Final = "/home/server"
_RESOLVER: Final = Path("/etc/resolv.conf")
_HIDDEN: Final = ("/root", "/home", "/run", "/var/tmp", "/var/lib", "/var/log", "/mnt", "/media")  # noqa: S108
_LIMITS: Final = Limits(
    cpu=2**31,
    memory=2**40,
    processes=512,
    file=4096 * MIB,
    temporary=256 * MIB,
    open_files=4096,
)


@dataclass(slots=True)
class Confinement:
    """`folder` holds the homes; `hidden` are further places that nobody inside may see."""

    folder: Path
    hidden: tuple[Path, ...] = ()
    isolation: Isolation | None = None
    """What this machine can enforce; looked at when the first program is started."""

    @contextmanager
    def around(
        self, argv: Sequence[str], env: Mapping[str, str], *, name: str
    ) -> Generator[Command]:
        """The command line of a program, to be started before this is left.

        `name` tells programs apart: those of one name share a home. Raises SetupError where this
        machine has no walls: a program that should be confined is not started without.
        """
        isolation = self.isolation = self.isolation or probe()
        if isolation.walls is None:
            raise SetupError(f"No server is started: {isolation.reason}.", hint=isolation.fix)
        home, user = self._home(name, isolation)
        hidden, shown = self._places(argv)
        view = View(
            folder=home,
            place=HOME,
            network=True,
            whole=True,
            hidden=hidden,
            shown=shown,
            env=env,
        )
        with ExitStack() as files:
            yield isolation.walls.around(argv, view, _LIMITS, user=user, files=files)

    def _home(self, name: str, isolation: Isolation) -> tuple[Path, int | None]:
        key = hashlib.sha256(name.encode()).hexdigest()
        strangers = isolation.strangers
        user = None if strangers is None else strangers.of(50_000_000 + int(key[:6], 16))
        home = self.folder / key[:32]
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not home.exists():
            home.mkdir(mode=0o700)
            if user is not None:
                os.chown(home, user, user)
        return home, user

    def _places(self, argv: Sequence[str]) -> tuple[list[str], list[str]]:
        """What is hidden, and of that what is shown again because the program lies in it."""
        own = [Path.home(), *self.hidden, self.folder]
        hidden = _outermost([*map(Path, _HIDDEN), *own])
        wanted = [Path(part) for part in argv if part.startswith("/") and Path(part).exists()]
        shown = {
            below / path.relative_to(below).parts[0]
            for one in wanted
            for path in (one, one.resolve())
            for below in hidden
            if path.is_relative_to(below) and path != below
        }
        if any(_RESOLVER.resolve().is_relative_to(below) for below in hidden):
            shown.add(_RESOLVER.resolve())  # it is often a link to /run
        secret = _outermost([*self.hidden, self.folder])
        kept = [str(one) for one in sorted(shown) if not any(_touch(one, s) for s in secret)]
        return [str(one) for one in hidden], kept


def _outermost(places: Iterable[Path]) -> list[Path]:
    """Real folders that are there, without those inside another."""
    real = sorted({one.resolve() for one in places if one.is_dir()})
    return [one for one in real if not any(one != o and one.is_relative_to(o) for o in real)]


def _touch(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
