"""Shapes: what goes into REST and what comes out of it, one module a noun."""
