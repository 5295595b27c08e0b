"""This module sends the published examples of API capabilities and reads the bytes that arrive."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.sources.http.conftest import Bench, headers_of

WEATHER = """{
  "name": "get_weather",
  "description": "Get current weather for a city",
  "method": "GET",
  "url": "ORIGIN/v1/current",
  "params": {
    "location": {
      "type": "string", "description": "City name (e.g. 'London')", "required": true
    },
    "units": {
      "type": "string",
      "description": "Temperature units: 'celsius' or 'fahrenheit'",
      "required": false,
      "default": "celsius"
    }
  },
  "headers": { "Authorization": "Bearer ${WEATHER_API_KEY}" }
}"""

SMS = """{
  "name": "send_sms",
  "description": "Send an SMS message to a phone number",
  "method": "POST",
  "url": "ORIGIN/v1/messages",
  "body": {
    "to": {
      "type": "string", "description": "Recipient phone number in E.164 format", "required": true
    },
    "message": { "type": "string", "description": "The SMS message text", "required": true }
  },
  "headers": {
    "Authorization": "Bearer ${SMS_API_KEY}",
    "Content-Type": "application/json"
  }
}"""

CHAT_MESSAGES = """{
  "name": "get_chat_messages",
  "description": "List the messages in a chat",
  "method": "GET",
  "url": "ORIGIN/v1/chats/{chat_id}/messages",
  "path_params": {
    "chat_id": {
      "type": "string", "description": "The id of the chat to read", "required": true
    }
  },
  "params": {
    "limit": {
      "type": "integer", "description": "Max messages to return", "required": false, "default": 20
    }
  },
  "headers": { "Authorization": "Bearer ${API_TOKEN}" }
}"""

POST_MESSAGE = """{
  "name": "post_message",
  "description": "Post a message to a chat",
  "method": "POST",
  "url": "ORIGIN/v1/chats/{chat_id}/messages",
  "headers": { "Authorization": "Bearer ${API_TOKEN}" },
  "body_template": {
    "source": "primethink",
    "message": { "text": "{text}", "pinned": "{pinned}" },
    "tags": ["inbound", "{tag}"]
  },
  "body_params": {
    "text": { "type": "string", "description": "Message text", "required": true },
    "pinned": { "type": "boolean", "description": "Pin the message", "required": true },
    "tag": { "type": "string", "description": "An extra tag", "required": true }
  }
}"""

SMS_FORM = """{
  "name": "send_sms_form",
  "description": "Send an SMS via a form-encoded endpoint",
  "method": "POST",
  "url": "ORIGIN/v1/messages",
  "headers": {
    "Authorization": "Bearer ${SMS_API_KEY}",
    "Content-Type": "application/x-www-form-urlencoded"
  },
  "body_template": "To={to}&Body={body}",
  "body_params": {
    "to": { "type": "string", "required": true },
    "body": { "type": "string", "required": true }
  }
}"""

ATTACH_FILE = """{
  "name": "attach_file",
  "description": "Upload a document from this chat as an attachment",
  "method": "POST",
  "url": "ORIGIN/v1/chats/{chat_id}/attachments",
  "files": {
    "file": {
      "description": "The document to upload (a document_id from this chat)",
      "required": true,
      "multiple": false
    }
  },
  "body": {
    "caption": { "type": "string", "description": "Optional caption", "required": false }
  },
  "headers": { "Authorization": "Bearer ${API_TOKEN}" }
}"""


def options(text: str, bench: Bench) -> dict[str, Any]:
    """Stored JSON, at this test's upstream."""
    read: dict[str, Any] = json.loads(text.replace("ORIGIN", bench.url("")))
    return read


async def test_the_weather_example_sends_exactly_these_bytes(bench: Bench) -> None:
    """A GET with declared parameters: their order, the default, the setting in its header."""
    source = await bench.api(options(WEATHER, bench), {"WEATHER_API_KEY": "sk-abc123"})
    request = await bench.sent(source, {"location": "São Paulo & more"})
    assert request.raw == (
        b"GET /v1/current?location=S%C3%A3o%20Paulo%20%26%20more&units=celsius HTTP/1.1\r\n"
        + f"Host: {bench.upstream.place}\r\n".encode()
        + b"Authorization: Bearer sk-abc123\r\n"
        b"User-Agent: toolcrib\r\n"
        b"Accept: */*\r\n"
        b"Accept-Encoding: gzip, deflate\r\n\r\n"
    )


