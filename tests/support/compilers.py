"""The C compilers that UPC's tests run with."""

import shutil

# Debian has several under their numbers; the newest is what scripts/setup.sh installs.
CLANG = next(
    (
        name
        for name in (*(f"clang-{version}" for version in range(30, 13, -1)), "clang")
        if shutil.which(name)
    ),
    None,
)
COMPILERS = [cc for cc in ("gcc", CLANG) if cc and shutil.which(cc)]
