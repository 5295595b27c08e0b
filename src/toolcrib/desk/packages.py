"""This module keeps installed packages: looked at, installed, switched, tested and replaced."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any

from toolcrib.catalog.packages import Package, PackageStore
from toolcrib.coordination.signals import Signals
from toolcrib.desk.package_reading import draft_of, read_for
from toolcrib.desk.package_views import InstalledNow, PackagePreview, PackageView, PackageViews
from toolcrib.desk.pins import Pins
from toolcrib.desk.reach import require_installation
from toolcrib.errors import InvalidOptions, InvalidRequest, NotFound
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.resolution.installed import InstalledPackages, PackageKinds
from toolcrib.resolution.naming import Names
from toolcrib.resolution.toolset import Absence
from toolcrib.secrets.vault import Vault
from toolcrib.sources.http.package_document import PackageReading
from toolcrib.sources.http.words import is_object
from toolcrib.tools.source import Bundle, Finding
from toolcrib.tools.strict_json import read_strict_json

Fetch = Callable[[str], Awaitable[str]]
"""Brings the text behind an https address, guarded and capped."""
Run = Callable[[Request], Awaitable[Outcome]]
_WHAT = "the installed packages"


class InstalledTools:
    """The Tool Manager's packages. Admins look, super-admins change."""

    def __init__(
        self,
        *,
        packages: PackageStore,
        vault: Vault,
        kinds: PackageKinds,
        installed: InstalledPackages,
        signals: Signals,
        fetch: Fetch,
        run: Run,
        clock: Callable[[], datetime],
        pins: Pins,
    ) -> None:
        self._packages = packages
        self._views = PackageViews(kinds=kinds, vault=vault)
        self._kinds = kinds
        self._installed = installed
        self._signals = signals
        self._fetch = fetch
        self._run = run
        self._clock = clock
        self._pins = pins

    async def preview(self, caller: Caller, document: object) -> PackagePreview:
        """A package, or `{"url": …}` where one is found. Nothing is stored.

        Raises InvalidRequest for a text that is no strict JSON, EgressBlocked and the like for an
        address that cannot be fetched.
        """
        require_installation(caller, "change", what=_WHAT)
        if is_object(document) and set(document) == {"url"}:
            reading, findings = read_for(self._kinds, await self._fetched(document["url"]))
        else:
            reading, findings = read_for(self._kinds, document)
        slug = reading.package.get("slug")
        known = await self._packages.find(slug) if isinstance(slug, str) else None
        return PackagePreview(
            package=reading.package,
            secret_status=await self._views.secret_status(reading.package.get("config")),
            ignored_fields=reading.ignored_fields,
            warnings=[f for f in findings if f.severity == "warning"],
            errors=[f for f in findings if f.severity == "error"],
            exists=known is not None,
        )

    async def install(self, caller: Caller, document: object) -> InstalledNow:
        """Raises InvalidOptions for a bad slug or type, Conflict for a slug that is taken."""
        require_installation(caller, "change", what=_WHAT)
        reading, findings = self._installable(document)
        async with self._views.in_conflicts():
            package = await self._packages.install(draft_of(reading))
        return await self._changed(package, reading, findings)

    async def replace(
        self,
        caller: Caller,
        slug: str,
        document: object,
        *,
        expected_version: int | None = None,
    ) -> InstalledNow:
        """Put another definition under the slug, on purpose; what was granted stays granted."""
        require_installation(caller, "change", what=_WHAT)
        reading, findings = self._installable(document)
        if reading.package["slug"] != slug:
            raise InvalidOptions(
                f"The package's slug is {reading.package['slug']!r}, not {slug!r}.",
                where="slug",
                hint="A slug never changes; install the other one.",
            )
        async with self._views.in_conflicts():
            package = await self._packages.replace(
                draft_of(reading),
                expected_version=expected_version,
                released_by=caller.user_id,
            )
        await self._signals.bump("pins")
        return await self._changed(package, reading, findings)

    async def list(
        self, caller: Caller, *, after: str = "", limit: int = 50
    ) -> Sequence[PackageView]:
        """By slug."""
        require_installation(caller, "see", what=_WHAT)
        return [
            await self._views.of(p) for p in await self._packages.list(after=after, limit=limit)
        ]

    async def get(self, caller: Caller, slug: str) -> PackageView:
        require_installation(caller, "see", what=_WHAT)
        return await self._views.of(await self._known(slug))

    async def switch(self, caller: Caller, slug: str, *, enabled: bool) -> PackageView:
        require_installation(caller, "change", what=_WHAT)
        package = await self._packages.update(slug, {"enabled": enabled})
        await self._signals.bump("catalog")
        return await self._views.of(package)

    async def delete(
        self, caller: Caller, slug: str, *, expected_version: int | None = None
    ) -> None:
        """What was granted to it is gone as well: another one of that slug must be granted anew."""
        require_installation(caller, "change", what=_WHAT)
        async with self._views.in_conflicts():
            gone = await self._packages.delete(slug, expected_version=expected_version)
        if not gone:
            raise NotFound.of(f"package {slug!r}")
        await self._pins.gone(f"package:{slug}")
        await self._signals.bump("grants")
        await self._signals.bump("catalog")

    async def test(self, caller: Caller, slug: str, arguments: object) -> Outcome:
        """Call the package's tool for real, disabled or not; the result is its `last_test`.

        Without arguments a package that names a server's tool is not called: the tool is looked
        for. So it is where the server, or a secret for it, is missing: the Outcome says so.

        A missing secret is a failed Outcome that names it. Raises InvalidRequest for a package
        that describes no tool.
        """
        require_installation(caller, "change", what=_WHAT)
        package = await self._known(slug)
        outcome = await self._tried(caller, package, arguments)
        error = outcome.output.error
        result = {
            "at": self._clock().isoformat(),
            "success": error is None,
            "error": error and error.as_json(),
        }
        await self._packages.update(package.slug, {"last_test": result})
        return outcome

    async def _tried(self, caller: Caller, package: Package, arguments: object) -> Outcome:
        """A call, with the arguments that the tool's server tells where the package does not."""
        slug = package.slug
        found = None if arguments is None else await self._installed.find(slug)
        if not isinstance(found, Bundle) and (arguments is None or package.enabled):
            trial = await self._installed.trial(slug)
            if trial is not None:
                looked = await self._called(caller, slug, trial, None)
                if arguments is None or looked.output.error is not None:
                    return looked
                found = await self._installed.find(slug)
        if not isinstance(found, Bundle):
            found = await self._installed.find(slug, testing=True)
        if isinstance(found, Absence):
            raise InvalidRequest(f"{slug!r} cannot be tested: {found.reason}.", hint=found.fix)
        return await self._called(caller, slug, found, arguments)

    async def _called(
        self, caller: Caller, slug: str, bundle: Bundle, arguments: object
    ) -> Outcome:
        names = Names()
        names.add(bundle, capability_id=None)
        tool = names.tools[slug]
        return await self._run(
            Request(tool=tool, caller=caller, arguments=arguments, surface="test")
        )

    async def _fetched(self, url: object) -> Any:
        if not isinstance(url, str):
            raise InvalidRequest("The url must be text.", where="url")
        return read_strict_json(await self._fetch(url))

    def _installable(self, document: object) -> tuple[PackageReading, Sequence[Finding]]:
        reading, findings = read_for(self._kinds, document)
        for finding in reading.refused:
            raise InvalidOptions(finding.message, where=finding.where or None)
        return reading, findings

    async def _changed(
        self, package: Package, reading: PackageReading, findings: Sequence[Finding]
    ) -> InstalledNow:
        await self._signals.bump("catalog")
        return InstalledNow(
            view=await self._views.of(package),
            warnings=findings,
            ignored_fields=reading.ignored_fields,
        )

    async def _known(self, slug: str) -> Package:
        package = await self._packages.find(slug)
        if package is None:
            raise NotFound.of(f"package {slug!r}")
        return package
