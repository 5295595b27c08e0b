"""This module checks one file at a time: it finds out what the file is, and asks whose rules it
has to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from toolcrib.cli.documents import read_document
from toolcrib.desk.package_reading import read_for
from toolcrib.errors import InvalidRequest
from toolcrib.net.client import GuardedClient
from toolcrib.net.guard import EgressPolicy
from toolcrib.platform import package_kinds
from toolcrib.secrets.placeholders import SECRETS, needs
from toolcrib.sources.http.api import ApiKind
from toolcrib.sources.http.package_credentials import find_credentials
from toolcrib.sources.http.package_document import TYPES
from toolcrib.tools.source import Finding

Kind = Literal["package", "capability", "workflow", "unknown"]


@dataclass(kw_only=True, slots=True)
class Report:
    """What was found in one file. `checked` is false where nobody here knows its rules."""

    file: str
    kind: Kind = "unknown"
    document: Mapping[str, Any] = field(default_factory=dict[str, Any])
    findings: list[Finding] = field(default_factory=list[Finding])
    checked: bool = True
    ignored_fields: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The slug of a package, the code of a capability, the name of a workflow."""
        key = {"package": "slug", "capability": "code"}.get(self.kind, "name")
        value = self.document.get(key)
        return value if isinstance(value, str) else ""

    def error(self, where: str, message: str) -> None:
        self.findings.append(Finding(where=where, message=message))

    def warn(self, where: str, message: str) -> None:
        self.findings.append(Finding(where=where, message=message, severity="warning"))

    def compare(self, *, exists: bool, secret_status: Mapping[str, str]) -> None:
        """Take in what an installation says of this package."""
        if exists:
            self.error("slug", f"{self.name!r} is installed already and is not overwritten.")
        for name, status in secret_status.items():
            if status != "configured":
                self.warn("config", f"The secret {name!r} is {status} in this installation.")

    def as_json(self) -> dict[str, Any]:
        def of(severity: str) -> list[dict[str, str]]:
            return [
                {"where": one.where, "message": one.message}
                for one in self.findings
                if one.severity == severity
            ]

        return {
            "file": self.file,
            "kind": self.kind,
            "name": self.name,
            "checked": self.checked,
            "errors": of("error"),
            "warnings": of("warning"),
            "ignored_fields": list(self.ignored_fields),
            "secrets": list(self.secrets),
            "settings": list(self.settings),
        }


def validated(source: str, allowed: Iterable[str] = ()) -> Report:
    """Check one file. What cannot be read is a finding, so that the other files are looked at.

    `allowed`: the operator's list. Raises InvalidSettings where it cannot be read.
    """
    report = Report(file="stdin" if source == "-" else source)
    try:
        report.document = read_document(source)
    except InvalidRequest as error:
        report.error(error.where or "", error.message)
        return report
    report.kind = _kind_of(report.document)
    _CHECKS[report.kind](report, GuardedClient(EgressPolicy(allowed)))
    return report


def require_different(reports: Sequence[Report]) -> Sequence[Report]:
    """Adds an error to each package whose slug an earlier file has."""
    first: dict[str, str] = {}
    for report in reports:
        if report.kind != "package" or not report.name:
            continue
        if report.name in first:
            report.error("slug", f"{report.name!r} is the slug of {first[report.name]} too.")
        first.setdefault(report.name, report.file)
    return reports


def _kind_of(document: Mapping[str, Any]) -> Kind:
    if "stages" in document:
        return "workflow"
    if document.keys() & {"options", "code"}:
        return "capability"
    is_package = document.keys() & {"slug", "config"} or document.get("type") in TYPES
    return "package" if is_package else "unknown"


def _check_package(report: Report, client: GuardedClient) -> None:
    kinds = package_kinds(client, _no_secret)
    reading, findings = read_for(kinds, report.document)
    written_out = find_credentials(reading.package)
    report.findings += [one for one in findings if one not in written_out]
    for one in written_out:
        report.error(one.where, one.message)
    report.ignored_fields = reading.ignored_fields
    report.secrets = tuple(sorted(needs(reading.package.get("config"), SECRETS)))


def _check_capability(report: Report, client: GuardedClient) -> None:
    given = report.document
    for key in ("name", "code"):
        if not isinstance(given.get(key), str) or not given[key].strip():
            report.error(key, f"The {key} is missing.")
    if given.get("type") != "api":
        report.checked = False
        report.warn("type", "Only capabilities of type 'api' have options that can be checked.")
        return
    kind = ApiKind(client)
    report.findings += kind.check(given)
    report.settings = tuple(sorted(kind.needs(given).settings))


def _check_workflow(report: Report, _: GuardedClient) -> None:
    report.checked = False
    report.warn("", "A workflow. It is strict JSON; this version checks nothing else of it.")


def _check_unknown(report: Report, _: GuardedClient) -> None:
    report.checked = False
    report.warn("", "Neither a package (slug, config) nor a capability (code, options).")


async def _no_secret(name: str) -> NoReturn:
    raise InvalidRequest(f"{name!r} is not looked up while a file is checked.")


_CHECKS = {
    "package": _check_package,
    "capability": _check_capability,
    "workflow": _check_workflow,
    "unknown": _check_unknown,
}
