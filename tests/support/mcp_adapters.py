"""This program is `langchain-mcp-adapters` as a client: it lists, then calls, and prints what came.

python mcp_adapters.py URL TOKEN CALLS. CALLS is a JSON object: arguments by the tool's name.
"""

from __future__ import annotations

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(url: str, token: str, calls: dict[str, dict[str, object]]) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    connection = {"transport": "streamable_http", "url": url, "headers": headers}
    tools = {one.name: one for one in await MultiServerMCPClient({"crib": connection}).get_tools()}
    results = {name: str(await tools[name].ainvoke(given)) for name, given in calls.items()}
    sys.stdout.write(json.dumps({"tools": list(tools), "results": results}))


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
