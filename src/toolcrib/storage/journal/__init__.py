"""The journal: records of calls, queued by the event loop and written by one thread in groups.

In come starts and ends of calls; a batch of them becomes one transaction. Reading goes through
the stores' own connections.
"""

from toolcrib.storage.journal.journal import SqlJournal

__all__ = ["SqlJournal"]
