"""Search tools against a look-alike of Serper on loopback, and pages read from it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.chatting import Office, Talk, open_office
from toolcrib.settings import Settings
from toolcrib.testing.replies import answer, json_answer
from toolcrib.testing.upstream import RecordingUpstream

KEY = "serper-key-of-ada-0123"
FOUND: dict[str, Any] = {
    "answerBox": {"title": "Boats", "answer": "They float.", "link": "https://a.example"},
    "organic": [
        {"title": "One", "link": "https://one.example", "snippet": "first", "position": 1},
        {"title": "Two", "link": "https://two.example", "snippet": "second", "date": "May 1"},
        {"title": "Three", "link": "https://three.example", "snippet": "third"},
        "not a result",
    ],
    "credits": 1,
}
PAGE = b"""<!doctype html><html><head><title> A &amp; B </title><style>p{}</style></head>
<body><script>alert(1)</script><h1>Heading</h1><p>First   line<br>second</p>
<ul><li>a</li><li>b</li></ul></body></html>"""
HTML = [("Content-Type", "text/html; charset=utf-8")]


@pytest.fixture
async def upstream() -> AsyncGenerator[RecordingUpstream]:
    async with RecordingUpstream() as opened:
        opened.reply("/search", json_answer(FOUND))
        yield opened


@pytest.fixture
async def office(settings: Settings, upstream: RecordingUpstream) -> AsyncGenerator[Office]:
    chosen = settings.model_copy(
        update={"egress_allow": (upstream.place,), "serper_url": upstream.url("/")}
    )
    codes = ["search", "web_search_google_serper", "generic_api_requests", "base"]
    async with open_office(chosen, codes) as opened:
        yield opened


@pytest.fixture
async def talk(office: Office) -> Talk:
    return await office.talk(await office.person("ada"))


async def give_key(talk: Talk) -> None:
    answer = await talk.who.api.put("/api/v1/settings/SERPER_API_KEY", json={"value": KEY})
    assert answer.is_success, answer.text


async def test_a_search(talk: Talk, upstream: RecordingUpstream) -> None:
    """The key goes in a header; titles, addresses and snippets come back."""
    await give_key(talk)
    assert await talk.ok("web_search", query="boats", num_results=2) == {
        "query": "boats",
        "results": [
            {"title": "One", "url": "https://one.example", "snippet": "first"},
            {"title": "Two", "url": "https://two.example", "snippet": "second", "date": "May 1"},
        ],
        "answer": {"title": "Boats", "text": "They float.", "url": "https://a.example"},
    }
    (sent,) = upstream.requests
    assert (sent.method, sent.target, sent.header("X-API-KEY")) == ("POST", "/search", KEY)
    assert json.loads(sent.body) == {"q": "boats", "num": 2}


async def test_images(talk: Talk, upstream: RecordingUpstream) -> None:
    """Addresses of images and of the pages that show them."""
    await give_key(talk)
    row = {"title": "Cat", "imageUrl": "https://i.example/c.png", "link": "https://c.example"}
    upstream.reply("/images", json_answer({"images": [{**row, "imageWidth": 40}]}))
    assert await talk.ok("image_search", query="cat") == {
        "query": "cat",
        "images": [
            {
                "title": "Cat",
                "image_url": "https://i.example/c.png",
                "width": 40,
                "page_url": "https://c.example",
            }
        ],
    }


async def test_without_a_key(office: Office, talk: Talk, upstream: RecordingUpstream) -> None:
    """The code that is named after the service is absent; a search says what to set."""
    code, words = await talk.failed("web_search", query="boats")
    assert code == "secret_missing"
    assert "PUT /api/v1/settings/SERPER_API_KEY" in words
    assert upstream.requests == []
    path = f"/api/v1/agents/{office.agent}/tools"
    before = (await talk.who.api.get(path)).json()
    assert [skip["ref"] for skip in before["skipped"]] == ["native:web_search_google_serper"]
    await give_key(talk)
    after = (await talk.who.api.get(path)).json()
    assert after["skipped"] == []
    names = [tool["name"] for tool in after["tools"]]
    assert names.count("web_search") == 1


@pytest.mark.parametrize(
    ("status", "words"), [(403, "refused the key"), (500, "answered HTTP 500")]
)
async def test_a_service_that_refuses(
    talk: Talk, upstream: RecordingUpstream, status: int, words: str
) -> None:
    """Said in words; the key is in none of them."""
    await give_key(talk)
    upstream.reply("/search", json_answer({"message": f"bad key {KEY}"}, status=status))
    code, message = await talk.failed("web_search", query="boats")
    assert code == "tool_error"
    assert words in message
    assert KEY not in message


async def test_a_key_that_may_go_elsewhere_only(talk: Talk, upstream: RecordingUpstream) -> None:
    """A setting with hosts is sent to no other place."""
    body = {"value": KEY, "hosts": ["google.serper.dev"]}
    await talk.who.api.put("/api/v1/settings/SERPER_API_KEY", json=body)
    code, words = await talk.failed("web_search", query="boats")
    assert code == "blocked"
    assert "may go to google.serper.dev only" in words
    assert upstream.requests == []


async def test_a_page_as_text(talk: Talk, upstream: RecordingUpstream) -> None:
    """Without scripts and styles, a line for each block; two tools read alike."""
    upstream.reply("/page", answer(body=PAGE, headers=HTML))
    page = {
        "url": upstream.url("/page"),
        "title": "A & B",
        "text": "Heading\n\nFirst line\nsecond\n\na\n\nb",
        "truncated": False,
    }
    assert await talk.ok("scrape_webpage", urls=upstream.url("/page")) == {"pages": [page]}
    assert await talk.ok("read_content_of_url", url=upstream.url("/page")) == page


async def test_several_pages(talk: Talk, upstream: RecordingUpstream) -> None:
    """One that fails does not hide the others."""
    upstream.reply("/page", answer(body=PAGE, headers=HTML))
    upstream.reply("/gone", answer(404))
    urls = f"{upstream.url('/page')}, {upstream.url('/gone')}, https://127.0.0.1:9/x"
    pages = (await talk.ok("scrape_webpage", urls=urls))["pages"]
    assert pages[0]["title"] == "A & B"
    assert pages[1]["error"] == f"{upstream.url('/gone')} answered HTTP 404."
    assert "loopback" in pages[2]["error"]
    _, words = await talk.failed("scrape_webpage", urls=",".join(f"https://{n}" for n in "abcdef"))
    assert words == "Give one to 5 addresses, not 6."


async def test_what_is_no_text(talk: Talk, upstream: RecordingUpstream) -> None:
    """Bytes are refused by their type, long texts are cut."""
    png = answer(body=b"\x89PNG", headers=[("Content-Type", "image/png")])
    upstream.reply("/cat.png", png)
    code, words = await talk.failed("read_content_of_url", url=upstream.url("/cat.png"))
    assert (code, words) == (
        "tool_error",
        f"{upstream.url('/cat.png')} is image/png, which is no text.",
    )
    upstream.reply("/long", answer(body=b"x" * 60_000))
    page = await talk.ok("read_content_of_url", url=upstream.url("/long"))
    assert (len(page["text"]), page["truncated"]) == (50_000, True)


async def test_requests_get(talk: Talk, upstream: RecordingUpstream) -> None:
    """The body as it came; the guard stands before private places, whatever the model asks."""
    upstream.reply("/api", json_answer({"a": 1}))
    assert await talk.ok("requests_get", url=upstream.url("/api")) == '{"a": 1}'
    upstream.reply("/no", json_answer({"why": "no"}, status=418))
    assert await talk.failed("requests_get", url=upstream.url("/no")) == (
        "tool_error",
        'HTTP 418: {"why": "no"}',
    )
    for url in ("http://169.254.169.254/latest", "https://127.0.0.1:1/", "file:///etc/passwd"):
        code, _ = await talk.failed("requests_get", url=url)
        assert code in {"blocked", "invalid_arguments"}, url
