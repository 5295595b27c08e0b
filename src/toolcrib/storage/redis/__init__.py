"""Redis: what makes several processes quicker with each other, and what none of them needs.

`bell` tells the others of a change at once, `cache` shares what may be forgotten, `link` is the
connection that both use. While Redis is away, changes are found by looking at the database each
second, every process has a cache of its own, and no call fails.
"""
