"""This module is a process that wants a login's token again and again; tests start two of them.

`python -m tests.support.renewing DATABASE KEY USER RESOURCE ROUNDS`: it says `ready`, waits for a
line, and then prints how many different tokens it had, or what went wrong.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.platform.logins import Logins
from toolcrib.platform.tasks import Tasks
from toolcrib.secrets.logins import LoginOwner
from toolcrib.secrets.sealing import Sealer
from toolcrib.settings import Settings
from toolcrib.sources.oauth.options import AuthOptions
from toolcrib.sources.oauth.wanted import Wanted
from toolcrib.storage import open_storage

AT_ONCE = 4
REF = "mcp:1"


def wanted(user_id: int, resource: str) -> Wanted:
    return Wanted(
        ref=REF,
        label="guarded",
        owner=LoginOwner(user_id=user_id),
        resource=resource,
        auth=AuthOptions(),
    )


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def main(database: str, key: str, user: str, resource: str, rounds: str) -> None:
    settings = Settings(data_dir=Path("/nonexistent"), database_url=database)
    storage = await open_storage(database)
    tasks = Tasks()
    async with GuardedClient(EgressPolicy(["127.0.0.0/8"])) as sender:
        sealer = Sealer(lambda: [key])
        logins = Logins(settings, storage, sealer=sealer, sender=sender, tasks=tasks)
        one = wanted(int(user), resource)
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        seen: set[str] = set()
        for _ in range(int(rounds)):
            seen |= set(
                await asyncio.gather(*(logins.credentials.token(one) for _ in range(AT_ONCE)))
            )
        say(str(len(seen)))
        await logins.close()
        await tasks.close()
    await storage.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
