"""A registry of many kit tools: its schemas, cold and warm, and how a function is found.

    python benchmarks/kit.py [--tools 1000] [--rounds 200] [--json]

Classes of four methods each are registered in one ToolRegistry. Cold is the first question after
the classes were made; after a change is the first one after an invalidation. Looking a function up
is timed among the many and among ten times as many: it must not depend on how many there are.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

from _figures import Figures

from toolcrib.kit import MCPRegistry, Tool, ToolRegistry, ToolResult, openapi_schema, param

METHODS = 4


def make_class(number: int) -> type[Tool]:
    """A class of four methods, each with a required and an optional parameter."""

    def method(place: int) -> Callable[..., object]:
        @openapi_schema(name=f"act_{number}_{place}", description="One of many")
        @param("text", "string", "What to work on", required=True)
        @param("mode", "string", "How", enum=["fast", "accurate"], default="fast")
        async def act(self: Tool, text: str, mode: str = "fast") -> ToolResult:
            return self.success_response(text + mode)

        return act

    methods = {f"act_{number}_{place}": method(place) for place in range(METHODS)}
    return type(f"Many{number}Tool", (Tool,), methods)


def filled(tools: int) -> tuple[ToolRegistry, float]:
    """A registry of so many tools, and the milliseconds that registering them took."""
    classes = [make_class(number) for number in range(tools // METHODS)]
    registry = ToolRegistry(mcp_registry=MCPRegistry())
    began = time.perf_counter()
    for kind in classes:
        registry.register_tool(kind)
    return registry, (time.perf_counter() - began) * 1000


def took(work: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def lookup(registry: ToolRegistry, rounds: int) -> float:
    """Microseconds to find a function."""
    names = list(registry.tools)[:: max(1, len(registry.tools) // 100)]

    def find() -> None:
        for name in names:
            registry.get_available_functions()[name]

    find()
    return median(took(find) for _ in range(rounds)) / len(names) * 1000


def run(options: argparse.Namespace) -> Figures:
    figures = Figures()
    registry, registering = filled(options.tools)
    what = f"{options.tools} kit tools"
    cold = registering + took(registry.get_openapi_schemas)
    assert len(registry.get_openapi_schemas()) == options.tools
    warm = median(took(registry.get_openapi_schemas) for _ in range(options.rounds))

    def after_a_change() -> float:
        registry.invalidate_schema_cache()
        return took(registry.get_openapi_schemas)

    changed = median(after_a_change() for _ in range(options.rounds))
    figures.add(f"{what}: schemas, cold", cold, "ms", most=200, note="registering included")
    figures.add(f"{what}: schemas, after a change", changed, "ms", most=200)
    figures.add(f"{what}: schemas, warm", warm, "ms", most=0.1)
    few = lookup(registry, options.rounds)
    many = lookup(filled(options.tools * 10)[0], options.rounds)
    figures.add(f"{what}: find a function", few, "µs")
    figures.add("find a function among ten times as many", many / few, "x", most=2)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tools", type=int, default=1000, help="how many tools")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    run(options).show(as_json=options.json)


if __name__ == "__main__":
    main()
