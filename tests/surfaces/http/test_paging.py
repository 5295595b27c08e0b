"""Pages: every item once, in order, and cursors that cannot be made up."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.crib import Crib, problem_of
from tests.support.tenants import Tenants
from toolcrib.errors import InvalidRequest
from toolcrib.surfaces.http.paging import Paging, page

ANYTHING = re.compile(r".*", re.DOTALL)


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


async def test_pages_hold_every_item_once(crib: Crib) -> None:
    """However many items there are, the last page says that it is the last."""
    api = (await crib.somebody(1)).api
    names = [f"group {n}" for n in range(5)]
    for name in names:
        await api.post("/api/v1/groups", json={"name": name})

    for limit, sizes in ((1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (5, [5]), (200, [5])):
        seen: list[str] = []
        found: list[int] = []
        cursor: str | None = ""
        while cursor is not None:
            query = {"limit": limit} | ({"cursor": cursor} if cursor else {})
            body = (await api.get("/api/v1/groups", params=query)).json()
            seen += [item["name"] for item in body["items"]]
            found.append(len(body["items"]))
            cursor = body["next_cursor"]
        assert (seen, found) == (names, sizes)


@pytest.mark.parametrize("limit", ["0", "201", "-1", "x", ""])
async def test_a_limit_has_bounds(crib: Crib, limit: str) -> None:
    """1 to 200."""
    api = (await crib.somebody(1)).api
    answer = await api.get("/api/v1/groups", params={"limit": limit})
    assert problem_of(answer) == (422, "invalid_request", "limit")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "é",
        "AAAA",
        encoded('"text"'),
        encoded("-1"),
        encoded("true"),
        encoded("1.5"),
        encoded(str(2**63)),
        encoded("[1]"),
        encoded("{}"),
        "M" * 2000,
    ],
)
async def test_a_bad_cursor_is_a_bad_request(crib: Crib, cursor: str) -> None:
    """Not an empty page, and not an error of the server."""
    api = (await crib.somebody(1)).api
    answer = await api.get("/api/v1/groups", params={"cursor": cursor})
    assert problem_of(answer) == (422, "invalid_request", "cursor")


@pytest.mark.parametrize("path", ["/api/v1/calls", "/api/v1/settings"])
async def test_cursors_of_texts_have_their_form(tenants: Tenants, path: str) -> None:
    """A cursor of another list does not fit, and none reaches the database unread."""
    api = tenants.user_a.api
    for text in ("1", '"zzz"', '"A:user:99999999999999999999999"', '"\\u0000"', '"call_0"'):
        answer = await api.get(path, params={"cursor": encoded(text)})
        assert problem_of(answer) == (422, "invalid_request", "cursor")


@given(st.one_of(st.integers(0, 2**63 - 1), st.text("abc:_\u00e9\U0001f600", max_size=100)))
def test_a_cursor_comes_back_as_it_went(position: int | str) -> None:
    """Whatever a list goes on behind."""
    rows = [position, position]
    asked = Paging(1, page(rows, Paging(1, None), str, lambda row: row)["next_cursor"])
    read = asked.after_id() if isinstance(position, int) else asked.after_text(ANYTHING)
    assert read == position


@given(st.text(max_size=60))
def test_no_cursor_breaks_the_reader(cursor: str) -> None:
    """Either a position, or the one refusal."""
    asked = Paging(1, cursor)
    for read in (asked.after_id, lambda: asked.after_text(ANYTHING)):
        try:
            position = read()
        except InvalidRequest as error:
            position = error.where or ""
        assert isinstance(position, int | str)
