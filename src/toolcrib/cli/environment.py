"""This module reads the settings, and says which variable is wrong when one is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolcrib.errors import InvalidSettings

if TYPE_CHECKING:
    from toolcrib.settings import Settings

URL = "TOOLCRIB_URL"
TOKEN = "TOOLCRIB_TOKEN"  # noqa: S105 - the name of a variable


def read_settings() -> Settings:
    """The installation's settings. Raises InvalidSettings naming the variable, not its value."""
    from pydantic import ValidationError  # noqa: PLC0415 - `--help` does without
    from pydantic_settings import SettingsError  # noqa: PLC0415

    from toolcrib.settings import Settings  # noqa: PLC0415

    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = "TOOLCRIB_" + ".".join(str(part) for part in first["loc"]).upper()
        raise InvalidSettings(
            f"The variable {name} cannot be used: {first['msg']}.",
            hint="docs/reference/settings.md lists what each may hold.",
        ) from None
    except SettingsError as error:
        raise InvalidSettings(f"The settings cannot be read: {error}.") from None


def remote_url() -> str | None:
    return os.environ.get(URL, "").strip() or None
