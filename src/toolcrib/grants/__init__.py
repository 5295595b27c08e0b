"""Grants: who may use and change what.

In come a caller and a row; out comes a Verdict. One function, `decide`, answers for lists and
for calls alike, by the table of authority in SPEC 15. Next: resolution asks it for every tool.
"""
