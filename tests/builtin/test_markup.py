"""Pages as text: what a reader sees, in one pass, whatever the page is made of."""

from __future__ import annotations

import html as escaping
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.builtin.markup import plain
from toolcrib.builtin.ranking import best, passages


@pytest.mark.parametrize(
    ("page", "title", "text"),
    [
        ("", "", ""),
        ("just text", "", "just text"),
        ("<title>A &amp; B</title><p>x</p>", "A & B", "x"),
        ("<TITLE>Up</TITLE><title>second</title>", "Up", ""),
        ("<p>a</p><p>b</p>", "", "a\n\nb"),
        ("a<br>b<br/>c", "", "a\nb\nc"),
        ("<b>bold</b> and <i>not</i>", "", "bold and not"),
        ("<script>if (a < b) alert('</p>')</script>seen", "", "seen"),
        ("<style>p > a {}</style >seen", "", "seen"),
        ("<!-- <p>hidden --> seen", "", "seen"),
        ("<svg><text>no</text></svg><template>no</template>yes", "", "yes"),
        ("<svg><svg></svg>no</svg>yes", "", "yes"),
        ('<a title="1 > 0" href=x>link</a>', "", "link"),
        ("<a title='say \"hi\" >'>link</a>", "", "link"),
        ("<table><tr><td>1</td><td>2</td></tr></table>", "", "1 2"),
        ("1 < 2 &lt; 3", "", "1 < 2 < 3"),
        ("<!doctype html><?xml a?></>x", "", "x"),
        ("<textarea><p>raw</p></textarea>", "", "<p>raw</p>"),
        ("x<!-- never closed <p>y", "", "x"),
        ("x<script>never closed", "", "x"),
        ("x<a href='never closed>y", "", "x"),
        ("<p", "", ""),
    ],
)
def test_pages(page: str, title: str, text: str) -> None:
    """Tags go, blocks become lines, what is silent is left out."""
    assert plain(page) == (title, text)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_escaped_text_comes_back(words: str) -> None:
    """Whatever a page says in words is what is read, but for blanks."""
    _, text = plain(f"<p>{escaping.escape(words)}</p>")
    assert "".join(text.split()) == "".join(escaping.unescape(escaping.escape(words)).split())


@given(st.text(alphabet="<>!-/?\"'= abcsriptle"))
def test_any_page_ends(page: str) -> None:
    """And no tag that is closed is left in it as a tag of a script."""
    title, text = plain(page)
    assert isinstance(title, str)
    assert "<script>" not in text


@pytest.mark.parametrize("piece", ["<", "<!--", "<!", "<a ", "<a '", '<p "', "</", "<script", "&#"])
def test_no_page_takes_long(piece: str) -> None:
    """Twenty times the page takes about twenty times as long, not four hundred times."""
    small, large = piece * 5_000, piece * 100_000

    def seconds(page: str) -> float:
        began = time.process_time()
        plain(page)
        return time.process_time() - began

    base = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(2)) < 120 * base + 0.2


def test_ranking() -> None:
    """Rare words count more than common ones; texts without any are left out."""
    texts = ["the boat and the sea", "the sea", "a rare coelacanth in the sea", "nothing"]
    assert best("the coelacanth", texts, most=3) == [2, 0, 1]
    assert best("coelacanth", texts, most=3) == [2]
    assert best("unicorn", texts, most=3) == []
    assert best("x", [], most=3) == []


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_passages_hold_everything(text: str, size: int) -> None:
    """In order, none longer than asked for, nothing lost but blanks."""
    pieces = passages(text, size=size)
    assert all(0 < len(piece) <= size for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
