"""This module searches the web and reads pages."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.builtin import serper
from toolcrib.builtin.pages import read_page
from toolcrib.builtin.tool import BuiltIn, answers
from toolcrib.errors import ToolcribError
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

MOST_PAGES = 5
_RESULT = {"title": "title", "url": "link", "snippet": "snippet", "date": "date"}
_ANSWER = {"title": "title", "text": "answer", "snippet": "snippet", "url": "link"}
GUIDE = f"""
Search first, then read: `web_search` gives titles, addresses and snippets, `scrape_webpage` the
text of up to {MOST_PAGES} of those addresses at once. A snippet is no evidence; quote only what you
have read, with its address.

Ask short questions with the words that the page would use, one thing at a time. When nothing
useful comes, change the words, not the number of results.

`web_search` needs the setting {serper.KEY} of the user or the group. `scrape_webpage` needs none.
Addresses inside private networks are refused.
"""


@tool_metadata(
    "Web search",
    "Search the web and read pages",
    icon="search",
    color="green",
    weight=40,
    visible=True,
    usage_guide=GUIDE,
    category="search",
)
class SandboxWebSearchTool(BuiltIn):
    """Google results by Serper's interface, pages by our own reader."""

    @method_metadata("Search the web", "Finds pages about something")
    @annotations(read_only=True)
    @openapi_schema(
        name="web_search", description="Search the web. Answers titles, addresses, snippets."
    )
    @param("query", "string", "What to look for", required=True, minLength=1, maxLength=2000)
    @param("num_results", "integer", "How many results", default=10, minimum=1, maximum=50)
    @answers
    async def web_search(self, query: str, num_results: int = 10) -> ToolResult:
        found = await serper.ask(self, "/search", query, num_results)
        results = [serper.chosen(row, _RESULT) for row in serper.rows(found, "organic")]
        answer: dict[str, Any] = {"query": query, "results": results[:num_results]}
        if isinstance(found.get("answerBox"), dict):
            answer["answer"] = serper.chosen(found["answerBox"], _ANSWER)
        return self.success_response(answer)

    @method_metadata("Read web pages", "Reads the text of pages")
    @annotations(read_only=True)
    @openapi_schema(name="scrape_webpage", description="Read web pages as plain text.")
    @param(
        "urls",
        "string",
        f"Addresses, with commas between them; at most {MOST_PAGES}",
        required=True,
    )
    @answers
    async def scrape_webpage(self, urls: str) -> ToolResult:
        wanted = list(dict.fromkeys(url.strip() for url in urls.split(",") if url.strip()))
        if not 1 <= len(wanted) <= MOST_PAGES:
            return self.fail_response(f"Give one to {MOST_PAGES} addresses, not {len(wanted)}.")
        if len(wanted) == 1:
            page = await read_page(self.lent.web, wanted[0])
            return self.success_response({"pages": [page.as_json()]})
        pages = await asyncio.gather(*map(self._page, wanted))
        if all("error" in page for page in pages):
            return self.fail_response("; ".join(str(page["error"]) for page in pages))
        return self.success_response({"pages": pages})

    async def _page(self, url: str) -> dict[str, Any]:
        """Of several pages one that fails does not hide the others."""
        try:
            return dict((await read_page(self.lent.web, url)).as_json())
        except ToolcribError as error:
            return {"url": url, "error": str(error)}
