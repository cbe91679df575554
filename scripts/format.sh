#!/bin/bash
# Rewrites the sources in their layout: clang-format for C and C++, ruff for Python.
# `./test --lint` says whether that is needed. `scripts/setup.sh lint` installs both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=.deps/tools/bin/python
[ -x "$python" ] || python=python3
PYTHONPATH=scripts exec "$python" -c 'import lint; lint.main()'
