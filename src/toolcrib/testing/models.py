"""This module is a language model that follows a script, for tests that need no vendor.

It answers on loopback in the wire formats of OpenAI (chat completions and responses) and
Anthropic (messages), streamed or not, and keeps every request:

    with ScriptedModel([ToolCall("greet", {"name": "Ada"}), "It said: {tool_result}"]) as model:
        llm = ChatOpenAI(model="scripted", base_url=model.openai_url, api_key="unused")
        ...
        assert model.requests[0].tool_names == ["greet"]
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

from toolcrib.testing.wires import WIRES, CannotSay, Reply, Wire, WireCall


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model calls a tool. Text as arguments is sent as it is, JSON or not."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict[str, Any])


Step = str | ToolCall | Sequence[ToolCall]
"""What the model says next: a text, in which `{tool_result}` stands for the last tool's result,
one tool call, or several at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: Mapping[str, Any]
    wire: Wire = field(repr=False)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as this vendor spells them, hosted servers included."""
        return cast("list[dict[str, Any]]", self.body.get("tools") or [])

    @property
    def tool_names(self) -> list[str]:
        """The names of the functions among them."""
        return [name for tool in self.tools if (name := self.wire.name_of(tool))]

    @property
    def tool_results(self) -> list[str]:
        """The texts of all tool results in the conversation, oldest first."""
        return self.wire.results_of(self.body)


class ScriptedModel:
    """`with` or `async with` starts and ends it; it runs in a thread of its own."""

    def __init__(self, script: Sequence[Step]) -> None:
        self.requests: list[ModelRequest] = []
        self._left = list(script)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("The scripted model is not started: use it in a with statement.")
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openai_url(self) -> str:
        """`base_url` for OpenAI clients."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """`base_url` for Anthropic clients."""
        return self.url

    @property
    def left(self) -> int:
        """How many steps the script still has."""
        return len(self._left)

    def start(self) -> None:
        self._server = _Server(self)
        threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="scripted-model", daemon=True
        ).start()

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.hang_up()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def answer(self, request: ModelRequest) -> Reply | None:
        """The next step as a reply; None when the script has ended."""
        with self._lock:
            self.requests.append(request)
            if not self._left:
                return None
            step = self._left.pop(0)
            number = next(self._numbers)
        reply = Reply(id=str(number), model=str(request.body.get("model") or "scripted"))
        if isinstance(step, str):
            results = request.tool_results
            text = step.replace("{tool_result}", results[-1] if results else "")
            return replace(reply, text=text)
        calls = [step] if isinstance(step, ToolCall) else step
        return replace(
            reply,
            calls=tuple(
                WireCall(id=f"call_{number}_{place}", name=call.name, arguments=_text(call))
                for place, call in enumerate(calls, 1)
            ),
        )


def _text(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.connections: set[socket.socket] = set()

    def hang_up(self) -> None:
        """End the connections that clients keep alive."""
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Nothing is printed: the requests are kept."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        wire = WIRES.get(path.removeprefix("/v1"))
        if wire is None:
            self._send_json({"error": {"message": f"The scripted model has no {path}."}}, 404)
            return
        request = ModelRequest(
            path=path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=json.loads(body),
            wire=wire,
        )
        try:
            self._answer(request)
        except CannotSay as error:
            self._send_json(wire.refusal(str(error)), 400)

    def _answer(self, request: ModelRequest) -> None:
        model, wire, body = self.server.model, request.wire, request.body
        reply = model.answer(request)
        if reply is None:
            raise CannotSay(f"The script has ended: this is request {len(model.requests)}.")
        if body.get("stream"):
            self._send("text/event-stream", wire.stream(reply, body).encode())
        else:
            self._send_json(wire.whole(reply, body))

    def _send_json(self, value: object, status: int = 200) -> None:
        self._send("application/json", json.dumps(value).encode(), status)

    def _send(self, kind: str, body: bytes, status: int = 200) -> None:
        head = (
            f"HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.wfile.write(head.encode() + body)
