"""This module runs the protocol's official conformance suite and reads its verdicts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.mcp_real import NODE_22, npm_folder

TOP = Path(__file__).parents[2]
_PACKAGE = "@modelcontextprotocol/conformance"
Verdicts = Mapping[str, Mapping[str, str]]
"""Of each scenario, what each check said: SUCCESS, FAILURE, WARNING, INFO or SKIPPED."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One release of the suite, and what of it is run."""

    release: str
    chosen: tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join((self.release, *self.chosen[1:]))


CURRENT, ALPHA = "0.1.16", "0.2.0-alpha.12"
RUNS = (
    Run(release=CURRENT, chosen=("--suite", "all")),
    Run(release=ALPHA, chosen=("--requirements", "2025-11-25")),
    Run(release=ALPHA, chosen=("--requirements", "2026-07-28")),
)
"""The current release, and the newest alpha in both eras."""


async def of_server(run: Run, url: str, folder: Path) -> Verdicts:
    """What the suite says of the server at this address."""
    return await _verdicts(run, folder, "server", "--url", url)


async def of_client(run: Run, scenario: str, version: str, folder: Path) -> Mapping[str, str]:
    """What the suite says of our side as a client in one scenario."""
    command = f"{sys.executable} -m tests.conformance.client"
    wanted = ("--command", command, "--scenario", scenario, "--spec-version", version)
    wanted += ("--timeout", "120000")
    found = await _verdicts(replace(run, chosen=wanted), folder, "client")
    (checks,) = found.values()
    return checks


async def _verdicts(run: Run, folder: Path, *what: str) -> Verdicts:
    modules = await asyncio.to_thread(npm_folder, f"{_PACKAGE}@{run.release}", NODE_22)
    script = modules / _PACKAGE / "dist" / "index.js"
    process = await asyncio.create_subprocess_exec(
        str(modules / ".bin" / "node"),
        str(script),
        *what,
        *run.chosen,
        "--output-dir",
        str(folder),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
        cwd=TOP,
    )
    told, _ = await process.communicate()
    found = _read(folder)
    assert found, told.decode(errors="replace")[-2000:]
    return found


def _read(folder: Path) -> Verdicts:
    return {_scenario(place): _checks(place) for place in folder.rglob("checks.json")}


def _scenario(place: Path) -> str:
    """Of `server-tools-list-2026-11-30T19-05-01-673Z` the scenario `tools-list`."""
    parts = place.parent.name.split("-")
    return "-".join(parts[1:-6])


_GRAVITY = ("SKIPPED", "INFO", "SUCCESS", "WARNING", "FAILURE")


def _checks(place: Path) -> dict[str, str]:
    """Of several verdicts of one check the gravest; where nothing was to judge, nothing counts."""
    told: dict[str, str] = {}
    for check in json.loads(place.read_text()):
        before = told.get(check["id"], "SKIPPED")
        told[check["id"]] = max(before, check["status"], key=_GRAVITY.index)
    return told
