"""Native tools: registered Python, made callable.

In come opaque objects from the registry; out come specs and call paths. An ordered list of
adapters recognises the kinds: LangChain tools, functions, and the classes of the kit,
of which one brings several tools. LangChain is imported only when an object is one of its tools.
"""
