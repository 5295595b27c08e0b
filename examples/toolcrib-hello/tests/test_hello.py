"""The plugin without Toolcrib: what it registers, and what its tools answer."""

import asyncio
from importlib.metadata import EntryPoint

import pytest
from toolcrib_hello import register
from toolcrib_hello.greetings import greet, word_count
from toolcrib_hello.notes import list_notes, save_note

ADA = {"configurable": {"logged_user_id": 7, "group_id": 3}}
BOB = {"configurable": {"logged_user_id": 8, "group_id": 3}}


def run(tool, arguments, config=ADA):
    """Call a tool as an agent would."""
    return asyncio.run(tool.ainvoke(arguments, config))


def registered(context=None):
    """What `register` files: code → (names of the tools, name shown to people)."""
    found = {}

    def registry_fn(code, tools, *, name="", description=""):
        assert description
        found[code] = ([tool.name for tool in tools], name)

    register(registry_fn, context)
    return found


@pytest.fixture
def notes_file(tmp_path, monkeypatch):
    path = tmp_path / "notes.jsonl"
    monkeypatch.setenv("HELLO_NOTES_FILE", str(path))
    return path


def test_registers_two_codes():
    """Each code comes with its tools and a name for people."""
    assert registered() == {
        "hello": (["hello_greet", "hello_word_count"], "Hello"),
        "hello_notes": (["hello_save_note", "hello_list_notes"], "Hello notes"),
    }


def test_entry_point_names_the_function():
    """The value that pyproject.toml declares loads the register function."""
    point = EntryPoint(name="hello", value="toolcrib_hello:register", group="toolcrib.tools")
    assert point.load() is register


@pytest.mark.parametrize("tool", [greet, word_count, save_note, list_notes])
def test_model_never_sees_the_caller(tool):
    """Who calls is not an argument that a model could fill in."""
    assert "config" not in tool.tool_call_schema.model_json_schema()["properties"]


def test_only_saving_changes_something():
    """The other three carry their author's word that they only look."""
    marked = {tool.name: tool.metadata for tool in (greet, word_count, save_note, list_notes)}
    looks = {"readOnlyHint": True}
    assert marked == {
        "hello_greet": looks,
        "hello_word_count": looks,
        "hello_save_note": None,
        "hello_list_notes": looks,
    }


def test_greets_on_behalf_of_the_caller():
    """User and group come from the config."""
    registered()
    assert run(greet, {"name": "Grace"}) == "Hello, Grace! Greetings from user 7 of group 3."


def test_greets_in_another_language():
    """The language decides the first word."""
    registered()
    answer = run(greet, {"name": "Grace", "language": "pl"}, {})
    assert answer == "Dzień dobry, Grace! Greetings from user None."


def test_setting_signs_the_greeting():
    """With a context, the user's own HELLO_SIGNATURE is used."""

    class Context:
        async def get_user_setting_value(self, name, user_id, group_id):
            return {("HELLO_SIGNATURE", 7, 3): "Ada"}.get((name, user_id, group_id), "")

    registered(Context())
    assert run(greet, {"name": "Grace"}) == "Hello, Grace! Greetings from Ada of group 3."
    assert run(greet, {"name": "Grace"}, BOB) == "Hello, Grace! Greetings from user 8 of group 3."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "There are no words in this text."),
        ("Hi", "1 word in 1 sentence; the longest is 'Hi'; about 1 second to read."),
        (
            "A tool crib is a room. Everything has its place!",
            "10 words in 2 sentences; the longest is 'Everything'; about 3 seconds to read.",
        ),
    ],
)
def test_counts_words(text, answer):
    """Words, sentences, the longest word, the time."""
    assert run(word_count, {"text": text}) == answer


def test_notes_belong_to_their_user(notes_file):
    """One user's notes are not another's; the newest come first; the file keeps them."""
    assert run(save_note, {"text": "Sharpen the chisels"}) == "Noted. That makes 1 note."
    assert run(save_note, {"text": "Oil the lathe"}) == "Noted. That makes 2 notes."
    assert run(list_notes, {}) == "1. Oil the lathe\n2. Sharpen the chisels"
    assert run(list_notes, {"limit": 1}) == "1. Oil the lathe"
    assert run(list_notes, {}, BOB) == "There are no notes yet."
    assert len(notes_file.read_text().splitlines()) == 2


def test_notes_in_memory(monkeypatch):
    """Without a file, notes live as long as the process."""
    monkeypatch.delenv("HELLO_NOTES_FILE", raising=False)
    carol = {"configurable": {"logged_user_id": 9, "group_id": None}}
    assert run(save_note, {"text": "Buy glue"}, carol) == "Noted. That makes 1 note."
    assert run(list_notes, {}, carol) == "1. Buy glue"
