"""Net: the only way out.

A URL and a request come in; an answer goes out, or one of the four upstream errors. `guard` judges
every address before every connection, `client` sends, `failures` translates what went wrong. The
sources are next: every one of them that speaks HTTP speaks it through here.
"""
