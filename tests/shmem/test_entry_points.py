"""Every entry point of the host's library is ours too, and programs of every kind run through them."""

import json
import re
import subprocess
import sys

import pytest
from support import launch, launch_shmem

sys.path.insert(0, str(launch.ROOT / "src" / "shmem"))
import entry_point_rows as rows  # noqa: E402

TABLE = launch.ROOT / "src" / "shmem" / "entry_points.txt"
OLD_NAMES = {"start_pes", "globalexit", "shmalloc", "shmemalign", "shrealloc", "shfree"}
# What Open MPI's library exports without declaring it: its own inner functions.
INNER = re.compile(r"shmem_(api_logger_output|ds_reset|internal_\w+|lock_(init|finalize))")


def exports(library):
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def host_library(shmem):
    from nearcache import libraries

    return libraries.used_by(shmem.binary("typed"))[0]


def test_every_function_of_the_host_is_interposed_or_a_query(shmem, preload_shmem):
    table = rows.read_table(TABLE)
    host = {
        name
        for name in exports(host_library(shmem))
        if re.match("shmemx?_", name) or name in OLD_NAMES
    }
    host = {name for name in host if not INNER.fullmatch(name)}
    assert len(host) > 800
    not_needed = {name for name in host if table.get(name) in ("next", "plain")}
    assert host - exports(preload_shmem) == not_needed
    assert not any(
        re.search(
            r"_(g|p|(?<!info_)get(?!_(team|config))|put|wait|lock|barrier|quiet|fence|atomic)(_|$)",
            name,
        )
        for name in not_needed
    )


def test_object_leads_to_no_library_and_exports_nothing_else(preload_shmem):
    needed = subprocess.run(
        ["readelf", "-d", str(preload_shmem)], capture_output=True, text=True, check=True
    ).stdout
    assert "oshmem" not in needed and "libmpi" not in needed and "libstdc++" not in needed
    table = rows.read_table(TABLE)
    assert all(name in table or name.startswith("nearcache_") for name in exports(preload_shmem))


@pytest.mark.parametrize("program", ["typed", "generics"])
@pytest.mark.parametrize("mode", ["without", "cached", "off"])
@pytest.mark.parametrize("where", ["default context", "own context"])
def test_every_call_by_its_name_and_by_the_generic_macros(
    shmem, preload_shmem, program, mode, where
):
    """Contexts of their own are tried through shared memory, as over tcp the host hangs (say.h)."""
    own = where == "own context"
    env = {"NEARCACHE_SHMEM": "off"} if mode == "off" else {"NEARCACHE_SKIP_CHEAP": "false"}
    launch_shmem.run(
        shmem,
        2,
        program,
        *(["context"] if own else []),
        preload=mode != "without",
        env=env,
        tcp=not own,
        timeout=60,
    ).check()


def hits_of(shmem, tmp_path, program, **more):
    """What the report says of a run of `program`."""
    report = tmp_path / "report.json"
    env = {**more.pop("env", {}), "NEARCACHE_REPORT": str(report)}
    launch_shmem.run(shmem, 2, program, env=env, **more).check()
    document = json.loads(report.read_text())
    assert document["command"].endswith(program) and document["nodes"] == 1
    assert document["threads"] == "single" and document["started"] > "2026"
    found = re.findall(r'"hits_full": (\d+)', report.read_text())
    return sum(map(int, found))


def test_linked_statically_it_caches_without_preloading(shmem, tmp_path):
    if not shmem.binary("typed_static").exists():
        pytest.skip("typed_static is not built")
    assert hits_of(shmem, tmp_path, "typed_static", preload=False) > 100
    result = launch_shmem.run(
        shmem, 2, "selftest_static", preload=False
    ).check()  # which uses the public functions
    assert "selftest: ok hits=" in result.output


def test_switched_off_nothing_is_cached(shmem, preload_shmem, tmp_path):
    assert hits_of(shmem, tmp_path, "typed") > 100
    assert hits_of(shmem, tmp_path, "typed", env={"NEARCACHE_SHMEM": "off"}) == 0


