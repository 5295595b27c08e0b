"""Grants: who may use and change what.

In come a caller and a row; out comes a Verdict. One function, `decide`, answers for lists and
for calls alike, by one table of authority. Next: resolution asks it for every tool.
"""
