"""Lending: what the desk lends to tools that run, each service for the caller of the call.

In comes the running call; out goes what its caller may do and nothing more. A chat's own things
(messages, tasks, documents) are the call's chat's; everything else is asked of the desk, which
decides as it does for every request.
"""
