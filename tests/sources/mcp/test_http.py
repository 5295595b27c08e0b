"""Servers over HTTP: every way to speak, what breaks alone, and what comes back by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.sources.mcp.conftest import SHORT, Bench, both_ways, until
from tests.support.mcp_http import Era, HttpMcp, text, tool_of
from toolcrib.errors import SourceError, SourceTimeout, SourceUnreachable
from toolcrib.sources.mcp.servers import HttpServer, Wire

WIRES: dict[Era, Wire] = {
    "session": "streamable",
    "modern": "streamable",
    "sse": "sse",
    "plain": "jsonrpc",
}


def at(server: HttpMcp, **more: Any) -> HttpServer:
    return HttpServer(url=server.url, wire=WIRES[server.era], **more)


@both_ways
@pytest.mark.parametrize("era", list(WIRES))
async def test_every_way_lists_and_calls(bench: Bench, era: Era):
    """Both eras, the older pair of endpoints and plain JSON-RPC list and call alike."""
    async with HttpMcp(era) as server:
        upstream = await bench.upstream(at(server, headers={"X-Key": "k"}))
        state = await upstream.look()
        assert (state.status, list(state.tools.specs), state.error) == ("connected", ["echo"], None)
        output, call = await bench.call(upstream, "echo", {"a": 1})
        assert (output.text, output.success) == ('{"a": 1}', True)
        assert (call.exchange.sent, call.exchange.answered) == (True, True)
        assert all(headers["X-Key"] == "k" for _, _, headers in server.asked)
        await bench.close()


@both_ways
@pytest.mark.parametrize("era", ["session", "modern", "sse"])
async def test_slow_call_delays_no_other(bench: Bench, era: Era):
    """Calls on one connection run beside each other; cancelling one leaves the rest alone."""
    gate = asyncio.Event()

    async def wait(_: Mapping[str, Any]) -> Mapping[str, Any]:
        await gate.wait()
        return text("late")

    async with HttpMcp(era) as server:
        server.answers["slow"] = wait
        upstream = await bench.upstream(at(server))
        await upstream.look()
        slow = asyncio.create_task(bench.call(upstream, "slow"))
        other = asyncio.create_task(bench.call(upstream, "slow"))
        await until(lambda: server.count("tools/call") >= 2)
        quick, _ = await bench.call(upstream, "echo")
        assert quick.text == "{}"
        other.cancel()
        with pytest.raises(asyncio.CancelledError):
            await other
        gate.set()
        assert (await slow)[0].text == "late"
        await bench.close()


@both_ways
@pytest.mark.parametrize("era", ["session", "modern"])
async def test_call_in_flight_when_the_server_dies_is_unknown(bench: Bench, era: Era):
    """Nobody can tell what became of it, and the connection is of use again afterwards."""
    async with HttpMcp(era) as server:
        started = asyncio.Event()

        async def wait(_: Mapping[str, Any]) -> Mapping[str, Any]:
            started.set()
            await asyncio.sleep(3600)
            return text("never")

        server.answers["slow"] = wait
        upstream = await bench.upstream(at(server))
        await upstream.look()
        slow = asyncio.create_task(bench.call(upstream, "slow"))
        await started.wait()
    with pytest.raises(SourceError) as caught:
        await slow
    assert caught.value.sent is True
    async with HttpMcp(era, port=server.port) as again:
        output, _ = await bench.call(upstream, "echo", {"b": 2})
        assert output.text == '{"b": 2}'
        assert again.count("tools/call") >= 1
        await bench.close()


@both_ways
async def test_dead_server_was_not_sent_anything(bench: Bench):
    """A refused connection surely did nothing, and says so."""
    async with HttpMcp("modern") as server:
        upstream = await bench.upstream(at(server))
        await upstream.look()
    with pytest.raises(SourceUnreachable) as caught:
        await bench.call(upstream, "echo")
    assert caught.value.sent is False


@both_ways
async def test_lost_session_is_opened_once_for_all_who_wait(bench: Bench):
    """A server that forgot its sessions gets one new handshake, and every call its answer."""
    async with HttpMcp("session") as server:
        upstream = await bench.upstream(at(server))
        await upstream.look()
        server.sessions.clear()
        outputs = await asyncio.gather(*(bench.call(upstream, "echo", {"n": n}) for n in range(20)))
        assert [output.text for output, _ in outputs] == [f'{{"n": {n}}}' for n in range(20)]
        assert server.made == 2
        await bench.close()


@both_ways
async def test_many_wait_for_one_connection(bench: Bench):
    """Twenty first calls make one connection."""
    async with HttpMcp("session") as server:
        upstream = await bench.upstream(at(server))
        await asyncio.gather(*(bench.call(upstream, "echo") for _ in range(20)))
        assert server.made == 1
        await bench.close()


async def test_changed_list_is_read_again(bench: Bench):
    """News of a changed list reach whoever had looked."""
    async with HttpMcp("session") as server:
        upstream = await bench.upstream(at(server))
        assert list((await upstream.look()).tools.specs) == ["echo"]
        server.tools.append(tool_of("more"))
        await until(lambda: server.streams)
        server.notify("notifications/tools/list_changed")
        await until(lambda: bench.changes)
        assert list((await upstream.look()).tools.specs) == ["echo", "more"]
        await bench.close()


@pytest.mark.parametrize("era", ["modern", "plain"])
async def test_a_server_that_tells_of_nothing_is_looked_at_again(
    make_bench: Callable[..., Bench], era: Era
):
    """While somebody uses it; its connection alone proves nothing."""
    bench = make_bench(replace(SHORT, fresh=0.1))
    async with HttpMcp(era) as server:
        upstream = await bench.upstream(at(server))
        assert list((await upstream.look()).tools.specs) == ["echo"]
        server.tools[:] = [tool_of("other")]
        runs = bench.spawn(bench.pool.run())
        await until(lambda: bench.changes)
        assert list((await upstream.look()).tools.specs) == ["other"]
        runs.cancel()
        await bench.close()


async def test_a_new_session_may_be_with_another_server(bench: Bench):
    """Who comes back after a restart is asked for its list again."""
    async with HttpMcp("session") as server:
        upstream = await bench.upstream(at(server))
        await upstream.look()
        server.sessions.clear()
        server.tools.append(tool_of("more"))
        runs = bench.spawn(bench.pool.run())
        await bench.call(upstream, "echo")
        await until(lambda: bench.changes)
        assert list((await upstream.look()).tools.specs) == ["echo", "more"]
        runs.cancel()
        await bench.close()


async def test_failed_server_comes_back_by_itself(bench: Bench):
    """A dead server is FAILED with its reason, rests, and tells when it is there again."""
    async with HttpMcp("session") as server:
        pass
    upstream = await bench.upstream(at(server))
    state = await upstream.look()
    assert (state.status, state.error and state.error[0]) == ("failed", "unreachable")
    runs = bench.spawn(bench.pool.run())
    async with HttpMcp("session", port=server.port):
        await until(lambda: bench.changes)
        assert (await upstream.look()).status == "connected"
        runs.cancel()
        await bench.close()


async def test_hung_server_is_not_waited_for(make_bench: Callable[..., Bench]):
    """Whoever lists gets an answer after a moment, while the server is tried on."""
    bench = make_bench(replace(SHORT, patience=0.1, opening=1.0))
    async with HttpMcp("session") as server:
        server.hang = True
        upstream = await bench.upstream(at(server))
        assert (await upstream.look()).status == "connecting"
        await until(lambda: bench.changes)
        state = await upstream.look()
        assert (state.status, state.error and state.error[0]) == ("failed", "timeout")
        await bench.close()


@pytest.mark.parametrize(
    ("fault", "words"), [({"html": True}, "text/html"), ({"status": 401}, "HTTP 401")]
)
async def test_no_mcp_server_says_what_it_is(bench: Bench, fault: Mapping[str, Any], words: str):
    """A login page or a refusal is named as the reason."""
    async with HttpMcp("session") as server:
        for name, value in fault.items():
            setattr(server, name, value)
        state = await (await bench.upstream(at(server))).look()
        assert state.status == "failed"
        assert state.error is not None
        assert words in state.error[1]
        await bench.close()


@both_ways
async def test_timeout_ends_one_call(bench: Bench):
    """A call has its own time, and its neighbours live."""

    async def wait(_: Mapping[str, Any]) -> Mapping[str, Any]:
        await asyncio.sleep(3600)
        return text("never")

    async with HttpMcp("session") as server:
        server.answers["slow"] = wait
        upstream = await bench.upstream(at(server))
        await upstream.look()
        with pytest.raises(SourceTimeout):
            await bench.call(upstream, "slow", deadline=0.3)
        assert (await bench.call(upstream, "echo"))[0].success
        assert server.made == 1
        await bench.close()


@both_ways
async def test_server_error_is_an_output(bench: Bench):
    """A JSON-RPC error is an answer: nothing is unknown about it."""

    async def refuse(_: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"jsonrpc_error": {"code": -32603, "message": "quota is used up"}}

    async with HttpMcp("session") as server:
        server.answers["refuse"] = refuse
        upstream = await bench.upstream(at(server))
        await upstream.look()
        output, call = await bench.call(upstream, "refuse")
        assert output.error is not None
        assert (output.error.code, output.text) == ("upstream_error", "quota is used up")
        assert call.exchange.unknown is False
        await bench.close()


async def test_private_values_stay_out_of_reasons(bench: Bench):
    """A secret inside an address is not shown when the address does not answer."""
    server = HttpServer(
        url="http://127.0.0.1:9/secret-path-of-mine",
        private=frozenset({"secret-path-of-mine"}),
    )
    state = await (await bench.upstream(server)).look()
    assert state.error is not None
    assert "secret-path" not in str(state.error)


async def test_another_user_has_another_connection(bench: Bench):
    """Two users of one server share neither session nor headers."""
    async with HttpMcp("session") as server:
        first = await bench.upstream(at(server, headers={"X-Key": "a"}), user=1)
        second = await bench.upstream(at(server, headers={"X-Key": "b"}), user=2)
        await asyncio.gather(first.look(), second.look())
        assert server.made == 2
        keys = {
            (h.get("Mcp-Session-Id"), h["X-Key"]) for m, _, h in server.asked if m == "tools/list"
        }
        assert {key for _, key in keys} == {"a", "b"}
        assert len({session for session, _ in keys}) == 2
        await bench.close()


async def test_changed_settings_close_the_older_connection(bench: Bench):
    """A key that was rotated is not used again."""
    async with HttpMcp("session") as server:
        await (await bench.upstream(at(server, headers={"X-Key": "old"}))).look()
        await (await bench.upstream(at(server, headers={"X-Key": "new"}))).look()
        await until(lambda: len(server.sessions) <= 1)
        assert len(bench.pool.states()) == 1
        await bench.close()
