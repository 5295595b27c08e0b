# Sourced by the scripts beside it: finds a Python, keeps .venv in step with pyproject.toml.
#
#   need_venv            what it takes to run Toolcrib
#   need_venv dev        and what it takes to work on it
#
# PYTHON=/path/to/python picks the interpreter of a new .venv. pip's own settings are honoured.

set -euo pipefail
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
VENV=$TOP/.venv
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "· $*"; }
fail() { printf '%s\n' "✗ $*" >&2; exit 1; }

# quietly TEXT COMMAND…: runs a command, says how long it took; its output is shown only when it fails.
quietly() {
  local text=$1 log start=$SECONDS
  shift
  log=$(mktemp)
  printf '· %s … ' "$text"
  if "$@" >"$log" 2>&1; then
    printf '%s s\n' $((SECONDS - start))
    rm -f "$log"
  else
    printf 'failed. The last lines:\n'
    tail -n 30 "$log" | sed 's/^/    /'
    rm -f "$log"
    return 1
  fi
}

# A name on PATH may be a shim that starts nothing, so each candidate has to answer.
usable_python() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
  local name without_ensurepip=
  for name in ${PYTHON:+"$PYTHON"} python3.13 python3.12 python3.11 python3 python; do
    command -v "$name" >/dev/null 2>&1 && usable_python "$name" || continue
    if "$name" -c 'import ensurepip, venv' >/dev/null 2>&1; then
      printf '%s\n' "$name"
      return
    fi
    without_ensurepip=${without_ensurepip:-$name}
  done
  if [ -n "$without_ensurepip" ]; then
    fail "$without_ensurepip cannot make virtual environments: its ensurepip module is missing.
  Debian and Ubuntu keep it in a package of its own: apt-get install python3-venv"
  fi
  fail "Toolcrib needs Python 3.11 or newer, and none of python3.13, python3.12, python3.11, python3 is one.
  Debian 12: apt-get install python3 python3-venv · macOS: brew install python@3.13
  If it is installed elsewhere: PYTHON=/path/to/python $0"
}

make_venv() {
  local python
  python=$(find_python) || exit 1
  quietly "Making .venv with $("$python" -V 2>&1)" "$python" -m venv --clear "$VENV" || exit 1
  quietly "Bringing pip up to date" "$VENV/bin/python" -m pip install -q --upgrade pip ||
    say "going on with the pip that is there"
}

# The stamp changes with pyproject.toml and with the place of this folder, so a moved clone is
# installed again.
stamp() { { printf '%s\n' "$TOP"; cat "$TOP/pyproject.toml"; } | cksum; }

need_venv() {
  local what=${1:-base} target=$TOP text
  if ! "$VENV/bin/python" -c 'import pip' >/dev/null 2>&1; then
    make_venv
  fi
  [ "$(cat "$VENV/.installed-$what" 2>/dev/null)" != "$(stamp)" ] || return 0
  text="Installing Toolcrib and what it needs (a minute or two the first time)"
  if [ "$what" = dev ]; then
    target="$TOP[dev]"
    text="Installing Toolcrib and the tools for working on it (a few minutes the first time)"
  fi
  quietly "$text" "$VENV/bin/python" -m pip install -q -e "$target" || exit 1
  stamp >"$VENV/.installed-$what"
  [ "$what" = base ] || stamp >"$VENV/.installed-base"
}
