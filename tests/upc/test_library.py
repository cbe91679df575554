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


WAITING = """#include <upc.h>
#include <unistd.h>
shared int flag;
int main(void) {
    volatile int *mine = (volatile int *) &flag;
    int got = 0;
    upc_barrier;
    upc_fence;
    for (int i = 0; i < 200; i++) { bupc_poll(); usleep(100); } // what the barrier sent is there
    if (MYTHREAD != 0) {
        usleep(20000);
        flag = 7;
        upc_fence;
        return 0;
    }
    WAIT;
    return *mine != 7;
}
"""


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    "wait",
    ["while (*mine != 7) upc_fence", "while (got != 7) upc_memget(&got, &flag, sizeof got)"],
    ids=["fence", "memget"],
)
def test_a_thread_that_waits_for_its_own_memory_serves_others_in_fences_and_calls(wait, cache):
    """Over a network the put that it waits for arrives in a call of its own only."""
    program = launch_upc.upcc(WAITING.replace("WAIT", wait))
    launch_upc.run(program, 2, cache=cache, tcp=True, timeout=30).check()
