"""This module holds `toolcrib demo`: a tool's whole way, from an installed package to the journal,
in steps that anybody can follow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, console, say, show, table
from toolcrib.cli.command import plain_command, require_here, verb
from toolcrib.cli.environment import read_settings

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.cli.demo_steps import Scene


demo = verb()


@plain_command(demo, "demo", "toolcrib demo")
def play(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the facts as JSON, for programs.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error happened.")] = False,
) -> None:
    """Install an example plugin and follow one of its tools to a call and its record.

    It makes a group, a user and an agent. Run again, it goes on with what is there."""
    require_here()
    out = None if as_json else console()
    facts = asyncio.run(_played(out))
    if as_json:
        show(Answer(data=facts, show=lambda _: None), as_json=True)


async def _played(out: Console | None) -> dict[str, Any]:
    from toolcrib.cli.demo_steps import STEPS  # noqa: PLC0415 - `--help` does without
    from toolcrib.cli.demo_story import Story  # noqa: PLC0415
    from toolcrib.cli.here import here  # noqa: PLC0415

    settings = read_settings()
    async with here(settings, plugins=False) as client:
        story = Story(client=client, settings=settings)
        for number, (title, step) in enumerate(STEPS, start=1):
            if out is not None:
                say(out, f"\n{number}/{len(STEPS)}  {title}", style="bold")
            scene = await step(story)
            if out is not None:
                _show(out, scene)
    return story.facts


def _show(out: Console, scene: Scene) -> None:
    mark = {True: "made: ", False: "there already: ", None: ""}[scene.made]
    for line in (mark + scene.text).splitlines():
        say(out, f"     {line}")
    if scene.rows:
        out.print(table(scene.rows, *scene.columns))
