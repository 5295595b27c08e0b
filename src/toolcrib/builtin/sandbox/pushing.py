"""This module pushes history that came out of a sandbox, without believing anything in it.

Git never runs in a workspace outside of the walls: the workspace's configuration could name any
command. A bundle, which is plain history, is unpacked into a fresh repository with every object
checked, by a user that nobody is where we are root, and within limits: a few bytes of history may
unfold to gigabytes. To an address that is not the operator's, git
gets out through the guard's gate only.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from toolcrib.errors import CallFailed, EgressBlocked
from toolcrib.isolation.limits import MIB, Limits
from toolcrib.isolation.programs import PATH, find_program, find_strangers
from toolcrib.isolation.wrapping import becoming, bounded
from toolcrib.plugin.rooms import Rooms
from toolcrib.tools.call import current_call

_SECONDS: Final = 50.0
_UNPACKING: Final = Limits(cpu=60, memory=1024 * MIB, processes=2**20, file=512 * MIB)


@dataclass(frozen=True, kw_only=True, slots=True)
class Remote:
    """`trusted`: the operator's, which may be a folder or any address."""

    address: str = field(repr=False)
    trusted: bool


async def push(bundle: bytes, remote: Remote, *, branch: str, rooms: Rooms) -> None:
    """Push the bundle's HEAD to a branch, never over what is there.

    Raises CallFailed with git's words, EgressBlocked when the guard refuses the address.
    """
    _keep_secret(remote.address)
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="toolcrib-push-"))
    try:
        await asyncio.to_thread((folder / "bundle").write_bytes, bundle)
        nobody = await asyncio.to_thread(_hand_over, folder)
        env = _environment(folder, {"transfer.fsckObjects": "true"})
        await _git(folder, env, "init", "-q", "--bare", "repo", who=nobody)
        unpack = ("fetch", "-q", "../bundle", "HEAD:refs/heads/work")
        await _git(folder, env, "-C", "repo", *unpack, who=[*nobody, *_within_limits()])
        if remote.trusted:
            await asyncio.to_thread(_own, folder, os.geteuid())
            await _push(folder, {}, remote, branch)
        else:
            await rooms.home.run(lambda: _push_through_gate(folder, remote, branch, rooms, nobody))
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, True)


async def _push_through_gate(
    folder: Path, remote: Remote, branch: str, rooms: Rooms, nobody: Sequence[str]
) -> None:
    gate = await rooms.gate()
    admitted = gate.admit()
    try:
        proxy = f"http://{admitted.user}:{admitted.password}@{gate.address.partition('//')[2]}"
        only = {"protocol.allow": "never"}
        only |= {f"protocol.{kind}.allow": "always" for kind in ("http", "https")}
        config = {"http.proxy": proxy, "http.followRedirects": "false", **only}
        await _push(folder, config, remote, branch, who=nobody)
    except CallFailed:
        if admitted.refused:
            raise EgressBlocked(f"Nothing was pushed: {admitted.refused[-1]}", sent=False) from None
        raise
    finally:
        gate.dismiss(admitted)


async def _push(
    folder: Path,
    config: Mapping[str, str],
    remote: Remote,
    branch: str,
    *,
    who: Sequence[str] = (),
) -> None:
    env = _environment(folder, {**config, "remote.out.url": remote.address})
    pushed = ("push", "-q", "out", f"work:refs/heads/{branch}")
    await _git(folder, env, "-C", "repo", *pushed, who=who)


async def _git(
    folder: Path, env: Mapping[str, str], *arguments: str, who: Sequence[str] = ()
) -> None:
    """`who` is a command line that makes git somebody else; empty: it is us."""
    try:
        process = await asyncio.create_subprocess_exec(
            *who,
            "git",
            *arguments,
            cwd=folder,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise CallFailed("Nothing was pushed: git is not installed on this machine.") from None
    try:
        async with asyncio.timeout(_SECONDS):
            _, errors = await process.communicate()
    except TimeoutError:
        raise CallFailed(f"Nothing was pushed: git did not end within {_SECONDS:g} s.") from None
    finally:
        if process.returncode is None:  # with what it started to talk and to unpack
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode != 0:
        words = errors.decode(errors="replace").strip()[-500:]
        raise CallFailed(f"Nothing was pushed: {words or 'git failed'}")


def _hand_over(folder: Path) -> Sequence[str]:
    """Give the folder to a user that nobody is; how git becomes that user. Empty without root."""
    setpriv, strangers = find_program("setpriv"), find_strangers()
    if setpriv is None or strangers is None:
        return ()
    user = strangers.of(-2)
    _own(folder, user)
    return becoming(setpriv, user)


def _within_limits() -> Sequence[str]:
    prlimit = find_program("prlimit")
    return () if prlimit is None else bounded(prlimit, _UNPACKING, total=True)


def _own(folder: Path, user: int) -> None:
    for place, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(Path(place, name), user, -1, follow_symlinks=False)


def _environment(folder: Path, config: Mapping[str, str]) -> dict[str, str]:
    """Git with this configuration and no other; addresses never stand on a command line."""
    env = {
        "PATH": PATH,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_CONFIG_COUNT": str(len(config)),
    }
    for place, (name, value) in enumerate(config.items()):
        env |= {f"GIT_CONFIG_KEY_{place}": name, f"GIT_CONFIG_VALUE_{place}": value}
    return env


def _keep_secret(address: str) -> None:
    """What the address holds is masked in whatever leaves the call."""
    call = current_call.get()
    if call is None or "://" not in address:
        return
    parts = urlsplit(address)
    for secret in (parts.password, None if parts.password else parts.username):
        if secret:
            call.secrets.update({address, secret, unquote(secret)})
