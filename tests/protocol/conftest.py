"""Spin, for the models of protocols."""

import os
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

    # The table of states in large pages: a quarter less time.
    environment = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

    def done(*words):
        ran = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def verified(model, sizes, *macros):
        done("spin", "-a", *(f"-D{each}" for each in (*sizes.split(), *macros)), str(model))
        # A search that ends early takes less time than a compiler that optimises; one of millions of
        # states takes more, but -O3 saves time only where they are hundreds of millions.
        quick = ("tcc",) if shutil.which("tcc") else ("cc", "-O0")
        optimised = ("cc", "-O3" if launch.LONG else "-O1", "-march=native")
        compiler = quick if macros else optimised
        # Hash compaction takes two thirds of the time; that two states are taken for one has a chance below 1 in 10^9.
        states = "-DCOLLAPSE" if launch.LONG else "-DHC4"
        memory = f"-DMEMLIM={4000 if launch.LONG else 1200}"  # MB
        done(*compiler, "-w", "-DSAFETY", states, memory, "-o", "pan", "pan.c")
        # Places in the table of states, which are up to 7 million here.
        places = "-w22" if macros else "-w25" if launch.LONG else "-w24"
        text = done("./pan", "-m100000", places)
        assert (
            "max search depth too small" not in text
            and "out of memory" not in text
            and "errors: " in text
        ), text
        return text

    return verified
