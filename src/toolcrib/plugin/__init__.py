"""Plugins: all that a plugin author touches.

In come Python objects, announced by an entry point or by code of this process; out goes a
snapshot of the registry: a code names a bundle of tools. What is registered stays an opaque
object here; next: `sources/native` makes tools of it.
"""
