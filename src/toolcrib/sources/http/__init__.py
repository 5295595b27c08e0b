"""HTTP endpoints as tools: one engine, two front doors.

In comes a definition in JSON, an API capability (`api.py`) or an http package (`packages.py`);
`rules.py` holds their differences. A definition is read once into a draft, a draft is bound to
stored values into an operation, an operation is filled by a call's arguments into a request.
Out come ToolSpecs and Outputs. Next: the catalog lists them.
"""
