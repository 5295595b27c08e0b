"""This program is an MCP server on stdin and stdout that lists what a file says at that moment.

The file is its argument: a JSON array of tools. The server never says that its list changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "changing", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))}
    text = json.dumps(params.get("arguments") or {})
    return {"content": [{"type": "text", "text": text}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    whole = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] in {"initialize", "tools/list", "tools/call"}:
        whole["result"] = answer(message["method"], message.get("params") or {})
    else:
        whole["error"] = {"code": -32601, "message": "no such method"}
    sys.stdout.write(json.dumps(whole) + "\n")
    sys.stdout.flush()
