#!/bin/sh
# The nearcache command of an installation; NEARCACHE_PYTHON names another Python (3.9 or newer, with click and rich).
here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd)
python=${NEARCACHE_PYTHON:-python3}
unset NEARCACHE_PYTHON # programs that are started would take it for an option

if ! "$python" -c 'import sys, click, rich; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "nearcache: $python is not Python 3.9 or newer with click and rich: install them (pip install click rich," >&2
    echo "nearcache: or Debian's python3-click and python3-rich), or name another Python with NEARCACHE_PYTHON" >&2
    exit 2
fi
# Not by PYTHONPATH: programs that are started must not inherit it.
exec "$python" -c '
import sys
sys.path.insert(0, sys.argv.pop(1))
sys.argv[0] = "nearcache"
from nearcache.cli import main
main(prog_name="nearcache")' "$here/lib/nearcache/python" "$@"
