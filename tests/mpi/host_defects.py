"""What an MPI does wrong without Nearcache, found by running the same binaries uncached.

Each row is as narrow as the defect: (tag, program, case): reason. To see the host fail, run the case with preload=False.
"""
DEFECTS = {
    ("openmpi-5.0.11", "known_failures", "empty_gets_take_no_entry"): "hangs in the flush after thousands of empty gets",
}

# Met elsewhere: MPI_Win_flush_all of MPICH 4.0.2 returns before the data of gets have come (apps/graph/read_window.h flushes
# one rank after the other).

# Whole programs that an MPI cannot run. (What `model` finds wrong in a host is told apart seed by seed: test_model.py.)
BROKEN_PROGRAMS = {
    ("mpich-4.0.2", "progress"): "a put that one of three ranks has flushed never reaches its target; hangs uncached too",
}

# Arguments that keep a program off what an MPI gets wrong.
ARGUMENTS = {
    ("mpich-4.0.2", "model"): ["--without-requests"],  # the data of an Rget with derived datatypes comes after its wait
}


def excepted(mpi, program):
    """Arguments that leave out the cases an MPI gets wrong by itself."""
    cases = [case for (tag, name, case) in DEFECTS if tag == mpi.tag and name == program]
    return [*ARGUMENTS.get((mpi.tag, program), []), *(["--except", ",".join(cases)] if cases else [])]


def broken(mpi, program):
    """Why the MPI cannot run the program at all, or nothing."""
    return BROKEN_PROGRAMS.get((mpi.tag, program), "")