def compiled(tmp_path, name, source, *flags):
    path = tmp_path / name
    subprocess.run(
        ["cc", "-x", "c", "-", "-x", "none", "-o", str(path), *flags],
        input=source,
        text=True,
        check=True,
    )
    return path


def test_library_that_is_opened_late_is_found_at_the_first_call(shmem, preload_shmem, tmp_path):
    source = (launch.ROOT / "tests" / "shmem" / "late.c").read_text()
    program = compiled(tmp_path, "late", source, "-ldl")
    # Opened late, Open MPI 4.1.4 crashes now and then in shmem_init, when it registers its heap or PEs exchange their segments' addresses,
    # without Nearcache as well.
    for _ in range(20):
        result = launch_shmem.run(shmem, 2, program, host_library(shmem))
        if not re.search(r"\((oshmem_shmem_init|mca_memheap_\w+)\+", result.output):
            break
    result.check()


def test_interpreter_that_opens_its_library_privately_runs(shmem, preload_shmem, tmp_path):
    """Its calls pass us by, but what the library calls itself comes through our symbols before they are filled."""
    script = tmp_path / "private.py"
    script.write_text(
        "import ctypes, sys\n"
        "library = ctypes.CDLL(sys.argv[1])\n"
        "library.shmem_malloc.restype = ctypes.c_void_p\n"
        "library.shmem_init()\n"
        "word = library.shmem_malloc(ctypes.c_size_t(8))\n"
        "lock = library.shmem_malloc(ctypes.c_size_t(8))\n"
        "ctypes.c_long.from_address(word).value = ctypes.c_long.from_address(lock).value = 0\n"
        "library.shmem_barrier_all()\n"
        "for _ in range(5):\n"
        "    library.shmem_set_lock(ctypes.c_void_p(lock))\n"
        "    library.shmem_long_p(ctypes.c_void_p(word), ctypes.c_long(library.shmem_long_g(ctypes.c_void_p(word), 0) + 1), 0)\n"
        "    library.shmem_quiet()\n"
        "    library.shmem_clear_lock(ctypes.c_void_p(lock))\n"
        "library.shmem_barrier_all()\n"
        "print('ok' if library.shmem_long_g(ctypes.c_void_p(word), 0) == 10 else 'FAILED counter', flush=True)\n"
        "library.shmem_finalize()\n"
    )
    launch_shmem.run(shmem, 2, sys.executable, script, host_library(shmem)).check()


def test_object_is_silent_in_programs_without_openshmem(preload_shmem):
    done = launch.execute(
        ["env", f"LD_PRELOAD={preload_shmem}", "NEARCACHE_REPORT=1", "ls", "/"], 30
    )
    assert done.code == 0 and "nearcache" not in done.output


TOOL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static int calls;
long shmem_long_g(const long *from, int pe) {
  calls++;
  return ((long (*)(const long *, int))dlsym(RTLD_NEXT, "shmem_long_g"))(from, pe);
}
__attribute__((destructor)) static void tell(void) {
  if (getenv("OMPI_COMM_WORLD_RANK")) fprintf(stderr, "NAME %d\n", calls);
}
"""


def test_other_tools_stack_above_and_below(shmem, preload_shmem, tmp_path):
    tools = {
        name: compiled(
            tmp_path, f"{name}.so", TOOL.replace("NAME", name), "-shared", "-fPIC", "-ldl"
        )
        for name in ("above", "below")
    }
    result = launch_shmem.run(
        shmem,
        2,
        "typed",
        above=[tools["above"]],
        below=[tools["below"]],
        env={"NEARCACHE_SHMEM": "off"},
    ).check()
    seen = {
        name: [int(count) for count in re.findall(rf"^{name} (\d+)$", result.output, re.M)]
        for name in tools
    }
    assert max(seen["above"]) > 10 and sorted(seen["above"]) == sorted(seen["below"])
