"""REST: a request becomes a Caller and a Call, an Outcome becomes JSON.

`routes` has one module a noun, `shapes` what goes in and comes out of it, `problems` the one
table from errors to answers. Who the caller is was decided before; routes only read it.
"""
