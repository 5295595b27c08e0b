"""This module is the process in which one plugin is tried: `python -m toolcrib.cli.trial`.

The arguments are the distribution and the entry point's value. One JSON object goes to stdout;
what the plugin prints goes to stderr.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from toolcrib.cli.environment import read_settings
from toolcrib.plugin.discovery import GROUPS, Plugins
from toolcrib.plugin.finding import find_plugins
from toolcrib.plugin.host import Host
from toolcrib.plugin.registration import Registry
from toolcrib.sources.native.shelf import NativeShelf


async def trial(distribution: str, value: str) -> dict[str, Any]:
    """Load the plugin and adapt its tools; `error` says why it could not be loaded."""
    settings = read_settings()
    groups = (*GROUPS, *settings.plugin_groups)
    names = {
        one.name
        for one in find_plugins(groups)
        if (one.distribution, one.value) == (distribution, value)
    }
    registry = Registry()
    plugins = Plugins(registry, Host(), groups=groups, timeout=settings.plugin_timeout)
    reports = await plugins.load(only=names)
    report = next(r for r in reports if (r.distribution, r.value) == (distribution, value))
    shelf = NativeShelf(registry)
    bundles = [bundle for code in report.codes if (bundle := shelf.bundle(code)) is not None]
    return {
        "error": report.error,
        "tools": {bundle.code: [offer.spec.name for offer in bundle.offers] for bundle in bundles},
        "skipped": [
            {"ref": skip.ref, "reason": skip.reason, "fix": skip.fix}
            for bundle in bundles
            for skip in bundle.skipped
        ],
    }


def main() -> None:
    """Report, then leave at once: a plugin may have left threads behind that never end."""
    report_to = os.dup(1)
    os.dup2(2, 1)
    result = asyncio.run(trial(*sys.argv[1:3]))
    with os.fdopen(report_to, "w") as report:
        json.dump(result, report)
    for stream in (sys.stdout, sys.stderr):  # what the plugin printed may still wait in a buffer
        stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
