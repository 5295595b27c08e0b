def register(registry_fn):
    """The entry point: one parameter, no context."""
    from .address_toolkit import address_toolkit

    registry_fn(
        "addresses",
        address_toolkit,
        name="Address book",
        description="Look up people and note new ones",
    )
