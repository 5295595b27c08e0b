"""Resolution: what this caller gets now.

In come a caller and the capabilities an agent holds; out comes a Toolset: tools that can be
called, delegations to a model's vendor, and a skip with a reason for everything else.
Next: invocation runs one of the tools.
"""
