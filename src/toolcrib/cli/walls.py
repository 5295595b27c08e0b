"""This module examines what holds programs that are not ours, by trying it on this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolcrib.builtin.browser.chromium import find_chromium
from toolcrib.cli.findings import Finding, note, ok, problem
from toolcrib.isolation.probing import probe
from toolcrib.platform.rooms import sandboxes_of

if TYPE_CHECKING:
    from toolcrib.settings import Settings

_COMMANDS = "commands of agents"


async def check_commands(settings: Settings) -> list[Finding]:
    """What is enforced when agents run commands, one finding for each thing that holds."""
    sandboxes = sandboxes_of(settings)
    isolation = await asyncio.to_thread(lambda: sandboxes.isolation)
    findings: list[Finding] = []
    if (obstacle := sandboxes.obstacle) is not None:
        return [note(_COMMANDS, f"off: {obstacle[0]}", obstacle[1])]
    if settings.sandbox == "plain":
        text = "run without isolation: TOOLCRIB_SANDBOX=plain"
        findings.append(note(_COMMANDS, text, "TOOLCRIB_SANDBOX=auto isolates them"))
    else:
        findings += [ok(_COMMANDS, one) for one in isolation.enforced(sandboxes.limits)]
        if isolation.cgroups is None:
            text = "no cgroup can be written to: memory is limited for each process, not in total"
            findings.append(note(_COMMANDS, text, "delegate memory and pids to Toolcrib"))
    if settings.sandbox_network:
        text = "have this machine's network, loopback included: TOOLCRIB_SANDBOX_NETWORK"
        findings.append(note(_COMMANDS, text, "unset it"))
    return findings


async def check_confined_servers(settings: Settings) -> list[Finding]:
    if not settings.stdio_allow or settings.stdio_sandbox == "off":
        return []
    isolation = await asyncio.to_thread(probe)
    if isolation.walls is None:
        return [problem("confined servers", isolation.reason, isolation.fix)]
    return [ok("confined servers", "a read-only machine, a home and users of their own")]


async def check_browser(settings: Settings) -> list[Finding]:
    found = find_chromium(settings.browser)
    if isinstance(found, str):
        return [ok("browser of agents", f"{found}, through the egress guard alone")]
    return [note("browser of agents", f"off: {found[0]}", found[1])]
