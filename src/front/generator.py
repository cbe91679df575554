# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of the front ends' generators: options, and writing files."""

import argparse
from pathlib import Path


def arguments(description, compiler, *more, lists=()):
    """Parse the options common to all generators. `compiler` is `cc` or `cxx`; `more` are the names
    of further options, `lists` those of options that may be repeated or missing."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", required=True, type=Path)
    parser.add_argument(f"--{compiler}", default={"cc": "cc", "cxx": "c++"}[compiler])
    for name in ("include", "define", *lists):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--out", required=True, type=Path)
    for name in more:
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    return args


def write(path, text):
    """Write a file unless it is unchanged, so that nothing is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_exports(out, names, *patterns):
    """Write the version script that exports these symbols and patterns, and the list for
    check_exports.py."""
    write(
        out / "exports.map",
        "{\n  global:\n"
        + "".join(f"    {name};\n" for name in (*names, *patterns))
        + "  local: *;\n};\n",
    )
    write(out / "symbols.txt", "\n".join(names) + "\n")
