"""The desk: where things are put in, changed and looked up under authority.

One class a noun, one method a verb; each gets a Caller, asks `decide`, then reads or writes
through a port and raises the generation number that others follow. Surfaces and the command line
say only what was asked and show what came back.
"""
