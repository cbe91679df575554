"""Spin, for the models of protocols."""

import shutil
import subprocess

import pytest
from support import launch


@pytest.fixture
def verify(tmp_path):
    """Looks at every run of a model with these macros; the verifier's words."""
    for tool, package in (("spin", "spin"), ("cc", "g++")):
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool}; scripts/setup.sh test installs {package}")

    def done(*words):
        ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def verified(model, sizes, *macros):
        optimised = (
            "-O0" if macros else "-O2"
        )  # a search that ends early takes less time than the compiler
        done("spin", "-a", *(f"-D{each}" for each in (*sizes.split(), *macros)), str(model))
        # Hash compaction takes two thirds of the time; that two states are taken for one has a chance below 1 in 10^9.
        states = "-DCOLLAPSE" if launch.LONG else "-DHC4"
        memory = f"-DMEMLIM={4000 if launch.LONG else 1000}"  # MB
        done("cc", optimised, "-w", "-DSAFETY", states, memory, "-o", "pan", "pan.c")
        text = done("./pan", "-m100000", "-w22")
        assert (
            "max search depth too small" not in text
            and "out of memory" not in text
            and "errors: " in text
        ), text
        return text

    return verified
