"""Tools: the vocabulary that every stage speaks.

A `ToolSpec` says what a tool is, a `Call` what is asked, an `Output` what came back, and a
`Source` is anything that has tools. Plain data: no database, no web, no LangChain.
"""
