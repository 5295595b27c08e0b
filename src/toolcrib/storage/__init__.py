"""Storage: what the stages keep, in SQLite or PostgreSQL, behind the ports that they declare.

`open_storage` gives a `Storage` with one store for each noun, the journal and the signals; it is
the only place for SQL. `migrate` and `revision` change and show the shape of a database.
`open_blobs` gives the place for documents' bytes: a folder or a bucket. `open_redis` gives what
makes several processes quicker with each other.
"""

from toolcrib.storage.blobs import open_blobs
from toolcrib.storage.database import utc_now
from toolcrib.storage.opening import Storage, open_storage
from toolcrib.storage.redis.parts import open_redis
from toolcrib.storage.schema import BASE, HEAD, REVISIONS, migrate, revision
from toolcrib.storage.tool_ranking import FtsRanking

__all__ = [
    "BASE",
    "HEAD",
    "FtsRanking",
    "REVISIONS",
    "Storage",
    "migrate",
    "open_blobs",
    "open_redis",
    "open_storage",
    "revision",
    "utc_now",
]
