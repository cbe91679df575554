#!/usr/bin/env python3
"""Makes everything that a release consists of, from the current commit: scripts/release.py FOLDER [--url URL]

nearcache-<version>.tar.gz     the sources; always the same bytes for the same commit
spack/                         a Spack repository whose package refers to that archive, by checksum, at URL/ or in FOLDER
debian/                        what dpkg-buildpackage needs: nearcache_<version>.orig.tar.gz, and the sources with debian/ inside
"""

import argparse
import gzip
import hashlib
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNRELEASED = '    version("main", branch="main")\n'


def version():
    return re.search(
        r'^__version__ = "(.*)"', (ROOT / "python" / "nearcache" / "__init__.py").read_text(), re.M
    )[1]


def make_archive(folder):
    """Write the sources as committed; gzip stores neither time nor name."""
    name = f"nearcache-{version()}"
    sources = subprocess.run(
        ["git", "archive", "--format=tar", f"--prefix={name}/", "HEAD"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    archive = folder / f"{name}.tar.gz"
    archive.write_bytes(gzip.compress(sources, mtime=0))
    return archive


def make_spack(folder, archive, url):
    shutil.copytree(ROOT / "packaging" / "spack", folder / "spack")
    recipe = folder / "spack" / "packages" / "nearcache" / "package.py"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    text = recipe.read_text()
    assert UNRELEASED in text, recipe
    recipe.write_text(
        text.replace(
            UNRELEASED,
            f'{UNRELEASED}    version("{version()}", sha256="{digest}", url="{url}/{archive.name}")\n',
        )
    )


def make_debian(folder, archive):
    folder /= "debian"
    folder.mkdir()
    shutil.copy(archive, folder / f"nearcache_{version()}.orig.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extractall(folder)
    source = folder / f"nearcache-{version()}"
    shutil.copytree(source / "packaging" / "debian", source / "debian")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="an empty or new folder")
    parser.add_argument("--url", help="where the archive will be found [the folder]")
    given = parser.parse_args()
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        parser.error(f"{folder} is not empty")
    archive = make_archive(folder)
    make_spack(folder, archive, given.url or f"file://{folder}")
    make_debian(folder, archive)
    print(archive)


if __name__ == "__main__":
    main()
