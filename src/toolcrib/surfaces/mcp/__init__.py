"""This package serves an agent's tools to MCP clients, of both eras of the protocol.

A request becomes a Caller's question to the platform, and the answer goes back in the protocol's
words. The official SDK does the protocol; what is asked most takes a shorter way beside it.
`places` needs nothing of the SDK; the rest is loaded when the first client comes.
"""
