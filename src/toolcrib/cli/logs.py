"""This module sends every log line of the process to stderr: one form, whoever wrote it.

Lines of our own (structlog) and of libraries (logging) pass the same processors. Requests are not
logged: a query string or a header may hold a secret. What libraries say at `debug` is left out: a
database driver shows rows there, a client its headers. Should a token of ours reach a line all the
same, it is blotted out there.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import TYPE_CHECKING, Literal

import structlog
from structlog.stdlib import ProcessorFormatter

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger

    from toolcrib.settings import Settings

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["console", "json"]
_TOKEN = re.compile(r"tcrib_[A-Za-z0-9_-]{8,}")
_CHATTY = ("aiosqlite", "alembic", "asyncio", "httpcore", "httpx", "uvicorn.error")
_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)


def configure(*, level: Level, form: Format) -> None:
    """Set the process's logging up; a second call replaces the first."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(form))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel("INFO" if level == "debug" else level.upper())
    logging.getLogger("toolcrib").setLevel(level.upper())
    for name in _CHATTY:
        logging.getLogger(name).setLevel("ERROR" if level == "error" else "WARNING")
    logging.getLogger("uvicorn.access").disabled = True
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def configure_errand(settings: Settings) -> None:
    """For a command that ends soon: what is worth a warning, and all of it while debugging.

    That a plugin fails is no news to most commands: `plugins check` shows where.
    """
    level: Level = "debug" if settings.log_level == "debug" else "warning"
    configure(level=level, form=settings.log_format)
    if level != "debug":
        for handler in logging.getLogger().handlers:
            handler.addFilter(_shortly)


def _shortly(record: logging.LogRecord) -> bool:
    if record.name.startswith("toolcrib.plugin."):
        record.exc_info = None
    return True


def _formatter(form: Format) -> ProcessorFormatter:
    if form == "json":
        ending: list[Processor] = [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ]
    else:
        ending = [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
    return ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[ProcessorFormatter.remove_processors_meta, *ending, _without_tokens],
    )


def _without_tokens(logger: WrappedLogger, method: str, line: EventDict) -> str:
    return _TOKEN.sub("tcrib_***", str(line))
