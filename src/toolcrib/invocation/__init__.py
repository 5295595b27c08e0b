"""Invocation: running one call.

In come a resolved tool and a Call; out comes an Outcome. The steps are a visible list and one
loop runs them; every call that may change something is in the journal before it is sent.
Next: surfaces put the Outcome into their own words.
"""
