"""This program is an MCP server on stdin and stdout that says what its script (`mcp_script`) says.

Beside the script it takes `"does"`: a list of
"ignore_term", "ignore_eof", "child" (holds the pipes), "stranger" (a child in a session of its own,
which holds them too), "deaf" (reads nothing after the list), "loud" (floods stderr).
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mcp_script import Script, Step, repeated

given: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
does: list[str] = given.get("does", [])
script = Script(given)
lock = threading.Lock()


def write(data: bytes) -> None:
    with lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def do(steps: list[Step]) -> None:
    for step in steps:
        for one in repeated(step):
            do_one(one)


def do_one(step: Step) -> None:
    if "raw" in step:
        write(step["raw"].encode("utf-8", "surrogatepass"))
    elif "base64" in step:
        write(base64.b64decode(step["base64"]))
    elif "wait" in step:
        time.sleep(step["wait"])
    elif "exit" in step:
        os._exit(step["exit"])
    elif "kill" in step:
        os.kill(os.getpid(), step["kill"])
    elif "close" in step:
        os.close(1)
    elif "jsonrpc" in step:
        write(json.dumps(step).encode() + b"\n")


def sleeper() -> list[str]:
    return [sys.executable, "-c", "import time; time.sleep(600)"]


def flood() -> None:
    while True:
        sys.stderr.write("x" * 4096)


if "ignore_term" in does:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "child" in does:
    subprocess.Popen(sleeper())
if "stranger" in does:
    subprocess.Popen(sleeper(), start_new_session=True)
if "loud" in does:
    threading.Thread(target=flood, daemon=True).start()
do(script.first)
for line in sys.stdin:
    message = json.loads(line)
    steps = script.steps(message)
    if any("wait" in step for step in steps):
        threading.Thread(target=do, args=(steps,), daemon=True).start()
    else:
        do(steps)
    if "deaf" in does and message.get("method") == "tools/list":
        time.sleep(600)
while "ignore_eof" in does:
    time.sleep(1)
