"""This module serves the Tool Manager's packages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Path, Response

from toolcrib.desk.package_views import PackageView
from toolcrib.surfaces.http.asking import (
    NO_CONTENT,
    TheCaller,
    TheDesk,
    Version,
    router,
    versioned,
)
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.problems import Refusal
from toolcrib.surfaces.http.shapes.fields import JsonObject, PageOf
from toolcrib.surfaces.http.shapes.packages import (
    InstalledAnswer,
    PackagePreviewAnswer,
    PackageRow,
    PackageTestBody,
)
from toolcrib.surfaces.http.shapes.tools import CallAnswer, call_answer
from toolcrib.surfaces.http.writing import Json

routes = router("packages", "/admin/tools")
Slug = Annotated[str, Path(max_length=64)]
Document = Annotated[
    Any, Body(description="The package: a JSON object.", json_schema_extra={"type": "object"})
]


@routes.post("/install", status_code=201)
async def install(
    document: Document, caller: TheCaller, desk: TheDesk, response: Response
) -> InstalledAnswer:
    """Install a package. One that is there already stays as it is (409)."""
    made = await desk.packages.install(caller, _object(document))
    versioned(response, made.view.package.version)
    return InstalledAnswer.of(made)


@routes.post("/preview")
async def preview(document: Document, caller: TheCaller, desk: TheDesk) -> PackagePreviewAnswer:
    """What an install of this package, or of the one at `{"url"}`, would do. Nothing is stored."""
    return PackagePreviewAnswer.of(await desk.packages.preview(caller, _object(document)))


@routes.get("", response_model=PageOf[PackageRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """The installed packages, by slug."""
    rows = await desk.packages.list(caller, after=asked.after_text() or "", limit=asked.wanted)
    return page(rows, asked, PackageRow.of, lambda row: row.package.slug)


@routes.get("/{slug}")
async def show(slug: Slug, caller: TheCaller, desk: TheDesk, response: Response) -> PackageRow:
    """One package."""
    return _row(await desk.packages.get(caller, slug), response)


@routes.put("/{slug}")
async def replace(
    slug: Slug,
    document: Document,
    caller: TheCaller,
    desk: TheDesk,
    version: Version,
    response: Response,
) -> InstalledAnswer:
    """Put another definition under the slug, on purpose; grants stay."""
    made = await desk.packages.replace(caller, slug, _object(document), expected_version=version)
    versioned(response, made.view.package.version)
    return InstalledAnswer.of(made)


@routes.delete("/{slug}", **NO_CONTENT)
async def delete(slug: Slug, caller: TheCaller, desk: TheDesk, version: Version) -> None:
    """Remove the package, and it from agents and capabilities; secrets stay."""
    await desk.packages.delete(caller, slug, expected_version=version)


@routes.post("/{slug}/enable")
async def enable(slug: Slug, caller: TheCaller, desk: TheDesk, response: Response) -> PackageRow:
    return _row(await desk.packages.switch(caller, slug, enabled=True), response)


@routes.post("/{slug}/disable")
async def disable(slug: Slug, caller: TheCaller, desk: TheDesk, response: Response) -> PackageRow:
    return _row(await desk.packages.switch(caller, slug, enabled=False), response)


@routes.post("/{slug}/test", response_model=CallAnswer)
async def try_it(
    slug: Slug, caller: TheCaller, desk: TheDesk, body: PackageTestBody | None = None
) -> Response:
    """Call the package's tool for real and keep how it went as `last_test`."""
    arguments = None if body is None else body.arguments
    return Json(call_answer(await desk.packages.test(caller, slug, arguments)))


def _row(view: PackageView, response: Response) -> PackageRow:
    versioned(response, view.package.version)
    return PackageRow.of(view)


def _object(document: Any) -> JsonObject:
    if not isinstance(document, dict):
        raise Refusal(400, "The body must be a JSON object.", code="invalid_json")
    return document  # type: ignore[reportUnknownVariableType] - keys of JSON objects are text
