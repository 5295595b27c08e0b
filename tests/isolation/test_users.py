"""Whoever runs Toolcrib: commands have that user's rights at most, and never root's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.services import missing
from tests.support.walls import attacker, isolation
from toolcrib.isolation.sandboxes import Sandboxes

_AS_NOBODY = """
import asyncio, os, sys
from pathlib import Path
from toolcrib.isolation.sandboxes import Key, Sandboxes
async def main():
    sandboxes = Sandboxes(Path(sys.argv[1]))
    assert sandboxes.obstacle is None, sandboxes.obstacle
    key = Key(number=1, uuid="a")
    command = "id -u; touch mine; grep CapEff /proc/self/status; cat " + sys.argv[2]
    ran = await sandboxes.run(key, ("/bin/sh", "-c", command))
    print(os.geteuid(), ran.output.text())
    ran = await sandboxes.run(key, ("/bin/sh", "-c", "setsid sleep 987654 & kill -9 -1; true"))
    await sandboxes.end(key)
asyncio.run(main())
"""


def test_without_root(tmp_path: Path) -> None:
    """A server that is not root isolates as well, with nobody's help."""
    isolation()
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        missing("becoming another user takes root")
    home = Path("/tmp/toolcrib-test-nobody")  # noqa: S108 - where that user can get to
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)
    os.chown(home, 1_899_999_998, 1_899_999_998)
    secret = tmp_path / "secret"
    secret.write_text("the-secret")
    try:
        who = ("--reuid=1899999998", "--regid=1899999998", "--clear-groups")
        done = subprocess.run(
            [setpriv, *who, sys.executable, "-c", _AS_NOBODY, str(home / "s"), str(secret)],
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        if "Permission denied" in done.stderr and "python" in done.stderr:
            missing("this Python cannot be run by another user")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.split("\n")
        assert lines[0] == "1899999998 65534"
        assert lines[1] == "CapEff:\t0000000000000000"
        assert "No such file" in lines[2]
    finally:
        shutil.rmtree(home)


async def test_what_is_made_belongs_to_nobody(tmp_path: Path) -> None:
    """As root: every chat has a user of its own, whom no account of the machine has."""
    isolation()
    one = attacker(tmp_path / "s", 11)
    await one.sh("touch made")
    owner = (one.folder / "made").stat().st_uid
    if os.geteuid() == 0:
        assert owner == 1_900_000_011
        assert owner not in {int(line.split(":")[2]) for line in _accounts()}
    else:
        assert owner == os.geteuid()


async def test_plain_processes_where_the_operator_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No walls, but a clean environment, limits, and never root."""
    monkeypatch.setenv("TOOLCRIB_VAULT_KEYS", "the-secret")
    sandboxes = Sandboxes(tmp_path / "s", mode="plain", look=isolation)
    one = attacker(tmp_path / "s", 12)
    ran = await sandboxes.run(
        one.key, ("/bin/sh", "-c", "id -u; env; ulimit -u; touch made; (sleep 98765 &); exit 3")
    )
    lines = ran.output.text().splitlines()
    assert (ran.code, ran.ended) == (3, "exited")
    assert (lines[0] == "0") is False
    assert "the-secret" not in ran.output.text()
    assert (one.folder / "made").exists()
    await sandboxes.end(one.key)


def _accounts() -> list[str]:
    return Path("/etc/passwd").read_text().splitlines()
