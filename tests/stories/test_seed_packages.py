"""Two packages written for PrimeThink, installed by pip, are discovered unmodified and answer.

They live beside this file as their authors would keep them: one takes the context and reads
settings and documents through it, the other's `register` has a single parameter.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.packages import run_python

PACKAGES = Path(__file__).parent / "packages"
MATTERS, ADDRESSES = "assist-matter-toolkit", "primethink-address-tools"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that pip installed both packages into."""
    folder = tmp_path_factory.mktemp("installed")
    sources = folder / "sources"
    shutil.copytree(PACKAGES, sources)  # a build leaves traces beside what it builds
    target = folder / "site"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run(
        [*pip, "install", *options, str(sources / MATTERS), str(sources / ADDRESSES)],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return target


def answers(script: str, site: Path) -> Any:
    """What the script printed last, as JSON."""
    done = run_python(script, site)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_entry_points_are_where_the_guide_looks(installed: Path) -> None:
    """importlib.metadata alone shows both."""
    found = answers(
        """
        import json
        from importlib.metadata import entry_points
        print(json.dumps({e.name: e.value for e in entry_points(group="primethink.tools")}))
        """,
        installed,
    )
    assert found == {
        "addresses": "primethink_address_tools:register",
        "matters": "assist_matter_toolkit:register",
    }


def test_discovery_loads_both_without_a_context(installed: Path) -> None:
    """Names, codes and metadata as the authors gave them; documents are not offered."""
    names, metas = answers(
        """
        import json
        from toolcrib import discover_plugins, get_capability_meta
        names = discover_plugins()
        codes = ["matter_desk", "matter_search", "addresses", "unknown"]
        print(json.dumps([names, [get_capability_meta(code) for code in codes]]))
        """,
        installed,
    )
    assert names == ["addresses", "matters"]
    assert metas == [
        {
            "code": "matter_desk",
            "name": "Matter desk",
            "description": "Find matters and keep their timers",
            "tool_names": ["search_matters", "create_timer"],
        },
        {
            "code": "matter_search",
            "name": "Matter search",
            "description": "Only look",
            "tool_names": ["search_matters"],
        },
        {
            "code": "addresses",
            "name": "Address book",
            "description": "Look up people and note new ones",
            "tool_names": ["address_search", "address_create"],
        },
        None,
    ]


def test_reports_name_distribution_and_version(installed: Path) -> None:
    """What `toolcrib plugins list` and the REST list show."""
    reports = answers(
        """
        import asyncio, json
        from toolcrib.plugin.discovery import discover
        from toolcrib.plugin.registration import Registry
        reports = asyncio.run(discover(Registry()))
        print(json.dumps([report.as_json() for report in reports]))
        """,
        installed,
    )
    assert all(report.pop("duration_ms") > 0 for report in reports)
    assert reports == [
        {
            "name": "addresses",
            "distribution": "primethink-address-tools",
            "version": "0.1.0",
            "value": "primethink_address_tools:register",
            "group": "primethink.tools",
            "status": "loaded",
            "error": None,
            "codes": ["addresses"],
        },
        {
            "name": "matters",
            "distribution": "assist-matter-toolkit",
            "version": "1.0.0",
            "value": "assist_matter_toolkit:register",
            "group": "primethink.tools",
            "status": "loaded",
            "error": None,
            "codes": ["matter_desk", "matter_search"],
        },
    ]


def test_the_tools_answer_with_settings_documents_and_the_calls_people(
    installed: Path, tmp_path: Path
) -> None:
    """Through a host on a real database: the user's setting, the chat's document, the ids."""
    found = answers(
        f"""
        import asyncio, json
        from pathlib import Path
        from toolcrib.documents.folder import FolderBlobStore
        from toolcrib.grants.agents import AgentDraft
        from toolcrib.identity.caller import Caller, ChatRef
        from toolcrib.identity.roles import Role
        from toolcrib.plugin.discovery import discover
        from toolcrib.plugin.host import Host
        from toolcrib.plugin.registration import Registry
        from toolcrib.secrets.sealing import Sealer, new_key
        from toolcrib.secrets.settings import SettingOwner, SettingValues
        from toolcrib.sources.native.shelf import NativeShelf
        from toolcrib.storage import open_storage
        from toolcrib.tools.call import Call, current_call

        async def chunks():
            yield b"a letter"

        async def main():
            folder = Path({str(tmp_path)!r})
            storage = await open_storage(f"sqlite:///{{folder / 'crib.db'}}")
            key = new_key()
            values = SettingValues(storage.settings, Sealer(lambda: [key]))
            blobs = FolderBlobStore(folder / "documents")
            group = await storage.groups.create(name="Office")
            user = await storage.users.create(
                name="Ann", role=Role.USER,
                group_ids=frozenset({{group.id}}), entitlements=frozenset(),
            )
            agent = await storage.agents.create(AgentDraft(name="A", creator_id=user.id))
            chat = await storage.chats.create(
                uuid="chat-uuid", user_id=user.id, agent_id=agent.id,
                group_id=group.id, context={{}},
            )
            blob, size = await blobs.write(chunks())
            document = await storage.documents.create(
                chat_id=chat.id, user_id=user.id, filename="letter.txt",
                mime_type="text/plain", size=size, key=blob,
            )
            await values.put("office_base_url", "https://of.group", SettingOwner(group_id=group.id))
            await values.put("office_key", "key-of-ann", SettingOwner(user_id=user.id))

            registry = Registry()
            await discover(registry, Host(values=values, documents=storage.documents, blobs=blobs))
            shelf = NativeShelf(registry)
            tools = {{
                offer.spec.name: offer
                for code in ("matter_desk", "addresses")
                for offer in shelf.bundle(code).offers
            }}
            caller = Caller(
                user_id=user.id, group_id=group.id, chat=ChatRef(id=chat.id, uuid=chat.uuid)
            )

            async def call(name, **arguments):
                call = Call(call_id="c", arguments=arguments, caller=caller, deadline=60)
                current_call.set(call)
                output = await tools[name].run(call)
                return [output.text, sorted(call.secrets)]

            found = [
                list(tools),
                await call("search_matters", query="brook"),
                await call("create_timer", matter_id=101, description="reading"),
                await call("file_document", matter_id=101, document_id=document.id),
                await call("file_document", matter_id=101, document_id=document.id + 1),
                await call("address_search", query="ADA"),
                await call("address_create", first_name="C", last_name="D", email="c@d.example"),
            ]
            await storage.close()
            return found, [user.id, group.id, chat.id, document.id]

        print(json.dumps(asyncio.run(main())))
        """,
        installed,
    )
    results, [user_id, group_id, chat_id, document_id] = found
    timer = f"timer on 101 (reading) for user {user_id} in group {group_id}, "
    timer += f"chat {chat_id}/chat-uuid, key key-of-ann"
    assert results == [
        ["search_matters", "create_timer", "file_document", "address_search", "address_create"],
        [
            "from https://of.group\n101 Mill v. Brook\n103 Brook v. Field",
            ["https://of.group", "key-of-ann"],
        ],
        [
            timer,
            ["https://of.group", "key-of-ann"],
        ],
        ["filed letter.txt (8 bytes) under 101", []],
        [f"there is no document {document_id + 1} in this chat", []],
        ["Ada Moss <ada@moss.example>", []],
        ["3 private no key", []],
    ]


def test_the_authors_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    """With a registry function of their own, as the guide tells them to write."""
    tests = tmp_path / "tests"
    shutil.copytree(PACKAGES / MATTERS / "tests", tests)
    done = run_python(
        f"""
        import os
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        import pytest
        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", {str(tests)!r}]))
        """,
        installed,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_from_registered_tool_to_a_call_over_rest(installed: Path, tmp_path: Path) -> None:
    """Activated for a group, given to an agent, called in a chat with its user, group and chat."""
    story = answers(
        f"""
        import asyncio, json
        from pathlib import Path
        import httpx
        from toolcrib import Settings, open_platform
        from toolcrib.asgi import create_app_for
        from toolcrib.desk.setup import first_token

        async def main():
            settings = Settings(data_dir=Path({str(tmp_path)!r}), builtin_tools=False)
            async with open_platform(settings) as platform:
                storage = platform.storage
                root = await first_token(
                    storage.users, storage.tokens, storage.signals, given=None
                )
                app = httpx.ASGITransport(create_app_for(platform))

                def client(token):
                    return httpx.AsyncClient(
                        transport=app, base_url="http://127.0.0.1:8420",
                        headers={{"Authorization": "Token " + token}},
                    )

                async def send(api, method, path, **body):
                    answer = await api.request(method, path, json=body or None)
                    assert answer.is_success, answer.text
                    return answer.json() if answer.content else None

                async with client(root.text) as api:
                    group = await send(api, "POST", "/api/v1/groups", name="Office")
                    user = await send(
                        api, "POST", "/api/v1/users", name="ann", role="user",
                        group_ids=[group["id"]],
                    )
                    token = await send(
                        api, "POST", f"/api/v1/users/{{user['id']}}/tokens", name="t"
                    )
                    row = await send(
                        api, "POST", "/api/super-admin/capabilities/from-registered-tool",
                        code="matter_desk", group_id=group["id"],
                    )
                    listed = await send(
                        api, "GET",
                        f"/api/super-admin/capabilities/registered-tools?group_id={{group['id']}}",
                    )
                    agent = await send(
                        api, "POST", "/api/v1/agents", name="clerk", group_id=group["id"],
                        capabilities=["matter_desk"],
                    )
                    await send(
                        api, "PUT", "/api/v1/settings/office_base_url",
                        value="https://of.group", group_id=group["id"],
                    )
                async with client(token["token"]) as api:
                    tools = await send(api, "GET", f"/api/v1/agents/{{agent['id']}}/tools")
                    chat = await send(api, "POST", "/api/v1/chats", agent_id=agent["id"])
                    timer = '@tool:create_timer({{"matter_id": 101, "description": "reading"}})'
                    reply = await send(
                        api, "POST", f"/api/v1/chats/{{chat['id']}}/messages", content=timer
                    )
                    calls = await send(api, "GET", "/api/v1/calls")
                return {{
                    "ids": [user["id"], group["id"], chat["id"], chat["uuid"]],
                    "row": [row["name"], row["description"], row["access_type"], row["type"]],
                    "listed": {{i["code"]: [i["activated"], i["capability_id"]]
                               for i in listed["items"]}},
                    "row_id": row["id"],
                    "tools": [t["name"] for t in tools["tools"]],
                    "parameters": list(tools["tools"][1]["input_schema"]["properties"]),
                    "reply": reply["content"],
                    "calls": [[c["tool"], c["user_id"], c["success"]] for c in calls["items"]],
                }}

        print(json.dumps(asyncio.run(main())))
        """,
        installed,
    )
    user_id, group_id, chat_id, chat_uuid = story.pop("ids")
    row_id = story.pop("row_id")
    reply = f"timer on 101 (reading) for user {user_id} in group {group_id}, "
    assert story == {
        "row": ["Matter desk", "Find matters and keep their timers", "group", "internal"],
        "listed": {
            "addresses": [False, None],
            "matter_desk": [True, row_id],
            "matter_search": [False, None],
        },
        "tools": ["search_matters", "create_timer", "file_document"],
        "parameters": ["matter_id", "description"],
        "reply": reply + f"chat {chat_id}/{chat_uuid}, key none",
        "calls": [["create_timer", user_id, True]],
    }
