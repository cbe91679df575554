"""upcrun: what it sets and starts, and what passes through it."""

import os
import signal
import subprocess
import sys

import pytest
from support import launch, launch_shmem, launch_upc
from support.processes import have_ended, is_running

pytestmark = launch_upc.needs_upc

PROGRAM = r"""
#include <upc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char line[80];
  if (argc > 1 && !strcmp(argv[1], "stdin")) {
    if (MYTHREAD == 0 && fgets(line, sizeof line, stdin)) printf("read %s", line);
  } else if (argc > 1 && !strcmp(argv[1], "variable")) {
    printf("%s\n", getenv(argv[2]) ? getenv(argv[2]) : "unset");
  } else if (argc > 1 && !strcmp(argv[1], "exit")) {
    upc_barrier;
    upc_global_exit(atoi(argv[2]));
  } else if (argc > 1 && !strcmp(argv[1], "allocate")) {
    shared void *block = upc_all_alloc(THREADS, (size_t) atoi(argv[2]) << 20);
    if (MYTHREAD == 0) printf("allocated\n");
    upc_all_free(block);
  } else if (argc > 1 && !strcmp(argv[1], "hang")) {
    printf("%d\n", (int) getpid());
    fflush(stdout);
    for (;;) { }
  } else {
    fprintf(stderr, "on stderr\n");
    printf("thread %d of %d\n", MYTHREAD, THREADS);
  }
  upc_barrier;
  return 0;
}
"""


@pytest.fixture(scope="module")
def program():
    return launch_upc.upcc(PROGRAM)


def surroundings(**more):
    return {**launch_shmem.surroundings(tcp=False), "NEARCACHE_HOME": str(launch.BUILD), **more}


def words(*given):
    return [
        sys.executable,
        "-c",
        "from nearcache.upcc.upcrun import main; main(prog_name='upcrun')",
        *map(str, given),
    ]


def upcrun(*given, stdin=None, cwd=None, **more):
    env = surroundings(**more)
    env["PYTHONPATH"] = str(launch.ROOT / "python")
    return subprocess.run(
        words(*given), capture_output=True, text=True, env=env, input=stdin, timeout=120, cwd=cwd
    )


def dumped(*given, **more):
    """What --dump-options prints: (variables, words)."""
    done = upcrun("--dump-options", *given, **more)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return dict(line.split("=", 1) for line in lines[:-1]), lines[-1].split()


def test_threads_start_and_their_output_passes(program):
    done = upcrun("-n", 2, program)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["thread 0 of 2", "thread 1 of 2"]
    assert done.stderr.count("on stderr") == 2


def test_standard_input_and_exit_code_pass(program):
    assert upcrun("-n", 2, program, "stdin", stdin="a line\n").stdout == "read a line\n"
    assert upcrun("-n", 2, program, "exit", 7).returncode == 7


def test_arguments_after_the_program_are_its_own(program):
    assert upcrun("-n", 1, program, "variable", "-n").stdout == "unset\n"


def test_cache_is_switched(program):
    assert upcrun("-n", 1, "--no-cache", program, "variable", "NEARCACHE_SHMEM").stdout == "off\n"
    assert (
        upcrun(
            "-n", 1, "--cache", program, "variable", "NEARCACHE_SHMEM", NEARCACHE_SHMEM="off"
        ).stdout
        == "true\n"
    )
    assert (
        upcrun("-n", 1, program, "variable", "NEARCACHE_SHMEM", NEARCACHE_SHMEM="off").stdout
        == "off\n"
    )


def test_options_of_the_library_are_set_for_the_threads(program):
    assert (
        upcrun("-n", 1, "--shmem-page", "2k", program, "variable", "NEARCACHE_SHMEM_PAGE").stdout
        == "2k\n"
    )
    done = upcrun("-n", 1, "--shmem-page", "two", program)
    assert done.returncode == 2 and "two" in done.stderr


