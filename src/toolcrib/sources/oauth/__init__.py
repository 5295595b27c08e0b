"""Logins at servers that want OAuth: what a definition says of them, how they are begun and kept.

In comes the `auth` of a definition; out goes an access token for one address, renewed in time.
"""
