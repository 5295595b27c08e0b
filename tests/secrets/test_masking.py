"""A resolved value is found and masked in every form it may leave in."""

from __future__ import annotations

import base64
import html
import json
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.secrets.forms import private_forms
from toolcrib.secrets.masking import MASK, MIN_LENGTH, Masker, Maskers
from toolcrib.secrets.memory import Memory

SECRET = 'p@ss "w/ord"+é\\x'


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def in_utf8_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def lowered(text: str) -> str:
    """Percent-encoding with small letters, as some servers write it."""
    return "".join(
        part.lower() if n % 2 else part
        for n, part in enumerate(_split_percents(quote(text, safe="")))
    )


def _split_percents(text: str) -> list[str]:
    parts, rest = [], text
    while "%" in rest:
        head, _, tail = rest.partition("%")
        parts += [head, "%" + tail[:2]]
        rest = tail[2:]
    return [*parts, rest]


def standard(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def urlsafe(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "percent but slashes": quote,
    "percent, small letters": lowered,
    "form": quote_plus,
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "json": in_json,
    "json in utf-8": in_utf8_json,
    "json twice": lambda text: in_json(in_json(text)),
    "json with slashes escaped": lambda text: in_json(text).replace("/", "\\/"),
    "html": html.escape,
    "html twice": lambda text: html.escape(html.escape(text)),
    "json in html": lambda text: html.escape(in_json(text)),
    "html in json": lambda text: in_json(html.escape(text)),
    "utf-8 read as latin-1": lambda text: text.encode().decode("latin-1"),
    "latin-1 read as utf-8": lambda text: text.encode("latin-1", "replace").decode(
        "utf-8", "replace"
    ),
    "ascii": lambda text: text.encode("ascii", "replace").decode(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for urls": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 without its end": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    "base64 for urls without its end": lambda text: urlsafe(text).rstrip("="),
    "base64 in a url": lambda text: quote(standard(text), safe=""),
    "base64 in a url, small letters": lambda text: lowered(standard(text)),
    "base64 in php's json": lambda text: standard(text).replace("/", "\\/"),
    "base64 in html": lambda text: standard(text).replace("+", "&#43;").replace("=", "&#x3D;"),
    "base64 in a query read as a form": lambda text: standard(text).replace("+", " "),
    "percent, marks of words too": lambda text: "".join(
        c if c.isascii() and c.isalnum() else "".join(f"%{b:02X}" for b in c.encode()) for c in text
    ),
    "javascript": lambda text: "".join(
        c if c.isascii() and c.isalnum() else f"\\x{ord(c):02x}" for c in text
    ),
    "xml": lambda text: escape(text, {'"': "&quot;", "'": "&apos;"}),
    "html by name": lambda text: "".join(f"&{NAMES[c]}" if c in NAMES else c for c in text),
}
NAMES = {"@": "commat;", "/": "sol;", '"': "quot;", "+": "plus;", "\\": "bsol;", "é": "eacute;"}


def wrapped(text: str, columns: int, line_break: str) -> str:
    """Base64 in lines, as mail and key files have it."""
    encoded = standard(text)
    return line_break.join(
        encoded[start : start + columns] for start in range(0, len(encoded), columns)
    )


BREAKS = ["\n", "\r\n", "\r\n ", "\\n", "\\r\\n", "\\\\n", "%0A", "%0D%0a", "&#13;&#10;", "&#xA;"]


@given(st.data(), st.sampled_from([60, 64, 76]), st.sampled_from(BREAKS))
def test_base64_in_lines_is_masked(data: st.DataObject, columns: int, line_break: str) -> None:
    """Wherever the lines break, and wherever the value stands in the longer text."""
    secret = data.draw(st.text("ab01+/=: é", min_size=9, max_size=150))
    before = data.draw(st.text("xyz :", max_size=80))
    lines = wrapped(before + secret + "!", columns, line_break)

    masked = Masker([secret]).text(lines)

    assert MASK in masked
    left = masked.replace(line_break, "").replace(MASK, "")
    assert len(left) <= len(standard(before)) + 4 + 4
    assert Masker([secret]).data(lines.encode()) == masked.encode()


@pytest.mark.parametrize("user", ["", "u", "us", "user", "user@example.test"])
@pytest.mark.parametrize("secret", ["s3cr3t", "s3cr3t!", 'p@ss "w/ord"+é', "k" * 200])
def test_the_header_of_a_login_is_masked(user: str, secret: str) -> None:
    """`Basic` holds the value behind a name of any length, in base64."""
    echoed = f"Authorization: Basic {standard(f'{user}:{secret}')}, for you"
    masked = Masker([secret]).text(echoed)
    tail = masked.removeprefix("Authorization: Basic ")

    assert tail.endswith(f"{MASK}, for you")
    assert len(tail.removesuffix(f"{MASK}, for you")) <= len(standard(f"{user}:"))


@pytest.mark.parametrize("name", ["percent", "form", "json", "html"])
def test_base64_of_a_written_value_is_masked(name: str) -> None:
    """A whole request in base64 holds the value as the request had it."""
    request = '{"k": "' + FORMS[name](SECRET) + '", "n": 1}'
    masked = Masker([SECRET]).text(standard(request))

    assert MASK in masked
    assert len(masked.replace(MASK, "")) <= len(standard('{"k": "", "n": 1}')) + 4


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_each_form_is_masked(form: Callable[[str], str]) -> None:
    """Whatever writes the value, in a text and in bytes."""
    masker = Masker([SECRET])
    leaked = f"before {form(SECRET)} after"

    assert masker.text(leaked) == f"before {MASK} after"
    assert masker.data(leaked.encode()) == f"before {MASK} after".encode()


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=MIN_LENGTH, max_size=60),
    st.sampled_from(["plain", "percent", "form", "percent twice", "json", "json twice", "html"]),
)
def test_any_value_is_masked_in_any_form(value: str, name: str) -> None:
    """Nothing of what is longer than the mask stays, whatever characters the value has."""
    leaked = FORMS[name](value)
    masked = Masker([value]).text(f"<<{leaked}>>")

    assert masked == f"<<{MASK}>>"


