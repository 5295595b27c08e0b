"""This module serves what an assistant reads to write packages: schemas and a guide. No token."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from fastapi import Response

from toolcrib.sources.http.package_schema import package_schema
from toolcrib.sources.http.rules import PACKAGE
from toolcrib.surfaces.http.asking import ThePlatform, router
from toolcrib.surfaces.http.writing import Json

routes = router("guides", "")
EXAMPLE = {
    "slug": "knowledge_search",
    "name": "Knowledge Search",
    "description": "Searches the approved knowledge base. Read-only. Returns matching passages.",
    "type": "http",
    "config": {
        "url": "{{KB_SEARCH_URL}}",
        "method": "GET",
        "headers": {"X-API-Key": "{{KB_API_KEY}}", "Accept": "application/json"},
        "timeout": 20,
    },
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look up"}},
        "required": ["query"],
    },
}


@routes.get("/schemas/package.json", response_class=Response)
async def package() -> Response:
    """The JSON Schema of a package."""
    return Json(package_schema(), media_type="application/schema+json")


@routes.get("/llms.txt", response_class=Response)
async def llms(platform: ThePlatform) -> Response:
    """How an assistant writes a package that installs and works."""
    settings = platform.settings
    here = settings.public_url.rstrip("/") or f"http://{settings.host}:{settings.port}"
    guide = _guide(here, tuple(platform.package_kinds))
    return Response(guide, media_type="text/plain; charset=utf-8")


@cache
def _guide(public_url: str, kinds: tuple[str, ...]) -> str:
    template = files("toolcrib.surfaces.http").joinpath("guides/llms.txt").read_text("utf-8")
    return template.format(
        public_url=public_url,
        types=", ".join(f"`{name}`" for name in kinds),
        methods=", ".join(PACKAGE.methods),
        example=f"```json\n{json.dumps(EXAMPLE, indent=2)}\n```",
    )
