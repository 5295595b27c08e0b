"""Catalog: what exists.

In come definitions, checked at the edge; out go rows that later stages read. A capability row
names codes; a code names a bundle of tools. Next: grants say who may use them.
"""
