"""What an MPI does wrong without Nearcache, found by running the same binaries uncached.

Each row is as narrow as the defect: (tag, program, case): reason. `test_host_defects.py` is not needed to trust it:
run the program with preload=False and `--only CASE` to see the host fail.
"""
DEFECTS = {
    ("openmpi-5.0.11", "known_failures", "empty_gets_take_no_entry"): "hangs in the flush after thousands of empty gets",
}

# Whole programs that an MPI cannot run.
BROKEN_PROGRAMS = {
}


def excepted(mpi, program):
    """Arguments that leave out the cases an MPI gets wrong by itself."""
    cases = [case for (tag, name, case) in DEFECTS if tag == mpi.tag and name == program]
    return ["--except", ",".join(cases)] if cases else []


def broken(mpi, program):
    """Why the MPI cannot run the program at all, or nothing."""
    return BROKEN_PROGRAMS.get((mpi.tag, program), "")
