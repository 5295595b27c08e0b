"""This module fetches any public address, through the guard."""

from __future__ import annotations

from toolcrib.builtin.pages import LONGEST
from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

GUIDE = """
`requests_get` answers the body of a GET request as it came: use it for APIs that need no key. For
pages that people read, `read_content_of_url` or `scrape_webpage` give plain text. Only public
`https` addresses can be reached, unless the operator allows others.
"""


@tool_metadata(
    "Web requests",
    "Fetch a public address",
    icon="globe",
    color="green",
    weight=60,
    visible=True,
    usage_guide=GUIDE,
    category="utility",
)
class ApiRequestsTool(BuiltIn):
    """GET requests without credentials."""

    @method_metadata("GET request", "Fetches an address")
    @annotations(read_only=True, open_world=True)
    @openapi_schema(
        name="requests_get", description="Send a GET request; answers the body as text."
    )
    @param("url", "string", "The address, with https://", required=True, minLength=1)
    @answers
    async def requests_get(self, url: str) -> ToolResult:
        answer = await self.lent.web.request("GET", url.strip(), follow_redirects=True)
        text = answer.text()
        cut = answer.truncated or len(text) > LONGEST
        text = f"{text[:LONGEST]}\n[cut]" if cut else text
        if not answer.ok:
            return self.fail_response(f"HTTP {answer.status}: {text[:2000]}")
        return self.success_response(text)
