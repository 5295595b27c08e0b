"""This module keeps a sandbox for each chat: a folder that stays, and commands that run in it.

A command's processes end with the command. The folder ends with the chat, and what runs in it then
is stopped, whichever process of ours runs it: all of them watch the folder.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from toolcrib.errors import CallFailed, CallRefused
from toolcrib.isolation.filling import Filling
from toolcrib.isolation.folders import Folders
from toolcrib.isolation.limits import Limits
from toolcrib.isolation.plain import plain, plain_obstacle
from toolcrib.isolation.probing import Isolation, probe
from toolcrib.isolation.programs import find_strangers
from toolcrib.isolation.running import Command, Ran, Running, require_sayable, run
from toolcrib.isolation.view import View

Mode = Literal["auto", "off", "plain"]
AT_ONCE: Final = 4
"""Commands of one chat at the same time; more wait."""
_KEEP: Final = 128 * 1024
_NAME: Final = re.compile(r"[0-9]{1,19}-[0-9a-f-]{1,40}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """Whose sandbox: a chat's number and uuid."""

    number: int
    uuid: str

    @property
    def name(self) -> str:
        return f"{self.number}-{self.uuid}"


Lives = Callable[[Key], Awaitable[bool]]
"""Whether the chat of a sandbox is still there."""


class Sandboxes:
    """All sandboxes of this machine, under `folder`."""

    def __init__(
        self,
        folder: Path,
        *,
        mode: Mode = "auto",
        limits: Limits | None = None,
        network: bool = False,
        look: Callable[[], Isolation] = probe,
        lives: Lives | None = None,
    ) -> None:
        """`lives` says whether a chat is still there; None: every one is."""
        self._folders = Folders(folder)
        self._lives = lives
        self._mode: Mode = mode
        self.limits = limits or Limits()
        self._network = network
        self._look = look
        self._isolation: Isolation | None = None
        self._running: dict[str, set[Running]] = {}
        self._using: Counter[str] = Counter()
        """Commands of each chat that have begun to begin, and not ended."""
        self._gates: dict[str, asyncio.Semaphore] = {}

    @property
    def isolation(self) -> Isolation:
        """What this machine can enforce; looked at once."""
        if self._isolation is None:
            self._isolation = self._look()
        return self._isolation

    @property
    def obstacle(self) -> tuple[str, str] | None:
        """Why no command runs here, and what would change that; None where commands run."""
        if self._mode == "off":
            return "commands are switched off here", "Set TOOLCRIB_SANDBOX=auto."
        if self._mode == "plain":
            return plain_obstacle()
        if self.isolation.walls is not None:
            return None
        return self.isolation.reason, self.isolation.fix

    async def run(
        self,
        key: Key,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        joined: bool = True,
        seconds: float | None = None,
        keep: int = _KEEP,
    ) -> Ran:
        """Run a command in the chat's folder. `keep`: how many bytes of its output are kept.

        Raises CallRefused where commands are not run and for a chat that is gone, InvalidArguments
        for what no command line can hold, CallFailed when it cannot be started.
        """
        if (obstacle := self.obstacle) is not None:
            raise CallRefused(f"No command is run: {obstacle[0]}.", hint=obstacle[1])
        require_sayable(argv)
        gate = self._gates.setdefault(key.name, asyncio.Semaphore(AT_ONCE))
        async with gate:
            if self._gates.get(key.name) is not gate:
                raise CallRefused("No command is run: the chat's sandbox was closed meanwhile.")
            try:
                return await self._run(key, argv, stdin, joined, seconds, keep)
            except OSError as error:
                raise CallFailed(
                    f"The sandbox could not be started: {error.strerror or error}."
                ) from error

    async def _run(
        self,
        key: Key,
        argv: Sequence[str],
        stdin: bytes,
        joined: bool,
        seconds: float | None,
        keep: int,
    ) -> Ran:
        folder, user = await self._entered(key)
        cgroups = None if self._mode == "plain" else self.isolation.cgroups
        starved = cgroups.starved(key.name) if cgroups else 0
        among = self._running.setdefault(key.name, set())
        mine: list[Running] = []

        def begun(one: Running) -> None:
            mine.append(one)
            among.add(one)

        self._using[key.name] += 1
        try:
            filling = await Filling.begin(folder, self.limits)
            with ExitStack() as files:
                ran = await run(
                    self._command(key, folder, argv, user, filling.left, files),
                    stdin=stdin,
                    joined=joined,
                    keep=keep,
                    most=self.limits.output,
                    seconds=min(seconds or self.limits.seconds, self.limits.seconds),
                    watch=filling.look,
                    running=begun,
                )
            hungry = cgroups is not None and cgroups.starved(key.name) > starved
            return await filling.judged(replace(ran, starved=hungry))
        finally:
            among.difference_update(mine)
            self._using[key.name] -= 1
            if not self._using[key.name]:
                del self._using[key.name]
                if cgroups is not None:
                    cgroups.leave(key.name)

    async def end(self, key: Key) -> None:
        """Stop what runs in the chat's sandbox and remove its folder."""
        for one in tuple(self._running.pop(key.name, ())):
            one.stop("closed")
        self._gates.pop(key.name, None)
        if await self._folders.remove(key.name):
            await self._leave(key)

    async def _leave(self, key: Key) -> None:
        """Remove the chat's group, once the kernel has done away with what was killed."""
        cgroups = None if self._isolation is None else self._isolation.cgroups
        for _ in range(50):
            if cgroups is None or cgroups.leave(key.name):
                return
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """Stop everything that runs; the folders stay for the next start."""
        for running in tuple(self._running.values()):
            for one in tuple(running):
                one.stop("closed")

    def kept(self) -> list[Key]:
        """The chats that have a folder here."""
        names = [name for name in self._folders.names() if _NAME.fullmatch(name)]
        parts = [name.partition("-") for name in names]
        return [Key(number=int(number), uuid=uuid) for number, _, uuid in parts]

    async def clear(self) -> None:
        """Remove what is left of sandboxes whose end was interrupted."""
        await self._folders.clear()

    async def _entered(self, key: Key) -> tuple[Path, int | None]:
        """The folder of a chat that is there.

        Whoever deletes a chat removes the folder afterwards, and here it is made before the chat is
        looked for: so one of the two sees what the other did, in whichever process.
        """
        folder, user = self._place(key)
        if self._lives is not None and not await self._lives(key):
            await self.end(key)
            raise CallRefused("No command is run: the chat is gone.")
        return folder, user

    def _place(self, key: Key) -> tuple[Path, int | None]:
        """The folder, made when it is first needed, and the stranger it belongs to."""
        if _NAME.fullmatch(key.name) is None:
            raise CallRefused(f"{key.name!r} cannot be the name of a sandbox.")
        strangers = find_strangers() if self._mode == "plain" else self.isolation.strangers
        user = None if strangers is None else strangers.of(key.number)
        return self._folders.made(key.name, user), user

    def _command(
        self,
        key: Key,
        folder: Path,
        argv: Sequence[str],
        user: int | None,
        limits: Limits,
        files: ExitStack,
    ) -> Command:
        if self._mode == "plain":
            return plain(folder, argv, user, limits)
        isolation = self.isolation
        if isolation.walls is None:
            raise RuntimeError("An obstacle was not looked at.")
        groups = isolation.cgroups.enter(key.name, limits) if isolation.cgroups else ()
        view = View(folder=folder, network=self._network)
        return isolation.walls.around(argv, view, limits, user=user, groups=groups, files=files)
