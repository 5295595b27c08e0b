"""The host: settings by user and group, documents of the running call's chat and of no other."""

from __future__ import annotations

import asyncio
import enum
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.packages import lay_out
from toolcrib.documents.document import Document
from toolcrib.documents.folder import FolderBlobStore
from toolcrib.errors import NotFound, NotGranted, SecretUndecryptable
from toolcrib.grants.agents import AgentDraft
from toolcrib.identity.caller import Caller, ChatRef
from toolcrib.identity.roles import Role
from toolcrib.plugin.discovery import discover
from toolcrib.plugin.host import Host
from toolcrib.plugin.registration import Registry
from toolcrib.secrets.sealing import Sealer, new_key
from toolcrib.secrets.settings import SettingOwner, SettingStore, SettingValues
from toolcrib.storage import open_storage
from toolcrib.tools.call import Call, current_call


@dataclass
class House:
    """A host on a real database with one user, one group and two chats."""

    host: Host
    values: SettingValues
    user_id: int
    group_id: int
    mine: Document
    other: Document
    store: SettingStore


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    storage = await open_storage(f"sqlite:///{tmp_path / 'host.db'}")
    values = values_under(new_key(), storage.settings)
    blobs = FolderBlobStore(tmp_path / "documents")
    group = await storage.groups.create(name="G")
    user = await storage.users.create(
        name="U", role=Role.USER, group_ids=frozenset({group.id}), entitlements=frozenset()
    )
    agent = await storage.agents.create(AgentDraft(name="A", creator_id=user.id, group_id=group.id))
    documents: list[Document] = []
    for number in (1, 2):
        chat = await storage.chats.create(
            uuid=f"uuid-{number}", user_id=user.id, agent_id=agent.id, group_id=group.id, context={}
        )
        key, size = await blobs.write(chunks(f"text of {number}".encode()))
        documents.append(
            await storage.documents.create(
                chat_id=chat.id,
                user_id=user.id,
                filename=f"d{number}.txt",
                mime_type="text/plain",
                size=size,
                key=key,
            )
        )
    host = Host(values=values, documents=storage.documents, blobs=blobs)
    yield House(host, values, user.id, group.id, *documents, storage.settings)
    await storage.close()


def values_under(key: str, store: SettingStore) -> SettingValues:
    return SettingValues(store, Sealer(lambda: [key]))


async def chunks(data: bytes) -> AsyncIterator[bytes]:
    yield data


def a_call(house: House, chat: Document | None) -> Call:
    reference = ChatRef(id=chat.chat_id, uuid="u") if chat else None
    caller = Caller(user_id=house.user_id, group_id=house.group_id, chat=reference)
    return Call(call_id="c", arguments={}, caller=caller, deadline=60)


@contextmanager
def calling(call: Call) -> Iterator[Call]:
    token = current_call.set(call)
    try:
        yield call
    finally:
        current_call.reset(token)


async def test_the_users_value_comes_before_the_groups(house: House) -> None:
    """And an unset or blank one is the empty string."""
    get = house.host.get_user_setting_value
    assert await get("TOKEN", house.user_id, house.group_id) == ""
    await house.values.put("TOKEN", "of the group", SettingOwner(group_id=house.group_id))
    assert await get("TOKEN", house.user_id, house.group_id) == "of the group"
    await house.values.put("TOKEN", "of the user", SettingOwner(user_id=house.user_id))
    assert await get("TOKEN", house.user_id, house.group_id) == "of the user"
    assert await get("TOKEN", None, house.group_id) == "of the group"
    assert await get("TOKEN", house.user_id + 1, None) == ""
    await house.values.put("TOKEN", "  ", SettingOwner(user_id=house.user_id))
    assert await get("TOKEN", house.user_id, house.group_id) == "of the group"


async def test_a_value_handed_out_in_a_call_is_given_to_its_masker(house: House) -> None:
    """The call's secrets hold the value, and nothing when there is none."""
    await house.values.put("TOKEN", "tok-123456", SettingOwner(user_id=house.user_id))
    with calling(a_call(house, None)) as call:
        await house.host.get_user_setting_value("MISSING", house.user_id, None)
        assert call.secrets == set()
        await house.host.get_user_setting_value("TOKEN", house.user_id, None)
        assert call.secrets == {"tok-123456"}


async def test_a_value_that_cannot_be_opened_fails_closed(house: House) -> None:
    """The error names the setting, never a value."""
    await house.values.put("TOKEN", "tok-123456", SettingOwner(user_id=house.user_id))
    host = Host(values=values_under(new_key(), house.store))
    with pytest.raises(SecretUndecryptable, match="'TOKEN'"):
        await host.get_user_setting_value("TOKEN", house.user_id, house.group_id)


async def test_documents_of_the_calls_chat_can_be_read(house: House) -> None:
    """By id, and their bytes by what that gave."""
    service = house.host.document_service
    assert service is not None
    with calling(a_call(house, house.mine)):
        found = await service.get_document_by_id(house.mine.id)
        assert found == house.mine
        assert await service.fetch_document_bytes(found) == ("d1.txt", b"text of 1")
        assert await service.fetch_document_bytes(house.mine.id) == ("d1.txt", b"text of 1")


