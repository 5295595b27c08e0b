"""Isolation: processes that are not ours, kept apart from everything that is.

A command and its limits come in; what it wrote and how it ended goes out. `probing` finds out what
this machine can enforce, `wrapping` writes the command line that enforces it, `running` runs it,
`sandboxes` keeps a folder for each chat. The built-in tools and the MCP servers that are started
as processes use the same walls.
"""
