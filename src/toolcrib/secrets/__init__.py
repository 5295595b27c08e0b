"""Secrets: values that are kept sealed, looked up by name and masked wherever they leave.

Settings (`${NAME}`) belong to a user or a group, the user's first. A port keeps the sealed
bytes; sealing and masking are here. Nothing in this package logs a value.
"""
