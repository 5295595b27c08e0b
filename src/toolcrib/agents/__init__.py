"""Agents: a toolset in conversation.

In comes a chat's message; out comes the reply with its tool calls. Chats are plain records here;
`@tool:name({...})` calls a tool directly, without a model.
"""
