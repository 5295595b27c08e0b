"""Sources: where tools come from.

In come definitions of one kind (registered Python, an endpoint, a document, a server); out come
specs and a way to call each. A source knows nothing of grants or surfaces. Next: the catalog.
"""
