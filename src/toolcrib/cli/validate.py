"""This module holds `toolcrib validate`: what is wrong with files before anything is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcrib.cli.answers import Answer, say, table
from toolcrib.cli.command import offline_command, verb
from toolcrib.cli.environment import read_settings
from toolcrib.cli.exits import DEFINITION, OK, USAGE
from toolcrib.cli.paths import PACKAGES
from toolcrib.cli.words import many

if TYPE_CHECKING:
    from rich.console import Console

    from toolcrib.cli.command import OpenClient
    from toolcrib.cli.validating import Report


validate = verb()


@offline_command(
    validate,
    "validate",
    "toolcrib validate knowledge-search.json",
    "toolcrib validate weather.json knowledge-search-2.json",
)
async def validate_files(
    open_client: OpenClient,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="JSON files, or -.")],
    installed: Annotated[
        bool,
        typer.Option(
            "--installed",
            help="Also ask the installation, or the one at --url, what is there already.",
        ),
    ] = False,
) -> Answer:
    """Check packages, and capabilities of type api, as their installation would and more strictly:
    a credential that is written out, and two files with one slug, are errors as well.

    Without --installed neither a database nor a network is asked. Ends with 6 for an error, with
    2 for a file that cannot be checked, else with 0: warnings are for you to judge."""
    from toolcrib.cli.validating import require_different, validated  # noqa: PLC0415

    allowed = read_settings().egress_allow
    reports = require_different([validated(source, allowed) for source in files])
    if installed:
        async with open_client() as client:
            for report in reports:
                if report.kind == "package":
                    asked = await client.post(f"{PACKAGES}/preview", report.document)
                    report.compare(exists=asked["exists"], secret_status=asked["secret_status"])
    data = {"items": [one.as_json() for one in reports], "errors": sum(map(_errors, reports))}
    return Answer(data=data, show=lambda console: _show(console, reports), exit_code=_code(reports))


def _errors(report: Report) -> int:
    return sum(one.severity == "error" for one in report.findings)


def _code(reports: Sequence[Report]) -> int:
    if any(map(_errors, reports)):
        return DEFINITION
    return OK if all(one.checked for one in reports) else USAGE


def _show(console: Console, reports: Sequence[Report]) -> None:
    for report in reports:
        _show_report(console, report, report.as_json())
    errors = sum(map(_errors, reports))
    skipped = sum(not one.checked for one in reports)
    said = [many(errors, "error")] if errors else []
    said += [f"{many(skipped, 'file')} not checked"] if skipped else []
    if said:
        say(console, f"{' and '.join(said)}.", style="red")


def _show_report(console: Console, report: Report, row: Mapping[str, Any]) -> None:
    mark = "✗" if _errors(report) else "✓" if report.checked else "?"
    what = f" {row['name']}" if row["name"] else ""
    say(console, f"{mark} {report.file}: {report.kind}{what}", style="bold")
    if report.findings:
        rows = [{"": "✗" if f.severity == "error" else "·", **_row(f)} for f in report.findings]
        console.print(table(rows, "", "where", "message"))
    for key in ("secrets", "settings"):
        if row[key]:
            say(console, f"  {key}: {', '.join(row[key])}")
    if row["ignored_fields"]:
        say(console, f"  ignored: {', '.join(row['ignored_fields'])}")


def _row(finding: Any) -> dict[str, str]:
    return {"where": finding.where, "message": finding.message}
