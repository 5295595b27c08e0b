"""This module puts the routes together: an application that expects a Caller in each scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from toolcrib.errors import ToolcribError
from toolcrib.surfaces.http.invalid import on_invalid
from toolcrib.surfaces.http.places import is_open
from toolcrib.surfaces.http.problems import on_error, on_refusal
from toolcrib.surfaces.http.routes import (
    agents,
    calls,
    capabilities,
    catalogue,
    chats,
    connections,
    documents,
    groups,
    guides,
    health,
    me,
    oauth,
    packages,
    pins,
    plugins,
    secrets,
    servers,
    settings,
    tokens,
    tools,
    users,
    wellknown,
)
from toolcrib.surfaces.http.shapes.problem import Problem

NOUNS = (
    tools,
    agents,
    chats,
    documents,
    calls,
    capabilities,
    groups,
    users,
    tokens,
    settings,
    packages,
    secrets,
    servers,
    connections,
    pins,
    plugins,
    me,
    catalogue,
    guides,
    wellknown,
    oauth,
    health,
)
"""In the order in which paths are matched: what is called most comes first."""

Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]


def rest(*, middleware: Sequence[Middleware] = (), lifespan: Lifespan | None = None) -> FastAPI:
    """The REST application. `app.state.platform` must hold the open platform."""
    app = FastAPI(
        title="Toolcrib",
        summary="The tools of AI agents: registered once, granted, and called from everywhere.",
        version=version("toolcrib"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=list(middleware),
        lifespan=lifespan,
        exception_handlers={
            ToolcribError: on_error,
            HTTPException: on_refusal,
            RequestValidationError: on_invalid,
        },
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )
    for noun in NOUNS:
        app.router.routes.extend(noun.routes.routes)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """OpenAPI knows the form of errors and how to authenticate."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            whole = plain()
            parts = whole.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            whole["security"] = [{"token": []}]
            for path in filter(is_open, whole["paths"]):
                for operation in whole["paths"][path].values():
                    operation["security"] = []
        return app.openapi_schema or {}

    app.openapi = described
