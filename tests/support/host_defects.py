"""Which tests the known defects of MPIs concern: rows of src/mpi/process/host_defects.def, found by running the same binaries uncached.

Each row is as narrow as the defect shows here: (series, program, case): name of the defect. A series is a family and the first two numbers of its versions. To see the host fail, run the case with preload=False.
"""

import json

from . import launch

CASES = {
    ("openmpi-5.0", "known_failures", "empty_gets_take_no_entry"): "empty_gets_hang",
    **{
        (tag, "edges", "rget_buffer_reused_after_its_wait"): "rget_before_data"
        for tag in ("mpich-4.0", "mpich-4.2")
    },
    ("mpich-4.2", "phases", "flag_accumulated_in_own_memory"): "accumulate_waits",
    **{
        (tag, "known_failures", case): "odd_flush_crashes"
        for tag in ("openmpi-4.1", "openmpi-5.0")
        for case in (
            "synchronising_proc_null_completes_nothing",
            "unlocking_proc_null_completes_nothing",
        )
    },
    **{
        ("openmpi-4.1", "coherent", case): "swap_crashes"
        for case in ("compare_and_swap_then_message", "compare_and_swap_of_the_reader")
    },
}

# Whole programs that an MPI cannot run. (What `model` finds wrong in a host is told apart seed by seed: test_model.py.)
BROKEN_PROGRAMS = {
    ("mpich-4.0", "progress"): "put_never_arrives",
    ("mpich-4.0", "phases"): "put_never_arrives",
    ("mpich-4.0", "coherent"): "put_never_arrives",
    ("mpich-4.0", "results-MPI_F08"): "f08_indices",
    ("mpich-4.0", "hash_map"): "fetch_and_op_races",
    ("openmpi-4.1", "hash_map"): "swap_crashes",
    ("openmpi-4.1", "hashtable"): "swap_crashes",
}

# What a job says that an MPI has ended by itself: it tells nothing about the library.
ENDED_BY_HOST = {
    "mpich-5.0": (
        "Fatal error in internal_Comm_create_from_group",
        "stringtag=second",
        "second_session_fails",
    ),
}

# Arguments that keep a program off what an MPI gets wrong. (Of later MPICHs the same shows over tcp only.)
ARGUMENTS = {
    **{
        (tag, "model"): (["--without-requests", "--without-sessions"], "rget_before_data")
        for tag in ("mpich-4.0", "mpich-4.2")
    },
    ("openmpi-4.1", "model"): (
        ["--without-odd-flushes", "--without-derived-accumulates"],
        "derived_get_accumulate",
    ),
    ("openmpi-5.0", "model"): (
        ["--without-odd-flushes", "--without-locks"],
        "wrong_data_under_lock",
    ),
}


def series(mpi):
    return ".".join(mpi.tag.split(".")[:2])


def reason(name):
    """What the library's table says of a defect."""
    rows = json.loads((launch.BUILD / "share" / "nearcache" / "tables.json").read_text())[
        "host_defects"
    ]
    return next(f"{row['what']}; uncached too" for row in rows if row["name"] == name)


def excepted(mpi, program):
    """Arguments that leave out the cases an MPI gets wrong by itself."""
    cases = [case for (tag, name, case) in CASES if tag == series(mpi) and name == program]
    return [
        *ARGUMENTS.get((series(mpi), program), ([],))[0],
        *(["--except", ",".join(cases)] if cases else []),
    ]


def without_quiet_phases(mpi):
    """Whether ranks cannot tell readers of their writes."""
    return series(mpi) == "mpich-4.0"  # put_never_arrives


def ranks_of_halves(mpi):
    """How many ranks a program may have whose halves make windows at the same time: each half of one node, more than one rank of it."""
    return 3 if series(mpi) == "openmpi-4.1" else 4  # halves_share_a_file


def ended(mpi, output):
    """Whether the MPI has ended a job that said this, by a defect of its own."""
    tag = "mpich-5.0" if mpi.family == "abi" else series(mpi)  # whose library has the standard ABI
    *words, _ = ENDED_BY_HOST.get(tag, ("",))
    return bool(words) and all(word in output for word in words)


def crashed(mpi, result):
    """Whether a job has crashed where Open MPI 5.0.11 emulates RDMA by messages: it calls a module that is null.

    Seen once in 140 runs of the model whose halves make windows at the same time, four ranks on two busy cores; not in 125 runs without Nearcache, but nothing
    on the stack is its.
    """
    return (
        series(mpi) == "openmpi-5.0"
        and result.code != 0
        and "mca_btl_sm_poll_handle_frag" in result.output
    )


def broken(mpi, program):
    """Why the MPI cannot run the program at all, or nothing."""
    name = BROKEN_PROGRAMS.get((series(mpi), program))
    return reason(name) if name else ""