@given(
    st.text(st.sampled_from('\\"/n\n u0%'), min_size=MIN_LENGTH, max_size=30),
    st.sampled_from(["plain", "percent", "json", "json twice"]),
)
def test_values_of_escapes_are_masked(value: str, name: str) -> None:
    """Backslashes and quotes in a row are where escapes meet."""
    leaked = FORMS[name](value)

    assert leaked not in Masker([value]).text(f"<<{leaked}>>")


def test_bytes_in_latin_1_are_masked() -> None:
    """A file need not be in UTF-8."""
    masked = Masker([SECRET]).data(b"\xff" + SECRET.encode("latin-1") + b"\x00")

    assert masked == b"\xff***\x00"


def test_long_values_are_masked_without_a_huge_expression() -> None:
    """A key of 60,000 characters, full of marks, in its usual forms; nobody waits for it."""
    value = "".join(f'{n:x}/+"{n % 7}' for n in range(10_000))[:60_000]
    began = time.process_time()
    masker = Masker([value])
    for form in ("plain", "percent", "form", "json", "base64"):
        assert masker.text(f"a {FORMS[form](value)} b") == f"a {MASK} b"

    assert time.process_time() - began < 5


def test_a_hostile_text_does_not_hold_up_the_search() -> None:
    """No run of backslashes is tried in every way there is."""
    masker = Masker(["\\" * 10 + "secret" + "\\" * 10 + '"tail'])
    began = time.process_time()
    masker.text(("\\" * 500 + "secret" + "\\" * 500) * 20)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("https://hooks.test/" + "a/" * 40 + "b", "https://hooks.test/" + "a/" * 40 + "c"),
        ('{"a":"b"' + ',"a":"b"' * 20 + "}", '{"a":"b"' + ',"a":"b"' * 20 + ",}"),
        ("C:" + "\\a" * 40, "C:" + "\\a" * 39 + "\\b"),
        ("ключ" * 10, "\ufffd" * 39 + "x"),
        ("ключ-ключ+" * 5, "\ufffd\ufffd\ufffd\ufffd-\ufffd\ufffd\ufffd\ufffd+" * 4),
        ("ü-" * 40, "\ufffd-" * 39 + "?"),
    ],
)
def test_a_text_that_is_nearly_a_value_is_soon_searched(value: str, text: str) -> None:
    """Each mark of a value fits in one way only, so their ways do not multiply."""
    masker = Masker([value])
    began = time.process_time()

    assert masker.text(text) == text
    assert masker.data(text.encode()) == text.encode()
    assert time.process_time() - began < 5