async def test_the_weather_example_shows_the_model_its_parameters(bench: Bench) -> None:
    """Required arguments have no default; optional ones may be null and show theirs."""
    source = await bench.api(options(WEATHER, bench), {"WEATHER_API_KEY": "sk-abc123"})
    spec = (await source.list()).tools[0]
    assert spec.name == "get_weather"
    assert spec.description == "Get current weather for a city"
    assert spec.read_only is True
    assert spec.input_schema == {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "City name (e.g. 'London')"},
            "units": {
                "type": ["string", "null"],
                "description": "Temperature units: 'celsius' or 'fahrenheit'",
                "default": "celsius",
            },
        },
        "required": ["location"],
        "additionalProperties": False,
    }


async def test_the_sms_example_sends_a_flat_json_object(bench: Bench) -> None:
    """Body fields become one JSON object; the author's Content-Type is the only one."""
    source = await bench.api(options(SMS, bench), {"SMS_API_KEY": "key-77"})
    request = await bench.sent(source, {"to": "+4912345", "message": 'say "hi"\n€'})
    assert (request.method, request.target) == ("POST", "/v1/messages")
    assert headers_of(request) == {
        "Authorization": "Bearer key-77",
        "Content-Type": "application/json",
    }
    assert request.body == '{"to":"+4912345","message":"say \\"hi\\"\\n€"}'.encode()
    assert source.tool.spec.read_only is False


async def test_the_path_example_puts_the_slot_into_its_segment(bench: Bench) -> None:
    """The slot is one encoded segment, the rest goes to the query with its default."""
    source = await bench.api(options(CHAT_MESSAGES, bench), {"API_TOKEN": "tok-1"})
    request = await bench.sent(source, {"chat_id": "a/b"})
    assert (request.method, request.target) == ("GET", "/v1/chats/a%2Fb/messages?limit=20")
    assert headers_of(request) == {"Authorization": "Bearer tok-1"}
    assert request.body == b""


async def test_the_path_example_works_without_declaring_its_slot(bench: Bench) -> None:
    """A slot that is declared nowhere is a required string."""
    undeclared = options(CHAT_MESSAGES, bench)
    del undeclared["path_params"]
    source = await bench.api(undeclared, {"API_TOKEN": "tok-1"})
    schema = source.tool.spec.input_schema
    assert schema["properties"]["chat_id"] == {"type": "string"}
    assert schema["required"] == ["chat_id"]


async def test_the_nested_body_example_keeps_native_types(bench: Bench) -> None:
    """A leaf that is one slot keeps its type; the template's fixed parts and order stay."""
    source = await bench.api(options(POST_MESSAGE, bench), {"API_TOKEN": "tok-1"})
    request = await bench.sent(source, {"chat_id": 7, "text": "Hi", "pinned": True, "tag": "x"})
    assert (request.method, request.target) == ("POST", "/v1/chats/7/messages")
    assert headers_of(request) == {
        "Authorization": "Bearer tok-1",
        "Content-Type": "application/json",
    }
    assert request.body == (
        b'{"source":"primethink","message":{"text":"Hi","pinned":true},"tags":["inbound","x"]}'
    )


async def test_the_form_example_encodes_its_values(bench: Bench) -> None:
    """In a form body a value cannot add a field."""
    source = await bench.api(options(SMS_FORM, bench), {"SMS_API_KEY": "key-77"})
    request = await bench.sent(source, {"to": "+49 1&2", "body": "a=b;c d\n"})
    assert headers_of(request) == {
        "Authorization": "Bearer key-77",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    assert request.body == b"To=%2B49%201%262&Body=a%3Db%3Bc%20d%0A"


async def test_the_upload_example_sends_the_document_byte_for_byte(bench: Bench) -> None:
    """The id becomes the document's bytes; the flat body is a text field before it."""
    data = bytes(range(256)) * 3

    class Documents:
        async def fetch(self, document_id: int, call: object) -> tuple[str, str, bytes]:
            assert document_id == 41
            return 'räum "x".png', "image/png", data

    source = await bench.api(
        options(ATTACH_FILE, bench), {"API_TOKEN": "tok-1"}, documents=Documents()
    )
    request = await bench.sent(source, {"chat_id": "9", "file": 41, "caption": "look"}, chat=3)
    assert (request.method, request.target) == ("POST", "/v1/chats/9/attachments")
    kind = request.header("Content-Type") or ""
    found = re.fullmatch(r"multipart/form-data; boundary=(toolcrib-[0-9a-f]{32})", kind)
    assert found is not None
    mark = f"--{found[1]}".encode()
    assert request.body == (
        mark
        + b'\r\nContent-Disposition: form-data; name="caption"\r\n\r\nlook\r\n'
        + mark
        + b'\r\nContent-Disposition: form-data; name="file"; '
        + 'filename="räum %22x%22.png"\r\nContent-Type: image/png\r\n\r\n'.encode()
        + data
        + b"\r\n"
        + mark
        + b"--\r\n"
    )
