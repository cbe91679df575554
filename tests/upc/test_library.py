"""The headers of UPC programs declare the library once, for UPC and for C: nothing that they declare is missing elsewhere."""

import re
import subprocess

import pytest
from support import launch, launch_upc

pytestmark = launch_upc.needs_upc

HEADERS = launch.ROOT / "include" / "nearcache"
FUNCTION = re.compile(r"\b(b?upc_\w+)\s*\(")


def preprocessed(text, *words):
    command = [
        "cc",
        "-E",
        "-P",
        *words,
        "-I",
        HEADERS.parent,
        "-I",
        HEADERS / "upc",
        "-x",
        "c",
        "-",
    ]
    return subprocess.run(
        list(map(str, command)), input=text, capture_output=True, text=True, check=True, timeout=60
    ).stdout


@pytest.fixture(scope="module")
def declared():
    """The functions that UPC programs see."""
    names = sorted(path.name for path in (HEADERS / "upc").glob("*.h"))
    found = set(
        FUNCTION.findall(
            preprocessed("".join(f'#include "{name}"\n' for name in ["upc.h", *names]))
        )
    )
    assert {
        "upc_all_alloc",
        "upc_all_reduceLD",
        "upc_atomic_relaxed",
        "upc_memget_nbi",
        "bupc_sem_post",
        "upc_all_fopen",
    } <= found
    return found


@pytest.mark.parametrize("archive", ["libnearcache_upc.a", "libnearcache_upc_struct.a"])
def test_the_runtime_has_every_function(shmem, declared, archive):
    path = launch.BUILD / "lib" / shmem.tag / archive
    symbols = subprocess.run(
        ["nm", "--defined-only", "-g", path], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert not declared - set(re.findall(r" T (\w+)$", symbols, re.M))


def test_functions_that_know_their_line_are_called_with_it(declared):
    text = "#include <nearcache/upc_runtime.h>\n"
    lined = {
        f"upc_{name}"
        for name in re.findall(
            r"\bncupc_(\w+)\s*\(\s*const char\s*\*\s*file,\s*int line", preprocessed(text)
        )
    } & declared
    called = re.findall(
        r"^#define (upc_\w+)\([^)]*\) nc\1\(NCUPC_HERE\b", preprocessed(text, "-dM"), re.M
    )
    assert len(lined) > 35 and lined == set(called)
