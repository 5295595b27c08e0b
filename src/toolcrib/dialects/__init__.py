"""Dialects: what each model vendor and framework accepts.

In come a Toolset and the settings of hosted servers; out come the tools and entries in one
vendor's own words. Next: agents and surfaces hand them to a model.
"""
