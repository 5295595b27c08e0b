"""Coordination: what several processes must agree on.

Ports for generation numbers and signals; the in-process one lives here, the shared ones in
storage. Without Redis a process polls the generation numbers in the database each second.
"""
