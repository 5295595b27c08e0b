"""MCP servers as sources: so far their options, which a model's vendor connects with.

In comes a capability's options; out come findings with their places.
"""