@pytest.mark.parametrize(
    "option, value", [("trace", "/tmp/run"), ("model", "1700,0.75"), ("max_storage", "1G")]
)
def test_options_of_any_program_are_those_of_upc_programs_too(program, option, value):
    variables, _ = dumped("-n", 2, f"--{option}", value, program)
    assert variables[f"NEARCACHE_{option.upper()}"] == value


def test_shared_heap_is_as_large_as_asked_for(program):
    assert "allocated" in upcrun("-n", 2, "--shared-heap", "400M", program, "allocate", 380).stdout
    done = upcrun("-n", 2, "--shared-heap", "16M", program, "allocate", 380)
    assert done.returncode != 0 and "upc: thread" in done.stderr


@pytest.mark.parametrize(
    "text, size",
    [
        ("512M", 512 << 20),
        ("2g", 2 << 30),
        ("100k", 100 << 10),
        ("4096B", 4096),
        ("96", 96 << 20),
        ("1GiB", 1 << 30),
        ("64MB", 64 << 20),
    ],
)
def test_sizes_of_the_heap(program, text, size):
    for name in ("-shared-heap", "--shared-heap"):
        variables, _ = dumped("-n", 1, name, text, program)
        assert int(variables["NEARCACHE_UPC_SHARED_HEAP"]) == size


@pytest.mark.parametrize("text", ["much", "0", "-1", "12Q", "1e400", 5000 * "9"])
def test_wrong_sizes_are_told(program, text):
    done = upcrun("-n", 1, "--shared-heap=" + text, program)
    assert done.returncode == 2 and text in done.stderr


@pytest.mark.parametrize(
    "given, told",
    [
        ([], "missing argument"),
        (["-n"], "option '-n' requires an argument"),
        (["-n", "many", "program"], "'many' is not a valid integer"),
        (["--mode", "always", "program"], "no such option '--mode'"),
        (["-n", "1", "--shmem-tag", "none", "program"], "--shmem-tag none: this nearcache is"),
        (["-n", "1", "--launcher-args", "'", "program"], "--launcher-args: no closing quotation"),
    ],
)
def test_wrong_usage_is_one_line(given, told, program):
    done = upcrun(*(program if word == "program" else word for word in given))
    assert done.returncode == 2 and told in done.stderr.lower(), done.stderr
    assert done.stderr.startswith("upcrun: ") and done.stderr.count("\n") == 1


def test_static_data_finds_room_without_a_word():
    """220 MB of each thread beside the shared heap, where OpenSHMEM has 256 MB in all if it is not told otherwise."""
    large = launch_upc.upcc(
        "#include <upc.h>\n#include <stdio.h>\nshared char large[(220u << 20) * THREADS];\n"
        'int main(void) { large[MYTHREAD] = 1; if (!MYTHREAD) puts("room"); return 0; }\n'
    )
    assert upcrun("-n", 2, large).stdout == "room\n"


def test_program_runs_without_upcrun(program):
    """By hand under oshrun, with nothing set but what root needs; and alone."""
    env = {name: value for name, value in surroundings().items() if name != "OMPI_MCA_memory"}
    done = subprocess.run(
        [launch_shmem.shmems()[0].oshrun, "-n", "1", program],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "thread 0 of 1\n"), done.stderr
    done = subprocess.run([program], capture_output=True, text=True, env=env, timeout=120)
    assert (done.returncode, done.stdout) == (0, "thread 0 of 1\n"), done.stderr


def test_launcher_gets_its_own_words_and_nothing_is_started(program):
    _, started = dumped(
        "-n", 3, "--launcher-args", "--tag-output --hostfile 'my hosts'", program, "argument"
    )
    assert os.path.basename(started[0]) == "oshrun" and started[1:3] == ["-n", "3"]
    assert "--tag-output" in started and started[-2:] == [str(program), "argument"]


def test_threads_share_processors_where_there_are_too_few(program):
    many = dumped("-n", 1000, program)[1]
    one = dumped("-n", 1, program)[1]
    assert "--oversubscribe" in many and "--oversubscribe" not in one


