"""Compatibility: import lines of code written for Kortix and PrimeThink find Toolcrib's names.

In come `install()` calls; out go modules for names that nothing else provides. Code behind those
imports is Toolcrib's own, so what it registers is an ordinary tool.
"""
