"""Small programs and libraries that tests of the nearcache command compile."""

import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *preload = getenv("LD_PRELOAD"), *mode = getenv("NEARCACHE_MODE");
  printf("preload=%s mode=%s\n", preload ? preload : "", mode ? mode : "");
  fflush(stdout);
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""


def compiled(folder, name, source, compiler, *flags):
    """A C program or library; the test is skipped without the compiler."""
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    path = Path(folder) / name
    done = subprocess.run(
        [compiler, "-x", "c", "-", "-x", "none", "-o", str(path), *flags],
        input=source,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    return path


def fake_library(folder, name, text):
    """An MPI library that can do nothing but tell its version."""
    source = f"""
#include <string.h>
int MPI_Get_library_version(char *text, int *length) {{ strcpy(text, "{text}"); *length = strlen(text); return 0; }}"""
    return compiled(folder, name, source, "cc", "-shared", "-fPIC", f"-Wl,-soname,{name}")
