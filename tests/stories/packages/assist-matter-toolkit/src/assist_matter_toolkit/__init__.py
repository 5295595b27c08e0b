"""A toolkit for a law office. It knows nothing of whoever loads it."""


def register(registry_fn, context=None):
    """Take what the host offers, then announce the tools."""
    from .matters import matter_toolkit, search_matters
    from .settings import HostSettings, use_settings

    if context is not None and hasattr(context, "get_user_setting_value"):
        use_settings(HostSettings(context.get_user_setting_value))

    registry_fn(
        "matter_desk",
        matter_toolkit,
        name="Matter desk",
        description="Find matters and keep their timers",
    )
    registry_fn("matter_search", [search_matters], name="Matter search", description="Only look")

    if getattr(context, "document_service", None) is not None:
        from .files import file_toolkit, use_documents

        use_documents(context.document_service)
        registry_fn("matter_desk", file_toolkit)
