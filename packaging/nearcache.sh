#!/bin/sh
# The commands of an installation: nearcache, upcc, upcrun, by the name of this file. NEARCACHE_PYTHON names another Python: 3.9 or newer
# with click, rich and pyelftools; for upcc 3.11 or newer, and with pycparser 3.12 or newer.
self=$(readlink -f -- "$0")
name=$(basename -- "$self")
here=$(CDPATH='' cd -- "$(dirname -- "$self")/.." && pwd)
python=${NEARCACHE_PYTHON:-python3}
unset NEARCACHE_PYTHON # programs that are started would take it for an option

# The parser of pycparser 2 is made from tables (PLY): it lacks the methods that upcc's grammar extends.
tell_of_upcc() {
    cat >&2 <<END
upcc: $python is not Python 3.11 or newer with click, rich, and pycparser 3.12 or newer (Debian 12 has 2.21).
upcc: Make a virtual environment that has them, and name its Python (with Debian's python3-venv):
upcc:     python3 -m venv --system-site-packages ~/nearcache-python
upcc:     ~/nearcache-python/bin/pip install click rich pyelftools 'pycparser>=3.12,<4'
upcc:     export NEARCACHE_PYTHON=~/nearcache-python/bin/python
END
}

too_old=False
case $name in
    upcc) start="from nearcache.upcc.driver import entry as main" version="3, 11" modules="click rich pycparser"
        too_old="[int(part) for part in pycparser.__version__.split('.')[:2]] < [3, 12]" ;;
    upcrun) start="from nearcache.upcc.upcrun import main" version="3, 9" modules="click rich elftools" ;;
    *) start="from nearcache.cli import main" version="3, 9" modules="click rich elftools" ;;
esac
imports=$(echo "$modules" | sed 's/ /, /g')
# `python -c` would rather import what lies in the working directory.
own='import sys; sys.path = [folder for folder in sys.path if folder]'
if ! "$python" -c "$own; import $imports; sys.exit(sys.version_info < ($version) or $too_old)" 2>/dev/null; then
    if [ "$name" = upcc ]; then
        tell_of_upcc
        exit 2
    fi
    packages=$(echo "$modules" | sed 's/elftools/pyelftools/')
    newest=$(echo "$version" | sed 's/, /./')
    echo "$name: $python is not Python $newest or newer with $imports: install them (pip install $packages," >&2
    echo "$name: or Debian's python3-click and so on), or name another Python with NEARCACHE_PYTHON" >&2
    exit 2
fi
# Not by PYTHONPATH: programs that are started must not inherit it.
exec "$python" -c "$own
import importlib.machinery, importlib.util
place = sys.argv.pop(1)
sys.path.insert(0, place)
# A source tree that pip has installed in place has a finder of its own, which comes before sys.path.
spec = importlib.machinery.PathFinder.find_spec('nearcache', [place])
package = sys.modules['nearcache'] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
sys.argv[0] = '$name'
$start
main()" "$here/share/nearcache/python" "$@"
