"""Surfaces: the ways in.

Each turns its own first words into a Caller and a Call, and an Outcome into its own last words.
None knows another.
"""
