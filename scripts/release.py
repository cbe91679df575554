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
# The Spack package's version in a checkout.
UNRELEASED = """\
    git = Path(__file__).resolve().parents[4].as_uri()  # the checkout
    version("main", branch="main")
"""


def version():
    return re.search(
        r'^__version__ = "(.*)"', (ROOT / "python" / "nearcache" / "__init__.py").read_text(), re.M
    )[1]


def committed():
    """Return the sources as committed, as a tar archive; a text that says why not if this is no
    checkout."""
    name = f"nearcache-{version()}"
    try:
        top, archive = (
            subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout
            for words in (
                ["rev-parse", "--show-cdup"],
                ["archive", "--format=tar", f"--prefix={name}/", "HEAD"],
            )
        )
    except OSError as error:
        return f"cannot start git: {error.strerror}"
    except subprocess.CalledProcessError as error:
        return error.stderr.decode(errors="replace").strip()
    return "the repository is that of a folder above" if top.strip() else archive


def make_archive(folder, sources):
    """Write the sources; gzip stores neither time nor name."""
    archive = folder / f"nearcache-{version()}.tar.gz"
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
            f'    version("{version()}", sha256="{digest}", url="{url}/{archive.name}")\n',
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
    sources = committed()
    if isinstance(sources, str):
        parser.error(f"{ROOT} is no checkout of git ({sources})")
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        parser.error(f"{folder} is not empty")
    archive = make_archive(folder, sources)
    make_spack(folder, archive, given.url or f"file://{folder}")
    make_debian(folder, archive)
    print(archive)


if __name__ == "__main__":
    main()
