"""This module holds what reads, writes and deletes a file inside the walls, as shell scripts.

`$1` is the file. Whatever else there is by that name (a folder, a pipe, a device) is refused.
"""

from __future__ import annotations

from typing import Final

CHANGED: Final = 4
"""The exit code of a write that found another content than it was to replace."""
_REGULAR: Final = """\
if [ -d "$1" ]; then echo "it is a folder" >&2; exit 3; fi
if [ -e "$1" ] && [ ! -f "$1" ]; then echo "it is no regular file" >&2; exit 3; fi
"""
READ: Final = f'{_REGULAR}stat -L -c %a -- "$1" && exec cat -- "$1"'
DELETE: Final = 'if [ -d "$1" ]; then echo "it is a folder" >&2; exit 3; fi; exec rm -- "$1"'
# $2 its permissions, $3 whether it must be new, $4 the SHA-256 of what is to be replaced. A link
# stays one: the file that it leads to is written. A half-written file is never seen; between the
# last look at the old content and the new one nobody else writes in the folder.
WRITE: Final = f"""\
umask 022
{_REGULAR}\
if [ -n "$3" ] && {{ [ -e "$1" ] || [ -L "$1" ]; }}; then echo "it is already there" >&2; exit 3; fi
file=$1; if [ -L "$1" ]; then file=$(readlink -m -- "$1"); fi
folder=$(dirname -- "$file"); mkdir -p -- "$folder" || exit
fresh=$(mktemp -- "$folder/.new-XXXXXX") || exit
same() {{
  [ -z "$1" ] || [ "$(sha256sum < "$file" | cut -c 1-64)" = "$1" ]
}}
if cat > "$fresh" && chmod -- "$2" "$fresh"; then
  exec 9< "$folder" && flock 9
  if ! same "$4"; then rm -f -- "$fresh"; exit {CHANGED}; fi
  if mv -fT -- "$fresh" "$file"; then exit 0; fi
fi
rm -f -- "$fresh"; exit 1
"""
