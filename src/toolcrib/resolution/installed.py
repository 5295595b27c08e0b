"""This module brings the tool behind a code `installed__<slug>`: an installed package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from toolcrib.catalog.packages import Package, PackageStore, code_of
from toolcrib.errors import ToolcribError
from toolcrib.resolution.toolset import Absence, Stage
from toolcrib.secrets.vault import Vault
from toolcrib.tools.call import Call
from toolcrib.tools.deadline import before_call
from toolcrib.tools.remote import Trouble
from toolcrib.tools.result import Output
from toolcrib.tools.source import Bundle, Description, Offer, Preview, Source, SourceKind
from toolcrib.tools.spec import Annotations, ToolSpec

PackageKinds = Mapping[str, SourceKind]
"""How packages of one type become sources, by the type: `http`, `mcp_stdio` …"""


@runtime_checkable
class Discovering(Protocol):
    """A SourceKind whose tools may be known to a server only."""

    async def discover(self, definition: Mapping[str, Any]) -> Sequence[Description] | Trouble:
        """The tools, or why they cannot be told now. Raises ToolcribError."""
        ...

    async def try_out(self, definition: Mapping[str, Any]) -> Output:
        """Look for the tools on the server, now. Raises ToolcribError."""
        ...


class InstalledPackages:
    """Packages by their code. A call reads its secrets itself, so an open source holds none."""

    def __init__(self, packages: PackageStore, vault: Vault, kinds: PackageKinds) -> None:
        self._packages = packages
        self._vault = vault
        self._kinds = kinds

    async def find(self, slug: str, *, testing: bool = False) -> Bundle | Absence:
        """The bundle of an enabled package whose secrets are all there, else why there is none.

        `testing`: also of one that is disabled or lacks secrets; a call then says so.
        """
        package = await self._packages.find(slug)
        if package is None:
            return _absent(slug, "code", "no package of that slug is installed", "Install it.")
        if not package.enabled and not testing:
            return _absent(
                slug, "source", "the package is disabled", f"POST /admin/tools/{slug}/enable"
            )
        kind = self._kinds.get(package.type)
        if kind is None:
            return _absent(
                slug,
                "source",
                f"this installation cannot run packages of type {package.type!r}",
                f"Use one of: {', '.join(self._kinds)}.",
            )
        return await self._described(package, kind, testing)

    async def trial(self, slug: str) -> Bundle | None:
        """A tool that looks for the package's own on its server; None where there is none."""
        package = await self._packages.find(slug)
        kind = self._kinds.get(package.type) if package else None
        if package is None or not isinstance(kind, Discovering):
            return None
        definition, look = definition_of(package), kind.try_out

        async def run(call: Call) -> Output:
            return await look(definition)

        spec = ToolSpec(name=slug, annotations=Annotations(read_only=True))
        offer = Offer(spec=spec, run=run, origin=f"package {slug}")
        return Bundle(code=package.code, kind="package", name=package.name, offers=(offer,))

    async def _described(
        self, package: Package, kind: SourceKind, testing: bool
    ) -> Bundle | Absence:
        definition = definition_of(package)
        try:
            tools = kind.describe(definition)
            needed = sorted(kind.needs(definition).secrets)
        except ToolcribError as error:
            return _absent(package.slug, "source", str(error), "Replace the package.")
        for name in () if testing else needed:
            status = await self._vault.status(name)
            if status != "configured":
                why = "cannot be decrypted" if status == "undecryptable" else "has no value"
                fix = f"PUT /admin/secrets/{name}"
                return _absent(package.slug, "setting", f"the secret {name!r} {why}", fix)
        if isinstance(kind, Discovering) and not testing:
            try:
                found = await kind.discover(definition)
            except ToolcribError as error:
                absent = _absent(package.slug, "source", str(error), "Replace the package.")
                return replace(absent, brief=error.brief or "")
            if isinstance(found, Trouble):
                fix = f"POST /admin/tools/{package.slug}/test tells more."
                absent = _absent(package.slug, "source", found.reason, fix)
                return replace(absent, brief=found.brief)
            tools = found
        return Bundle(
            code=package.code,
            kind="package",
            version=package.version,
            name=package.name,
            description=package.description,
            offers=[_offer(package, kind, tool) for tool in tools],
        )


def definition_of(package: Package) -> dict[str, Any]:
    """The package as its author wrote it."""
    return {
        "slug": package.slug,
        "name": package.name,
        "type": package.type,
        "description": package.description,
        "version": package.package_version,
        "config": package.config,
        **({} if package.input_schema is None else {"input_schema": package.input_schema}),
    }


def _offer(package: Package, kind: SourceKind, tool: Description) -> Offer:
    name = tool.spec.name
    opened: list[Source] = []

    async def source() -> Source:
        # The package is this version of its row: a change makes another offer.
        if not opened:
            opened.append(await kind.open(definition_of(package), {}))
        return opened[0]

    async def run(call: Call) -> Output:
        if opened:
            return await opened[0].call(name, call)
        ready, call = await before_call(call, source(), "the package and its secrets")
        return await ready.call(name, call)

    async def preview(arguments: Mapping[str, Any]) -> Preview | None:
        return await (await source()).preview(name, arguments)

    return Offer(
        spec=tool.spec,
        run=run,
        origin=f"package {package.slug} {package.package_version}",
        checker=tool.checker,
        preview=preview,
        upstream=tool.upstream,
        prompt=tool.prompt,
        provenance=tool.provenance,
    )


def _absent(slug: str, stage: Stage, reason: str, fix: str) -> Absence:
    code = code_of(slug)
    return Absence(
        stage=stage, ref=f"package:{code}/{slug}", reason=reason, fix=fix, tool=slug, code=code
    )
