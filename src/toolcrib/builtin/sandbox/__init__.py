"""The sandbox tools: commands, files and git in a folder that a chat has to itself.

Commands and file contents come in; what they did comes out. Everything is done inside the walls of
`isolation`, file operations too: a path is only ever followed where nothing but the chat's folder
can be reached.
"""
