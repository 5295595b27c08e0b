"""The browser tools: a real browser, with a profile for each chat that ends with it.

Addresses and what to do come in; text and pictures of pages come out. The browser has one way out,
the egress guard's gate, and none of its own: `chromium` starts it so, `sessions` keeps a chat's
pages apart from every other's, `targets` finds what an agent means on a page.
"""