def test_fixed_number_of_threads_is_known_and_another_is_refused():
    fixed = launch_upc.upcc(PROGRAM, "-T=2")
    assert len(upcrun(fixed).stdout.splitlines()) == 2
    done = upcrun("-n", 3, fixed)
    assert (
        done.returncode == 2 and "compiled for 2 threads" in done.stderr and "-n 3" in done.stderr
    )


def test_fixed_number_is_checked_without_upcrun_too():
    done = launch_upc.run(launch_upc.upcc(PROGRAM, "-T=2", "-Wl,-s"), 3)
    assert done.returncode not in (0, None) and "2" in done.stderr and "3" in done.stderr


def test_more_threads_than_a_pointer_can_name_are_refused_before_anything_starts(program, tmp_path):
    for number, most in ((99999999, "1,024"), (1025, "1,024")):
        done = upcrun("-n", number, "--launcher-args", "--no-such-option", program)
        assert (
            done.returncode == 2
            and f"runs on {most} threads at most" in done.stderr
            and "--struct-pointers" in done.stderr
        )
    large = launch_upc.upcc(PROGRAM, "--struct-pointers")
    assert dumped("-n", 1025, large)[1][1:3] == ["-n", "1025"]
    assert "runs on 16,777,216 threads at most" in upcrun("-n", 99999999, large).stderr
    stripped = launch_upc.upcc(PROGRAM, "-Wl,-s")
    assert "runs on 16,777,216 threads at most" in upcrun("-n", 99999999, stripped).stderr


def test_options_of_berkeleys_upcrun_are_taken(program):
    done = upcrun("-q", "-localhost", "-c", 4, "-n", 2, program)
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == [
        "thread 0 of 2",
        "thread 1 of 2",
    ]
    done = upcrun("-c", 4, "-n", 1, program)
    assert "-c 4 has no meaning here and is ignored" in done.stderr


def test_sizes_that_the_library_refuses_together_are_refused(program):
    done = upcrun("--shmem-line", 4096, "-n", 2, program)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("upcrun: --shmem-line: 4096 is not allowed; allowed: from 16 to")
    large = {"NEARCACHE_SHMEM_PAGE": "64k"}
    assert upcrun("--shmem-line", 4096, "-n", 1, program, **large).returncode == 0


def test_wrong_use_is_told(program, tmp_path):
    done = upcrun(program)
    assert done.returncode == 2 and done.stderr.startswith(
        "upcrun: the number of threads is missing"
    )
    done = upcrun("-n", 2, tmp_path / "missing")
    assert done.returncode == 2 and "missing" in done.stderr
    assert upcrun("-n", 0, program).returncode == 2


def test_a_program_that_is_not_upc_is_told(program, tmp_path):
    (tmp_path / "plain.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "plain.c", "-o", "plain"], cwd=tmp_path, check=True)
    done = upcrun("-n", 2, tmp_path / "plain")
    assert done.returncode == 0 and "plain is not linked by upcc" in done.stderr, done.stderr
    stripped = launch_upc.upcc(PROGRAM, "-Wl,-s")
    for more in (["-n", 1, tmp_path / "plain"], ["-n", 2, program], ["-n", 2, stripped]):
        assert "upcc" not in upcrun(*more).stderr, more


def test_program_of_the_working_directory_needs_no_path(program):
    assert "thread 0 of 1" in upcrun("-n", 1, program.name, cwd=program.parent).stdout


def test_end_by_a_signal_ends_all_threads(program):
    process = subprocess.Popen(
        words("-n", 2, program, "hang"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=surroundings(PYTHONPATH=str(launch.ROOT / "python")),
    )
    pids = []
    try:
        pids = [int(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) != 0
        assert have_ended(pids)
    finally:
        process.kill()
        for pid in filter(is_running, pids):
            os.kill(pid, signal.SIGKILL)