async def test_another_chats_documents_do_not_exist(house: House) -> None:
    """Not by id, not by a row obtained elsewhere, not by a row with a forged chat or key."""
    service = house.host.document_service
    assert service is not None
    forged = Document(**{**row(house.other), "chat_id": house.mine.chat_id})
    stolen = Document(**{**row(house.mine), "key": house.other.key})
    with calling(a_call(house, house.mine)):
        assert await service.get_document_by_id(house.other.id) is None
        assert await service.get_document_by_id(999) is None
        for document in (house.other, forged, house.other.id, None, "x"):
            with pytest.raises(NotGranted, match="chat of this call has no document"):
                await service.fetch_document_bytes(document)
        assert await service.fetch_document_bytes(stolen) == ("d1.txt", b"text of 1")


def row(document: Document) -> dict[str, object]:
    return {name: getattr(document, name) for name in Document.__slots__}


async def test_outside_a_call_and_outside_a_chat_there_are_no_documents(house: House) -> None:
    """Fail closed, with a message that says what is missing."""
    service = house.host.document_service
    assert service is not None
    assert await service.get_document_by_id(house.mine.id) is None
    with pytest.raises(NotGranted, match="called from a chat"):
        await service.fetch_document_bytes(house.mine)
    with calling(a_call(house, None)):
        assert await service.get_document_by_id(house.mine.id) is None
        with pytest.raises(NotGranted, match="called from a chat"):
            await service.fetch_document_bytes(house.mine)


async def test_bytes_that_are_gone_are_not_found(house: House, tmp_path: Path) -> None:
    """The row is there, the file is not."""
    service = house.host.document_service
    assert service is not None
    for path in (tmp_path / "documents").rglob("*"):
        if path.is_file():
            path.unlink()
    with calling(a_call(house, house.mine)), pytest.raises(NotFound):
        await service.fetch_document_bytes(house.mine)


class Format(enum.Enum):
    MARKDOWN = "md"
    HTML = 2


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("md", ("document.md", "text/markdown")),
        ("TXT", ("document.txt", "text/plain")),
        (".html", ("document.html", "text/html")),
        (" Csv ", ("document.csv", "text/csv")),
        ("json", ("document.json", "application/json")),
        ("markdown", ("document.md", "text/markdown")),
        (Format.MARKDOWN, ("document.md", "text/markdown")),
        (Format.HTML, ("document.html", "text/html")),
    ],
)
async def test_text_becomes_a_file_of_the_format(
    house: House, given: object, expected: tuple[str, str]
) -> None:
    """Formats are text or enums in any case; the bytes are UTF-8."""
    service = house.host.document_service
    assert service is not None
    assert service.process_content_by_format("Grüße", given) == (*expected, "Grüße".encode())


@pytest.mark.parametrize("given", ["docx", "pdf", "", "exe", 5, None])
async def test_a_format_that_cannot_be_made_lists_those_that_can(
    house: House, given: object
) -> None:
    """docx and pdf among them."""
    service = house.host.document_service
    assert service is not None
    with pytest.raises(ValueError, match="md, txt, html, csv, json"):
        service.process_content_by_format("x", given)


def test_a_host_without_stores_has_no_documents_and_no_values() -> None:
    """What a plugin probes for is there and empty."""
    host = Host()
    assert host.document_service is None
    assert asyncio.run(host.get_user_setting_value("X", 1, 1)) == ""


async def test_a_host_without_blobs_has_no_documents(house: House) -> None:
    """Rows without bytes are of no use."""
    assert Host(values=house.values).document_service is None


async def test_a_plugin_gets_the_context_and_uses_it_from_its_own_loop(
    house: House, site: Path, registry: Registry
) -> None:
    """An async register runs in another loop and still reads settings of ours; its condition is
    recorded with the plugin."""
    await house.values.put("URL", "https://x.example", SettingOwner(user_id=house.user_id))
    lay_out(
        site,
        "p-ctx",
        files={
            "p_ctx.py": """
                import asyncio
                found = {}
                async def register(registry_fn, context=None):
                    assert hasattr(context, "get_user_setting_value")
                    found["loop"] = asyncio.get_running_loop()
                    found["url"] = await context.get_user_setting_value("URL", 1, 1)
                    found["service"] = context.document_service
                    context.condition("ctx", found.get)
                    registry_fn("ctx", ["x"])
                """
        },
        entry_points={"primethink.tools": {"ctx": "p_ctx:register"}},
    )
    [report] = await discover(registry, house.host)
    assert report.error is None
    found = sys.modules["p_ctx"].found
    assert found["url"] == "https://x.example"
    assert found["service"] is house.host.document_service
    assert found["loop"] is not asyncio.get_running_loop()
    [condition] = registry.snapshot().conditions.values()
    assert (condition.code, str(condition.origin)) == ("ctx", "p-ctx 1.0")


async def test_a_call_goes_with_the_work_into_the_hosts_loop(house: House) -> None:
    """A tool that runs a loop of its own in a thread keeps its call, and so its chat."""
    service = house.host.document_service
    assert service is not None

    def in_thread() -> object:
        return asyncio.run(service.fetch_document_bytes(house.mine))

    with calling(a_call(house, house.mine)):
        assert await asyncio.to_thread(in_thread) == ("d1.txt", b"text of 1")
