"""This program is an MCP server on stdin and stdout that behaves as its argument (JSON) says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

behaviour: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
lock = threading.Lock()
NAMES = ("echo", "slow", "exit", "environment")


def write(text: str) -> None:
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(message: dict[str, Any]) -> None:
    if behaviour.get("noise"):
        write("starting up, hello")
        write('{"half": ')
    write(json.dumps({"jsonrpc": "2.0", **message}))


def flood() -> None:
    stream = sys.stdout if behaviour["flood"] == "stdout" else sys.stderr
    while True:
        stream.write("x" * 1000 + "\n")


def slow(number: Any, token: Any) -> None:
    for step in range(100):
        params = {"progressToken": token, "progress": step}
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
        time.sleep(0.1)
    answer(number, "done")


def answer(number: Any, words: str) -> None:
    send({"id": number, "result": {"content": [{"type": "text", "text": words}]}})


def call(number: Any, params: dict[str, Any]) -> None:
    name, arguments = params["name"], params.get("arguments") or {}
    if behaviour.get("results"):
        send({"id": number, "result": behaviour["results"].pop(0)})
    elif name == "slow":
        token = (params.get("_meta") or {}).get("progressToken")
        threading.Thread(target=slow, args=(number, token), daemon=True).start()
    elif name == "exit" and behaviour.get("exit_on_call"):
        os._exit(4)
    elif name == "environment":
        answer(number, json.dumps(sorted(os.environ)))
    else:
        answer(number, str(arguments.get("s", "ok")))


def hear(message: dict[str, Any]) -> None:
    number, method = message.get("id"), message.get("method")
    params = message.get("params") or {}
    if os.environ.get("LOG"):
        with open(os.environ["LOG"], "a") as log:  # noqa: PTH123 - a program of its own
            log.write(json.dumps({"method": method}) + "\n")
    if number is None or method is None:
        return
    if method == "initialize":
        if behaviour.get("never_initialize"):
            return
        send(
            {
                "id": number,
                "result": {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "made-up", "version": "1"},
                },
            }
        )
        if behaviour.get("flood"):
            threading.Thread(target=flood, daemon=True).start()
        if behaviour.get("long_line"):
            write("y" * (20 * 1024 * 1024))
    elif method == "tools/list" and "pages" in behaviour:
        send({"id": number, "result": behaviour["pages"][params.get("cursor") or ""]})
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]
        send({"id": number, "result": {"tools": tools}})
    elif method == "tools/call":
        call(number, params)
    else:
        send({"id": number, "error": {"code": -32601, "message": "no such method"}})


if behaviour.get("ignore_term"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if behaviour.get("say"):
    sys.stderr.write(behaviour["say"] + "\n")
    sys.stderr.flush()
if behaviour.get("child"):
    code = f"import time; {sys.argv[0]!r}; time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code, sys.argv[0]])
if "exit_before" in behaviour:
    sys.exit(behaviour["exit_before"])
for line in sys.stdin:
    hear(json.loads(line))
while behaviour.get("ignore_eof"):
    time.sleep(1)
