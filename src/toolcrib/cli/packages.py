"""This module holds the commands for packages: tools described in JSON, installed and tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, fields, listed, record, said, say, table
from toolcrib.cli.command import command, group
from toolcrib.cli.documents import Source, is_address, read_document
from toolcrib.cli.exits import DEFINITION, OK, exit_of_code
from toolcrib.cli.options import Cursor, Limit, Yes, json_object, sure
from toolcrib.cli.paths import PACKAGES, package_path
from toolcrib.cli.tools import show_result
from toolcrib.cli.words import cell
from toolcrib.errors import InvalidRequest

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.cli.client import Client

packages = group("packages", "Tools described in JSON: installed, switched, tested.")
Slug = Annotated[str, typer.Argument(help="The package's slug.")]
_LONG = ("config", "input_schema")


@command(packages, "list", "toolcrib packages list")
async def list_packages(client: Client, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List the installed packages."""
    page = await client.get(PACKAGES, limit=limit, cursor=cursor)
    columns = ("slug", "name", "type", "enabled", "secrets", "last_test")
    shown = {**page, "items": [_shortly(row) for row in page["items"]]}
    empty = "None is installed. See `toolcrib packages install`."
    return replace(listed(shown, *columns, empty=empty), data=page)


@command(packages, "show", "toolcrib packages show knowledge_search")
async def show_package(client: Client, slug: Slug) -> Answer:
    """Show a package, the status of its secrets, and how its last test went."""
    row = await client.get(package_path(slug))
    return replace(record(_shortly(row), hide=("secret_status",)), data=row)


@command(packages, "preview", "toolcrib packages preview knowledge-search.json")
async def preview_package(client: Client, source: Source) -> Answer:
    """Show what an install would do. Nothing is stored.

    Ends with a code other than 0 when something would keep the package from working."""
    document = {"url": source} if is_address(source) else read_document(source)
    found = await client.post(f"{PACKAGES}/preview", document)
    code = DEFINITION if found["errors"] else OK
    return Answer(data=found, show=lambda console: _show_preview(console, found), exit_code=code)


@command(packages, "install", "toolcrib packages install knowledge-search.json")
async def install_package(client: Client, source: Source) -> Answer:
    """Install a package. One whose slug is there already stays as it is."""
    done = await client.post(f"{PACKAGES}/install", await _document(client, source))
    return Answer(data=done, show=lambda console: _show_installed(console, done, "installed"))


@command(packages, "replace", "toolcrib packages replace knowledge-search-2.json")
async def replace_package(client: Client, source: Source) -> Answer:
    """Put another definition under an installed slug, on purpose; who was granted it keeps it."""
    document = await _document(client, source)
    slug = document.get("slug")
    if not isinstance(slug, str) or not slug:
        raise InvalidRequest("The package has no slug to say which one it replaces.", where="slug")
    done = await client.put(package_path(slug), document)
    return Answer(data=done, show=lambda console: _show_installed(console, done, "replaced"))


@command(packages, "enable", "toolcrib packages enable knowledge_search")
async def enable_package(client: Client, slug: Slug) -> Answer:
    """Offer the package's tool to the agents that hold it."""
    row = await client.post(f"{package_path(slug)}/enable")
    return said(f"{slug} is enabled.", row)


@command(packages, "disable", "toolcrib packages disable knowledge_search")
async def disable_package(client: Client, slug: Slug) -> Answer:
    """Take the package's tool away from every agent at once, and keep the package."""
    row = await client.post(f"{package_path(slug)}/disable")
    return said(f"{slug} is disabled: no agent has it.", row)


@command(
    packages, "test", """toolcrib packages test knowledge_search '{"query": "opening hours"}'"""
)
async def try_package(
    client: Client,
    slug: Slug,
    arguments: Annotated[
        str | None, typer.Argument(help="A JSON object, @FILE, or - for stdin.")
    ] = None,
) -> Answer:
    """Call the package's tool for real, disabled or not, and keep how it went.

    Without arguments a tool of an MCP server is looked for and not called. A test that fails ends
    with a code that says how."""
    body = arguments and {"arguments": json_object(arguments, where="arguments")}
    result = await client.post(f"{package_path(slug)}/test", body)
    code = OK if result["success"] else exit_of_code(result["error"]["code"])
    return Answer(data=result, show=lambda console: show_result(console, result), exit_code=code)


@command(packages, "delete", "toolcrib packages delete knowledge_search --yes")
async def delete_package(client: Client, slug: Slug, yes: Yes = False) -> Answer:
    """Remove a package, and it from agents and capabilities. Its secrets stay."""
    sure(f"Remove the package {slug}?", yes=yes)
    await client.delete(package_path(slug))
    return said(f"{slug} is removed.", {"slug": slug, "deleted": True})


def _shortly(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the status of its secrets, and of its last test, in words."""
    lacking = [
        f"{name} {status}"
        for name, status in row["secret_status"].items()
        if status != "configured"
    ]
    secrets = ", ".join(lacking) or ("all configured" if row["secret_status"] else "none needed")
    test, said = row["last_test"], "never tested"
    if test is not None:
        how = "worked" if test["success"] else f"failed: {test['error']['message']}"
        said = f"{how} ({cell(test['at'])})"
    return {**row, "secrets": secrets, "last_test": said}


async def _document(client: Client, source: str) -> dict[str, Any]:
    """The package itself; one at an address as Toolcrib fetched it for a preview."""
    if not is_address(source):
        return read_document(source)
    return (await client.post(f"{PACKAGES}/preview", {"url": source}))["package"]


def _show_preview(console: Console, found: Mapping[str, Any]) -> None:
    fields(console, found["package"], hide=_LONG)
    if found["exists"]:
        say(console, "A package of this slug is installed: `replace` puts this one in its place.")
    _show_findings(console, found["errors"], "Errors")
    _show_findings(console, found["warnings"], "Warnings")
    _show_ignored(console, found["ignored_fields"])
    _show_secrets(console, found["secret_status"])
    if not found["errors"]:
        say(console, "✓ It can be installed.")


def _show_installed(console: Console, done: Mapping[str, Any], verb: str) -> None:
    slug = done["slug"]
    say(console, f"{slug} is {verb}; agents are given it as installed__{slug}.")
    _show_findings(console, done["warnings"], "Worth knowing")
    _show_ignored(console, done["ignored_fields"])
    _show_secrets(console, done["secret_status"])


def _show_findings(console: Console, findings: list[dict[str, str]], title: str) -> None:
    if findings:
        say(console, f"{title}:", style="bold")
        console.print(table(findings, "where", "message"))


def _show_ignored(console: Console, names: list[str]) -> None:
    if names:
        say(console, f"Ignored, for no package has them: {', '.join(names)}.")


def _show_secrets(console: Console, status: Mapping[str, str]) -> None:
    for name, state in status.items():
        if state != "configured":
            say(console, f"· The secret {name} is {state}: toolcrib secrets set {name}")
