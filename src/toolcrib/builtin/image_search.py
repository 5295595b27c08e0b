"""This module searches for images."""

from __future__ import annotations

from toolcrib.builtin import serper
from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

_IMAGE = {
    "title": "title",
    "image_url": "imageUrl",
    "width": "imageWidth",
    "height": "imageHeight",
    "page_url": "link",
    "source": "source",
}
GUIDE = f"""
`image_search` gives addresses of images with the pages that show them. Say what is on the picture,
not what it is for. The licence is the page's: name the page wherever you use an image.

It needs the setting {serper.KEY} of the user or the group.
"""


@tool_metadata(
    "Image search",
    "Find images on the web",
    icon="image",
    color="green",
    weight=50,
    visible=True,
    usage_guide=GUIDE,
    category="search",
)
class SandboxImageSearchTool(BuiltIn):
    """Google images by Serper's interface."""

    @method_metadata("Search images", "Finds images of something")
    @annotations(read_only=True)
    @openapi_schema(name="image_search", description="Find images on the web, with their pages.")
    @param("query", "string", "What is on them", required=True, minLength=1, maxLength=2000)
    @param("num_results", "integer", "How many images", default=12, minimum=1, maximum=50)
    @answers
    async def image_search(self, query: str, num_results: int = 12) -> ToolResult:
        found = await serper.ask(self, "/images", query, num_results)
        images = [serper.chosen(row, _IMAGE) for row in serper.rows(found, "images")]
        return self.success_response({"query": query, "images": images[:num_results]})