@pytest.mark.parametrize("filler", [" ", "\n", "\\", "%0", "&#x0", "A", "A\n", "+", "\r\n "])
def test_a_hostile_text_around_base64_is_soon_searched(filler: str) -> None:
    """Half a megabyte of what breaks lines, or nearly does, with the value in its middle."""
    masker = Masker(["a-secret+value/0123456789"])
    half = filler * (250_000 // len(filler))
    began = time.process_time()
    masked = masker.text(f"{half}{standard('a-secret+value/0123456789')}{half}")

    assert MASK in masked
    assert time.process_time() - began < 5


def test_numbers_are_masked_where_a_value_is_one() -> None:
    """An upstream may send a PIN back as a number, which JSON does not quote."""
    masked = Masker(["12345678"]).value({"pin": 12345678, "n": 5, "f": 12345678.0, "ok": True})

    assert masked == {"pin": MASK, "n": 5, "f": MASK, "ok": True}


def test_maskers_are_kept_until_a_change() -> None:
    """The same values give the same masker, in any order; after a change another."""
    number = [1]
    maskers = Maskers(Memory(lambda: number[0]))
    first = maskers.of(["one-value", "two-value"])
    again = maskers.of(["two-value", "one-value"])
    number[0] += 1

    assert (again is first, maskers.of(["one-value", "two-value"]) is first) == (True, False)


def test_a_masker_does_not_show_its_values() -> None:
    """It may stand in a trace."""
    assert "topsecret" not in repr(Masker(["topsecret"]))


@given(st.binary(max_size=7), st.text(min_size=12, max_size=30), st.binary(max_size=7))
def test_base64_of_a_longer_text_does_not_give_the_value_away(
    before: bytes, secret: str, after: bytes
) -> None:
    """Inside a longer base64 text only the few characters at the value's edges can stay."""
    raw = secret.encode()
    encoded = base64.b64encode(before + raw + after).decode()

    masked = Masker([secret]).text(encoded)

    assert MASK in masked


def test_short_values_are_not_searched_for() -> None:
    """Masking "id" everywhere would destroy every text."""
    assert Masker(["a" * (MIN_LENGTH - 1)]).text("aaaaaaaa") == "aaaaaaaa"


def test_the_longest_value_goes_first() -> None:
    """A value that contains another is masked whole."""
    assert Masker(["secret", "secret-and-more"]).text("x secret-and-more y") == f"x {MASK} y"


def test_values_inside_json_are_masked_keys_too() -> None:
    """Every string of a structured value is searched."""
    masked = Masker(["topsecret"]).value(
        {"topsecret": ["a topsecret b", 5, None], "n": {"k": "topsecret"}}
    )

    assert masked == {MASK: [f"a {MASK} b", 5, None], "n": {"k": MASK}}


def test_bytes_inside_a_value_are_masked() -> None:
    """What a tool gives may hold bytes at any depth."""
    assert Masker(["topsecret"]).value({"file": [b"a topsecret b"]}) == {"file": [b"a *** b"]}


def test_bytes_are_masked() -> None:
    """Files may echo a value as well."""
    assert Masker(["topsecret"]).data(b"\x00topsecret\xff") == b"\x00***\xff"


@pytest.mark.parametrize("blanks", [" {} ", "{}\n", "\t{}\r\n"])
def test_a_value_with_blanks_around_it_is_masked_as_it_is_sent(blanks: str) -> None:
    """Headers and URLs leave the blanks out, so an echo has none."""
    masker = Masker([blanks.format("topsecret")])

    assert masker.text("key=topsecret;") == f"key={MASK};"
    assert masker.text(standard("key=topsecret;")) != standard("key=topsecret;")


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize("form", ["plain", "percent", "json", "html"])
@pytest.mark.parametrize("lead", [b"", b"\0", b"\xff\xd8\xff"])
def test_bytes_of_two_for_each_character_are_masked(charset: str, form: str, lead: bytes) -> None:
    """Files of other systems hold texts so, wherever they begin."""
    data = lead + f"key={FORMS[form](SECRET)};\ud800".encode(charset, "surrogatepass")

    masked = Masker([SECRET]).data(data)

    assert masked[: len(lead)] == lead
    text = masked[len(lead) :].decode(charset, "surrogatepass")
    assert text == f"key={MASK};\ud800"


@given(st.binary())
def test_other_bytes_stay_as_they_are(data: bytes) -> None:
    """Whatever a file holds beside a value."""
    found = data + "topsecret".encode("utf-16-le") + data
    masked = data + MASK.encode("utf-16-le") + data

    assert Masker(["topsecret"]).data(found) == masked


@pytest.mark.parametrize(
    ("value", "echo"),
    [
        ("https://hooks.example/services/T9xKq27bLmPz4", "no service T9xKq27bLmPz4 here"),
        ("https://hooks.example/a/b/c/d/e/f/g/h/i?x=1", "no such path: /a/b/c/d/e/f/g/h/i"),
        ("https://api.example/bot1234567:AAF-xyz/", "bot1234567:AAF-xyz is no bot"),
        ("https://api.example/x?sig=Qw8ZrT5y", "the signature Qw8ZrT5y is wrong"),
        ("https://me:Qw8Z%40open@api.example/", "the password Qw8Z@open is wrong"),
        ("https://me:Qw8Z%40open@api.example/", "as sent: Qw8Z%40open"),
        ("https://ghp1234567890AbCd@api.example/", "ghp1234567890AbCd is nobody"),
    ],
)
def test_parts_of_an_address_that_are_its_key_are_masked(value: str, echo: str) -> None:
    """An upstream is asked for a path and answers with a piece of it."""
    masked = Masker(private_forms([value])).text(echo)

    assert MASK in masked
    assert not any(part in masked for part in ("T9xKq", "/a/b", "1234567", "Qw8Z", "open"))


def test_ordinary_words_of_an_address_stay() -> None:
    """Else no answer of `/v1/search` could be read."""
    masker = Masker(private_forms(["https://someone@api.example/v1/knowledge-base/search"]))

    words = "search v1 knowledge-base of someone"
    assert masker.text(words) == words
