"""This module tells a load balancer whether the process lives and whether it can serve."""

from __future__ import annotations

from fastapi import APIRouter

from toolcrib.errors import SetupError
from toolcrib.surfaces.http.asking import ThePlatform
from toolcrib.surfaces.http.problems import Refusal
from toolcrib.surfaces.http.shapes.problem import RESPONSES

routes = APIRouter(tags=["health"], generate_unique_id_function=lambda route: route.name)


@routes.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process lives. Needs no token."""
    return {"status": "ok"}


@routes.get("/readyz", responses={503: RESPONSES["5XX"]})
async def readyz(platform: ThePlatform) -> dict[str, str]:
    """Plugins were loaded and the database answers. Needs no token."""
    if not platform.ready:
        raise Refusal(503, "Plugins are being loaded.", hint="Try again in a moment.")
    try:
        await platform.storage.ping()
    except SetupError:
        raise Refusal(503, "The database does not answer.") from None
    return {"status": "ready"}
