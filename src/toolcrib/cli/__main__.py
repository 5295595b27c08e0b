"""This module lets `python -m toolcrib.cli` be the same program as `toolcrib`."""

import sys

from toolcrib.cli import main

if __name__ == "__main__":
    sys.exit(main())
