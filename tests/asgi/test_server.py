"""The application on a real socket: it starts by itself, and a lost client breaks nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.support.crib import open_crib, problem_of
from tests.support.listening import listening
from tests.support.tenants import make_tenants
from toolcrib.asgi import create_app, create_app_for
from toolcrib.platform import open_platform
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings

GIVEN = "a-token-from-the-environment"


async def test_an_application_opens_its_own_platform(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Started twice on one database: the first token is shown once and keeps working."""
    settings = Settings(data_dir=data_dir)
    async with listening(create_app(settings)) as url:
        shown = capsys.readouterr().err
        token = shown.rsplit(": ", 1)[1].strip()
        async with httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {token}"}
        ) as api:
            assert (await api.get("/healthz")).json() == {"status": "ok"}
            assert (await api.get("/api/v1/me")).json()["role"] == "super_admin"
    async with listening(create_app(settings)) as url:
        assert "token" not in capsys.readouterr().err
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=url, headers=headers) as api:
            assert (await api.get("/api/v1/me")).status_code == 200


async def test_a_given_token_opens(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """TOOLCRIB_ADMIN_TOKEN is the first super-admin's, and is not repeated anywhere."""
    settings = Settings(data_dir=data_dir, admin_token=GIVEN)  # type: ignore[arg-type]
    async with listening(create_app(settings)) as url:
        headers = {"Authorization": f"Bearer {GIVEN}"}
        async with httpx.AsyncClient(base_url=url, headers=headers) as api:
            assert (await api.get("/api/v1/me")).json()["user_id"] == 1
    assert GIVEN not in capsys.readouterr().err


async def test_a_client_that_leaves_cancels_nothing(settings: Settings) -> None:
    """The call goes on to its end and is in the journal with its result."""
    registry = Registry()
    begun, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        """Waits until it is told to go on."""
        begun.set()
        await go_on.wait()
        done.set()
        return "done"

    registry.register_tools("slow", [slow])
    async with open_crib(settings, registry=registry) as crib:
        tenants = await make_tenants(crib)
        agent = await tenants.agent(tenants.user_a, tenants.a, "slow")
        async with listening(create_app_for(crib.platform)) as url:
            headers = {"Authorization": f"Bearer {tenants.user_a.token}"}
            async with httpx.AsyncClient(base_url=url, headers=headers) as api:
                path = f"/api/v1/agents/{agent.id}/tools/slow/call"
                call = asyncio.create_task(api.post(path, json={}))
                await begun.wait()
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
                go_on.set()
                await done.wait()
                answer = await api.get("/api/v1/calls")
                while answer.json()["items"][0]["success"] is None:
                    answer = await api.get("/api/v1/calls")
    assert answer.json()["items"][0]["success"] is True


async def test_ready_means_that_plugins_were_loaded(settings: Settings) -> None:
    """Until then the process lives and says that it is not ready."""
    opening = open_platform(settings, registry=Registry(), wait_ready=False, background=False)
    async with opening as platform:
        transport = httpx.ASGITransport(create_app_for(platform))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as api:
            early = await api.get("/readyz")
            alive = await api.get("/healthz")
            await platform.load_plugins()
            later = await api.get("/readyz")
    assert problem_of(early) == (503, "not_ready", None)
    assert (alive.status_code, later.json()) == (200, {"status": "ready"})
