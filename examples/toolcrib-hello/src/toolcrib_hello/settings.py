"""This module asks Toolcrib for a user's settings, where Toolcrib is there to be asked."""

_ask = None


def use_settings(ask):
    """Keep the `get_user_setting_value` of the context; None outside Toolcrib."""
    global _ask  # noqa: PLW0603 - one plugin, one context
    _ask = ask


async def setting(name, config, default=""):
    """The calling user's value, else the group's, else the default."""
    if _ask is None:
        return default
    caller = config.get("configurable", {})
    value = await _ask(name, caller.get("logged_user_id"), caller.get("group_id"))
    return value or default
