#!/usr/bin/env python3
"""Fails if a built library lacks a symbol that it must export, or an archive that it must define: check_exports.py [--nm NM] LIBRARY SYMBOLS."""

import argparse
import subprocess
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("library")
    parser.add_argument("symbols", type=Path)
    args = parser.parse_args()
    table = [] if args.library.endswith(".a") else ["-D"]
    listing = subprocess.run(
        [args.nm, *table, "--defined-only", "--extern-only", args.library],
        check=True,
        capture_output=True,
        text=True,
    )
    exported = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines() if line}
    missing = [name for name in args.symbols.read_text().split() if name not in exported]
    if missing:
        sys.exit(f"{args.library} does not export " + ", ".join(missing))


if __name__ == "__main__":
    main()
