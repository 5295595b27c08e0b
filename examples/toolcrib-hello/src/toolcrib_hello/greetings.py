"""This module holds the tools that only look: greeting, and counting words."""

import re
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from toolcrib_hello.settings import setting

HELLO = {
    "de": "Guten Tag",
    "en": "Hello",
    "es": "Hola",
    "fr": "Bonjour",
    "it": "Buongiorno",
    "pl": "Dzień dobry",
}
WORDS_PER_MINUTE = 220


class GreetInput(BaseModel):
    name: str = Field(description="Who to greet", min_length=1, max_length=80)
    language: Literal["de", "en", "es", "fr", "it", "pl"] = Field(
        default="en", description="The language of the greeting"
    )


@tool("hello_greet", args_schema=GreetInput)
async def greet(name: str, language: str, config: RunnableConfig) -> str:
    """Greet somebody, and say on whose behalf. Use it when the user asks to say hello."""
    caller = config.get("configurable", {})
    signature = await setting("HELLO_SIGNATURE", config, f"user {caller.get('logged_user_id')}")
    place = f" of group {caller['group_id']}" if caller.get("group_id") is not None else ""
    return f"{HELLO[language]}, {name}! Greetings from {signature}{place}."


class WordCountInput(BaseModel):
    text: str = Field(description="The text to count", max_length=100_000)


@tool("hello_word_count", args_schema=WordCountInput)
async def word_count(text: str, config: RunnableConfig) -> str:
    """Count the words and sentences of a text, name its longest word and the time to read it."""
    words = re.findall(r"\w[\w'’-]*", text)
    if not words:
        return "There are no words in this text."
    sentences = len(re.findall(r"[.!?…]+(?=\s|$)", text)) or 1
    seconds = max(1, round(len(words) * 60 / WORDS_PER_MINUTE))
    return (
        f"{_many(len(words), 'word')} in {_many(sentences, 'sentence')}; "
        f"the longest is {max(words, key=len)!r}; about {_many(seconds, 'second')} to read."
    )


# The author's word that these change nothing, in MCP's vocabulary. Without it Toolcrib takes a
# tool for one that may change something. (`toolcrib.annotations(read_only=True)` writes the same.)
greet.metadata = {"readOnlyHint": True}
word_count.metadata = {"readOnlyHint": True}


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
