"""This module runs the ASGI app under uvicorn, in this process or in several."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn

from toolcrib.cli.environment import read_settings
from toolcrib.cli.logs import configure
from toolcrib.errors import SetupError

if TYPE_CHECKING:
    import socket

    from toolcrib.settings import Settings

_GRACE = 10
"""Seconds that requests in flight have when the server is stopped."""


def run(settings: Settings, taken: socket.socket) -> None:
    """Serve on the socket until a signal says stop."""
    configure(level=settings.log_level, form=settings.log_format)
    config = _config(settings)
    if settings.workers > 1:
        from uvicorn.supervisors import Multiprocess  # noqa: PLC0415 - several processes only

        Multiprocess(config, sockets=[taken]).run()
        return
    # uvicorn raises the signal again once everything has ended in order: let both end alike.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        uvicorn.Server(config).run(sockets=[taken])
    except KeyboardInterrupt:
        return
    except SystemExit:
        raise SetupError(
            "The server could not start; the lines above say why.",
            hint="`toolcrib doctor` looks at the whole installation.",
        ) from None


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
    )


def application() -> Any:
    """The app of one worker process. A new process knows nothing yet, not even how to log."""
    from toolcrib.asgi import create_app  # noqa: PLC0415

    settings = read_settings()
    configure(level=settings.log_level, form=settings.log_format)
    make: Callable[[], Any] = create_app
    return make()
