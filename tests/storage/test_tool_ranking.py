"""Tools are found by the words of a query, best first, whatever the query is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.resolution.ranking import Searchable
from toolcrib.storage import FtsRanking

TOOLS = (
    Searchable("create_invoice", description="Make an invoice for a customer.", parameters="sum"),
    Searchable("listInvoices", description="All invoices, newest first."),
    Searchable("get_weather", title="Weather", description="Today's weather in a city."),
    Searchable("refund", description="Give a payment back.", parameters="invoice_id the invoice"),
    Searchable("搜索文档", description="按标题搜索知识库中的文档"),
    Searchable("notify", description="Send a push notification to a user's phone."),
)


async def found(query: str, *, limit: int = 10, offset: int = 0) -> list[str]:
    ranked = await FtsRanking().of(TOOLS)
    return [TOOLS[place].name for place in await ranked.find(query, limit=limit, offset=offset)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("weather", ["get_weather"]),
        ("WEATHER in the city", ["get_weather"]),
        ("make invoice", ["create_invoice", "listInvoices", "refund"]),
        ("invoices", ["create_invoice", "listInvoices", "refund"]),
        ("list invoices", ["listInvoices", "create_invoice", "refund"]),
        ("refund", ["refund"]),
        ("get_weather", ["get_weather"]),
        ("GetWeather", ["get_weather"]),
        ("notif", ["notify"]),
        ("文档", ["搜索文档"]),
        ("知识库", ["搜索文档"]),
        ("quaternion", []),
        ("?!", []),
    ],
)
async def test_words_find_tools(query: str, names: list[str]) -> None:
    """By name, also in its parts, then by description, then by arguments."""
    assert await found(query) == names


async def test_a_tool_of_exactly_that_name_is_first() -> None:
    """However often others say the word."""
    tools = [Searchable(f"run_{n}", description="run run run run") for n in range(5)]
    tools.append(Searchable("run", description="Something else altogether."))
    ranked = await FtsRanking().of(tools)
    assert (await ranked.find("Run", limit=1))[0] == 5


async def test_without_words_all_are_listed_page_by_page() -> None:
    """In their own order."""
    assert await found("") == [tool.name for tool in TOOLS]
    assert await found("  ", limit=2, offset=2) == ["get_weather", "refund"]
    assert await found("", offset=100) == []


async def test_pages_of_a_query_are_disjoint_and_whole() -> None:
    """Together they are what one large page gives."""
    whole = await found("invoice payment user")
    pages = [await found("invoice payment user", limit=1, offset=n) for n in range(len(whole) + 1)]
    assert [name for page in pages for name in page] == whole
    assert len(set(whole)) == len(whole) > 3


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
async def test_any_text_is_a_query(query: str) -> None:
    """Quotes, operators and signs of the search language have no power."""
    names = await found(query)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("query", ['"', "name:refund", "a* OR b", "NEAR(x y)", "-refund", "^get"])
async def test_the_search_language_has_no_power(query: str) -> None:
    """A word in it is a word."""
    assert set(await found(query)) <= {tool.name for tool in TOOLS}


async def test_telling_words_come_before_common_ones_and_all_are_found() -> None:
    """A sentence has words that half of the tools have: they are looked for last."""
    tools = [Searchable(f"common_{n}", description="Keep the ledger.") for n in range(30)]
    tools[17] = Searchable("odd", description="Something about zebras.")
    ranked = await FtsRanking().of(tools)
    first = await ranked.find("i want zebra or ledger x", limit=3)
    assert first[0] == 17
    assert len(first) == 3
    whole = await ranked.find("i want zebra or ledger x", limit=100)
    assert sorted(whole) == list(range(30))


async def test_many_tools_are_searched_in_a_thread_and_prepared_once() -> None:
    """The same tools are the same index."""
    ranking = FtsRanking()
    tools = [
        Searchable(f"tool_{n}", description=f"Does the thing number {n}.") for n in range(2000)
    ]
    ranked = await ranking.of(tools)
    assert await ranking.of(list(tools)) is ranked
    assert list(await ranked.find("tool 1234", limit=1)) == [1234]
