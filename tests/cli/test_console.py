# SPDX-License-Identifier: BSD-3-Clause
"""Build folders of ./demo and ./test."""

import subprocess
import sys

from support.launch import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import console  # noqa: E402


def test_a_build_folder_that_was_moved_is_configured_anew(tmp_path):
    def cmake(folder):
        subprocess.run(
            ["cmake", "-S", folder, "-B", folder / "build"], check=True, capture_output=True
        )

    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(nothing NONE)\n"
    )
    assert not console.configured(checkout / "build")
    cmake(checkout)
    assert console.configured(checkout / "build")
    (tmp_path / "link").symlink_to(checkout)
    assert console.configured(tmp_path / "link" / "build")
    moved = checkout.rename(tmp_path / "moved")
    assert not console.configured(moved / "build")
    cmake(moved)
    assert console.configured(moved / "build")
