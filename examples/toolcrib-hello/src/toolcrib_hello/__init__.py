"""Hello: a plugin small enough to read in one sitting, and real enough to copy."""


def register(registry_fn, context=None):
    """Toolcrib calls this once at start.

    `registry_fn(code, tools, *, name, description)` files the tools under a code, which
    capabilities then grant. `context` is what the plugin may ask Toolcrib for; a plugin that
    needs nothing leaves the parameter out.

    The imports stand inside: until Toolcrib calls, loading this package costs nothing.
    """
    from toolcrib_hello.greetings import greet, word_count
    from toolcrib_hello.notes import list_notes, save_note
    from toolcrib_hello.settings import use_settings

    use_settings(getattr(context, "get_user_setting_value", None))
    registry_fn(
        "hello",
        [greet, word_count],
        name="Hello",
        description="Greet people in six languages and count words",
    )
    registry_fn(
        "hello_notes",
        [save_note, list_notes],
        name="Hello notes",
        description="Keep short notes, each user's apart",
    )
