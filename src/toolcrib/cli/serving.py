"""This module runs the ASGI app under uvicorn, in this process or in several."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import structlog
import uvicorn

from toolcrib.cli.environment import read_settings
from toolcrib.cli.logs import configure
from toolcrib.cli.stopping import LONGEST, Stop, unready
from toolcrib.errors import SetupError

if TYPE_CHECKING:
    import socket

    from toolcrib.settings import Settings

_log = structlog.get_logger(__name__)
_GRACE = 10
"""Seconds that requests in flight have when the server is stopped."""
_BEGUN = 3.0
"""Seconds that a start has to come to its end, so that it can be ended in order."""
_ALIVE = 20
"""Seconds within which a worker must show that it lives; one that starts is busy with itself."""


class Server(uvicorn.Server):
    """One that hears of signals through a Stop from its beginning on, and ends while it starts."""

    def __init__(self, config: uvicorn.Config, stop: Stop) -> None:
        super().__init__(config)
        stop.tell(self.handle_exit)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """They are heard already, and stay so: whatever comes while it ends breaks nothing off."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self.should_exit:
            return
        starting = asyncio.create_task(super().startup(sockets))  # noqa: TID251 - awaited below
        while not (starting.done() or self.should_exit):
            await asyncio.wait({starting}, timeout=0.1)
        await asyncio.wait({starting}, timeout=_BEGUN)
        if starting.done():
            await starting
            return
        self.lifespan.startup_failed = True  # no error that has to be logged
        starting.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        in_flight = len(self.server_state.tasks)
        if in_flight and not self.force_exit:
            words = "requests in flight get their time to end; a second Ctrl-C breaks them off"
            _log.info(words, requests=in_flight, seconds=_GRACE)
        await super().shutdown(sockets)
        if self.force_exit:  # requests were not waited for; the rest ends in order all the same
            await self.lifespan.shutdown()


def run(settings: Settings, taken: socket.socket, stop: Stop) -> None:
    """Serve on the socket until a signal says stop."""
    configure(level=settings.log_level, form=settings.log_format)
    config = _config(settings)
    if stop.asked:
        return
    if settings.workers > 1:
        _supervise(config, taken, stop)
        return
    try:
        Server(config, stop).run(sockets=[taken])
    except SystemExit:
        raise SetupError(
            "The server could not start; the lines above say why.",
            hint="`toolcrib doctor` looks at the whole installation.",
        ) from None


def _supervise(config: uvicorn.Config, taken: socket.socket, stop: Stop) -> None:
    from uvicorn.supervisors import Multiprocess  # noqa: PLC0415 - several processes only

    supervisor = Multiprocess(config, sockets=[taken])

    def hear(number: int, _: object) -> None:
        supervisor.signal_queue.append(number)
        for worker in supervisor.processes:
            with suppress(OSError):  # it may be waiting for one to show that it lives
                worker.child_conn.send(True)

    stop.listen()
    stop.tell(hear)
    supervisor.run()


def _config(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        "toolcrib.cli.serving:application",
        factory=True,
        loop="uvloop",
        http="toolcrib.asgi.joining:JoiningProtocol",
        ws="none",
        lifespan="on",
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_ALIVE,
    )


def application() -> Any:
    """The app of one worker process. A new process knows nothing yet, not even how to log."""
    worker = multiprocessing.parent_process() is not None
    with unready(LONGEST - 5) if worker else nullcontext():
        from toolcrib.asgi import create_app  # noqa: PLC0415

        settings = read_settings()
        configure(level=settings.log_level, form=settings.log_format)
        make: Callable[[], Any] = create_app
        return make()
