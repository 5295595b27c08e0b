"""Agents commit their workspace, and it arrives where the operator or the user says."""

from __future__ import annotations

import asyncio
import hashlib
import os
import struct
import subprocess
import zlib
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from aiohttp import web

from tests.support.chatting import Talk, open_office
from tests.support.walls import isolation
from toolcrib.builtin.sandbox.pushing import Remote, push
from toolcrib.errors import CallFailed
from toolcrib.plugin.host import current_host
from toolcrib.settings import Settings


def bare(path: Path) -> Path:
    git("init", "-q", "--bare", str(path))
    git("-C", str(path), "config", "http.receivepack", "true")
    return path


def git(*arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", "-c", "safe.directory=*", *arguments],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


class GitServer:
    """Git's own backend behind HTTP. It wants the name and password of `ada`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = ""
        self.asked = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.asked += 1
        if request.headers.get("Authorization") != "Basic YWRhOmxvdmVsYWNl":
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="git"'})
        done = subprocess.run(  # noqa: ASYNC221 - a test's server may be slow
            ["git", "http-backend"],
            input=await request.read(),
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(self.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": request.path,
                "QUERY_STRING": request.query_string,
                "REQUEST_METHOD": request.method,
                "CONTENT_TYPE": request.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
                "REMOTE_USER": "ada",
                "HOME": "/nonexistent",
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            },
            capture_output=True,
            check=True,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = int(fields.pop("Status", "200 OK").split()[0])
        return web.Response(status=status, headers=fields, body=body)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[GitServer]:
    served = GitServer(tmp_path / "repositories")
    bare(served.root / "work.git")
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{tail:.*}", served.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.place = f"127.0.0.1:{runner.addresses[0][1]}"
    yield served
    await runner.cleanup()


async def test_without_a_remote_a_commit_is_made(talk: Talk) -> None:
    """It says that nothing was pushed; the history is in the workspace."""
    code, message = await talk.failed("git_commit", message="nothing yet")
    assert (code, "the workspace is empty" in message) == ("tool_error", True)
    await talk.ok("create_file", file_path="a.txt", file_contents="one\n")
    first = await talk.ok("git_commit", message="First; $(touch hit)\n\nwith 'quotes'")
    assert (first["pushed"], first["summary"]) == (False, "1 file changed, 1 insertion(+)")
    await talk.ok("str_replace", file_path="a.txt", old_str="one", new_str="two")
    second = await talk.ok("git_commit", message="Second")
    said = await talk.ok("execute_command", command="git log --format='%H %s %an'; ls -A")
    assert said["output"].splitlines() == [
        f"{second['commit']} Second agent",
        f"{first['commit']} First; $(touch hit) agent",
        *(".git", "a.txt"),
    ]


async def test_to_the_operators_folder(settings: Settings, tmp_path: Path) -> None:
    """Each chat has a branch of its own, and is not pushed over another's work."""
    isolation()
    remote = bare(tmp_path / "remote.git")
    told = settings.model_copy(update={"sandbox_git_remote": _secret(str(remote))})
    async with open_office(told, ["sandbox", "git_sync"]) as office:
        ada = await office.person("ada")
        for number in (1, 2):
            talk = await office.talk(ada)
            await talk.ok("create_file", file_path="n.txt", file_contents=str(number))
            said = await talk.ok("git_commit", message=f"Chat {number}")
            branch = f"chat-{talk.chat['id']}"
            assert (said["pushed"], said["branch"]) == (True, branch)
            assert git("-C", str(remote), "rev-parse", branch).strip() == said["commit"]
            assert git("-C", str(remote), "show", f"{branch}:n.txt") == str(number)
        await talk.ok(
            "execute_command",
            command="git -c user.name=x -c user.email=x commit -q --amend -m other",
        )
        _, message = await talk.failed("git_commit", message="rewritten")
        assert "rejected" in message


async def test_configuration_of_the_workspace_runs_nothing_outside(
    settings: Settings, tmp_path: Path
) -> None:
    """Hooks, filters, aliases and commands that git would run are only ever run inside."""
    isolation()
    remote = bare(tmp_path / "remote.git")
    hit = tmp_path / "hit"
    told = settings.model_copy(update={"sandbox_git_remote": _secret(str(remote))})
    async with open_office(told, ["sandbox", "git_sync"]) as office:
        talk = await office.talk(await office.person("ada"))
        await talk.ok(
            "execute_command",
            command=f"git init -q && git config core.fsmonitor 'touch {hit}' && "
            f"git config core.sshCommand 'touch {hit}' && git config core.pager 'touch {hit}' && "
            f"git config filter.x.clean 'touch {hit}; cat' && echo '* filter=x' > .gitattributes; "
            f"for h in pre-commit post-commit pre-push reference-transaction; do "
            f"printf '#!/bin/sh\\ntouch {hit}\\nexit 0\\n' > .git/hooks/$h; "
            "chmod 755 .git/hooks/$h; done; echo x > f",
        )
        assert (await talk.ok("git_commit", message="good"))["pushed"] is True
    assert not hit.exists()


async def test_to_the_users_address_through_the_guard(
    settings: Settings, server: GitServer
) -> None:
    """With the login inside the address, which nobody sees afterwards."""
    isolation()
    told = settings.model_copy(update={"egress_allow": (server.place,)})
    async with open_office(told, ["sandbox", "git_sync"]) as office:
        talk = await office.talk(await office.person("ada"))
        value = {"value": f"http://ada:lovelace@{server.place}/work.git"}
        assert (await talk.who.api.put("/api/v1/settings/GIT_REMOTE", json=value)).is_success
        await talk.ok("create_file", file_path="a.txt", file_contents="for ada\n")
        said = await talk.ok("git_commit", message="First")
        where = str(server.root / "work.git")
        assert git("-C", where, "rev-parse", said["branch"]).strip() == said["commit"]
        value = {"value": f"http://ada:wrong-password@{server.place}/work.git"}
        assert (await talk.who.api.put("/api/v1/settings/GIT_REMOTE", json=value)).is_success
        _, message = await talk.failed("git_commit", message="Second")
        assert "wrong-password" not in message
        assert "Authentication failed" in message or "could not read" in message


async def test_an_address_that_the_guard_refuses(talk: Talk, server: GitServer) -> None:
    """Nothing is sent; folders and other schemes are the operator's alone."""
    await talk.ok("create_file", file_path="a.txt", file_contents="x")
    for value, code in (
        (f"http://ada:lovelace@{server.place}/work.git", "blocked"),
        (f"https://{server.place}/work.git", "blocked"),
        (str(server.root / "work.git"), "invalid_arguments"),
        ("ext::sh -c touch% hit", "invalid_arguments"),
        ("ssh://git@example.com/x", "invalid_arguments"),
    ):
        answer = await talk.who.api.put("/api/v1/settings/GIT_REMOTE", json={"value": value})
        assert answer.is_success, answer.text
        found, message = await talk.failed("git_commit", message="x")
        assert (found, server.asked) == (code, 0), message


def _secret(text: str) -> object:
    return Settings(sandbox_git_remote=text).sandbox_git_remote  # type: ignore[arg-type]


async def test_history_that_unfolds_to_gigabytes_is_not_unpacked(
    settings: Settings, tmp_path: Path
) -> None:
    """Some kilobytes that would take more memory than the machine may have."""
    remote = bare(tmp_path / "remote.git")
    async with open_office(settings, ["git_sync"]):
        host = current_host()
        assert host is not None
        assert host.rooms is not None
        with pytest.raises(CallFailed, match="Nothing was pushed"):
            await push(
                bomb(copies=128),
                Remote(address=str(remote), trusted=True),
                branch="chat-1",
                rooms=host.rooms,
            )
    assert git("-C", str(remote), "branch", "--list") == ""


async def test_a_push_that_is_given_up_leaves_no_process(
    settings: Settings, tmp_path: Path
) -> None:
    """Git has others talk for it; they end with it, and so does their connection."""
    reached, ended = asyncio.Event(), asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await reader.read()
        ended.set()
        writer.close()

    silent = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    remote = Remote(address=f"http://127.0.0.1:{port}/work.git", trusted=True)
    async with open_office(settings, ["git_sync"]), silent, asyncio.timeout(60):
        host = current_host()
        assert host is not None
        assert host.rooms is not None
        bundle = one_commit(tmp_path)
        pushing = asyncio.create_task(push(bundle, remote, branch="chat-1", rooms=host.rooms))
        await reached.wait()
        pushing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pushing
        await ended.wait()


def one_commit(folder: Path) -> bytes:
    """A bundle of a history with one commit."""
    work, bundle = folder / "work", folder / "bundle"
    git("init", "-q", str(work))
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    git("-C", str(work), *who, "commit", "-q", "--allow-empty", "-m", "First")
    git("-C", str(work), "bundle", "create", "-q", str(bundle), "HEAD")
    return bundle.read_bytes()


def bomb(*, copies: int) -> bytes:
    """A bundle whose only file is 16 MiB as often as that: all of it but once is a delta."""
    size = 16 * 2**20 - 1
    base, whole = bytes(size), size * copies
    delta = varying(size) + varying(whole) + (b"\xf0" + struct.pack("<I", size)[:3]) * copies
    blob = hashlib.sha1(b"blob %d\0" % whole, usedforsecurity=False)
    for _ in range(copies):
        blob.update(base)
    tree = b"100644 big\0" + blob.digest()
    who = "a <a@b> 1 +0000"
    commit = f"tree {named('tree', tree).hex()}\nauthor {who}\ncommitter {who}\n\nm\n".encode()
    packed = [
        head(3, size) + zlib.compress(base),
        head(7, len(delta)) + named("blob", base) + zlib.compress(delta),
        head(2, len(tree)) + zlib.compress(tree),
        head(1, len(commit)) + zlib.compress(commit),
    ]
    pack = b"PACK" + struct.pack(">II", 2, len(packed)) + b"".join(packed)
    first = f"# v2 git bundle\n{named('commit', commit).hex()} HEAD\n\n".encode()
    return first + pack + hashlib.sha1(pack, usedforsecurity=False).digest()


def named(kind: str, content: bytes) -> bytes:
    return hashlib.sha1(
        f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False
    ).digest()


def varying(number: int) -> bytes:
    """Seven bits a byte, the lowest first, with a mark that more come."""
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def head(kind: int, size: int) -> bytes:
    """Before each object of a pack."""
    more = size >> 4
    first = kind << 4 | size & 15
    return bytes([first | 0x80]) + varying(more) if more else bytes([first])
