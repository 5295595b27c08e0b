"""Identity: who is calling.

In comes a token, a session or a trusted `configurable`; out goes a frozen `Caller` that every
later stage reads and none changes. Next: the sources and the catalog.
"""
