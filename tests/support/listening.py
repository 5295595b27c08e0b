"""This module lets an application listen on a real socket, on a port of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn


class Server(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(self, app: object) -> None:
        config = uvicorn.Config(
            app,  # type: ignore[arg-type]
            host="127.0.0.1",
            port=0,
            http="toolcrib.asgi.joining:JoiningProtocol",
            log_level="critical",
        )
        super().__init__(config)
        self.listens = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@asynccontextmanager
async def listening(app: object, place: socket.socket | None = None) -> AsyncGenerator[str]:
    """The address of a server of this application; `place` where it must be known before."""
    server = Server(app)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[place] if place else None))
        async with asyncio.timeout(30):
            await server.listens.wait()
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
