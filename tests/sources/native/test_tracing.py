"""LangSmith sees nothing of a call unless the operator allows it."""

from __future__ import annotations

import pytest
from langchain_core.tools import tool
from langsmith.run_helpers import tracing_context
from langsmith.utils import get_env_var, tracing_is_enabled

from tests.sources.native.calls import a_call, adapted
from tests.support.packages import run_python
from toolcrib.sources.native.adapting import Adapters


@tool
async def traced_tool() -> str:
    """Whether what it does would be traced."""
    return str(tracing_is_enabled())


def traced_function() -> str:
    return str(tracing_is_enabled())


@pytest.mark.parametrize("obj", [traced_tool, traced_function])
async def test_tracing_is_off_inside_a_call(obj: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the environment or the surrounding code switched it on; on again afterwards."""
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    get_env_var.cache_clear()
    assert (await adapted(obj).run(a_call())).text == "False"
    assert tracing_is_enabled() is True
    monkeypatch.delenv("LANGSMITH_TRACING")
    get_env_var.cache_clear()
    with tracing_context(enabled=True):
        assert (await adapted(obj).run(a_call())).text == "False"
        assert tracing_is_enabled() is True


async def test_tracing_stays_as_it_is_where_allowed() -> None:
    """The operator's TOOLCRIB_ALLOW_LANGSMITH."""
    allowed = Adapters(allow_langsmith=True)
    with tracing_context(enabled="local"):
        assert (await adapted(traced_function, allowed).run(a_call())).text == "local"
    assert (await adapted(traced_tool, allowed).run(a_call())).text == "False"


def test_a_tool_that_loads_langsmith_itself_is_not_traced_either() -> None:
    """With the switch in the environment it is loaded beforehand, so that it can be stopped."""
    done = run_python(
        """
        import asyncio, os
        os.environ["LANGCHAIN_TRACING_V2"] = "true"
        from toolcrib.identity.caller import Caller
        from toolcrib.sources.native.adapting import adapt
        from toolcrib.tools.call import Call

        async def loads():
            from langsmith.utils import tracing_is_enabled
            return str(tracing_is_enabled())

        call = Call(call_id="c", arguments={}, caller=Caller(user_id=1), deadline=60)
        print(asyncio.run(adapt(loads, "x").run(call)).text)
        """
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
