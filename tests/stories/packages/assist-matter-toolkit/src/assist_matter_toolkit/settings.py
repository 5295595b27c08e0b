"""Where the toolkit gets the office's address and a user's key from."""

from dataclasses import dataclass
from typing import Protocol


@dataclass
class OfficeSettings:
    base_url: str
    key: str


class Settings(Protocol):
    async def get_settings(self, config: dict) -> OfficeSettings: ...


class HostSettings:
    """The user's own values, asked for at each call."""

    def __init__(self, get_user_setting_value):
        self._get = get_user_setting_value

    async def get_settings(self, config):
        values = config.get("configurable", {})
        who = values.get("logged_user_id"), values.get("group_id")
        return OfficeSettings(
            base_url=await self._get("office_base_url", *who),
            key=await self._get("office_key", *who),
        )


class FixedSettings:
    """The same for everybody, where there is no host."""

    def __init__(self, base_url, key):
        self._settings = OfficeSettings(base_url=base_url, key=key)

    async def get_settings(self, config):
        return self._settings


_used: Settings = FixedSettings("https://office.example", "")


def use_settings(settings: Settings) -> None:
    global _used
    _used = settings


async def settings_of(config: dict) -> OfficeSettings:
    return await _used.get_settings(config)
