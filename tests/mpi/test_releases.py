"""Every call that releases (src/mpi/entry/entry_points.txt) shows what its rank has stored, and none would without its row: releases.cpp."""

import re
import sys

import pytest
from support import host_defects, launch, runs

sys.path.insert(0, str(launch.ROOT / "tests" / "mpi"))
from test_entry_points import RELEASING, declared  # noqa: E402

COHERENT = {"NEARCACHE_QUIET_AFTER": "1", "NEARCACHE_LONGEST_AGE": "3600s"}

# What releases.cpp has no row for, and why.
WITHOUT_ROW = {
    "it releases after an exclusive lock, which readers are told of: they keep nothing in that phase": "MPI_Win_unlock",
    "nothing follows it": "MPI_Finalize MPI_Session_finalize",
    "it needs other jobs, a server of names, or processes that are started meanwhile": "MPI_Comm_(accept|connect|join|spawn|spawn_multiple) MPI_(Lookup|Publish|Unpublish)_name MPI_Close_port",
    "it needs a second group by a name, as sessions have": "MPI_Intercomm_create_from_groups",
    "partitioned: some libraries of MPI-3.1 declare them before they have what MPI-4 says of them": "MPI_Pready(_range|_list)? MPI_Precv_init",
    "an extension, of streams, threads as ranks or failures": r"MPIX_\w+",
}


def why_without_row(symbol):
    return [
        why
        for why, names in WITHOUT_ROW.items()
        if any(re.fullmatch(pattern, symbol) for pattern in names.split())
    ]


def run(mpi, *args, above=()):
    if host_defects.without_quiet_phases(mpi):
        pytest.skip("nothing is kept with this MPI")
    return runs.run(mpi, "cached", 2, "releases", *args, above=above, env=COHERENT, timeout=300)


def rows(result):
    return {line.split()[1] for line in result.lines("ok")} - {"begin", "end"}


def test_the_store_before_each_call_is_seen(mpi, preload):
    had = {row.symbol for row in RELEASING} & declared(mpi)
    assert sorted(symbol for symbol in had - rows(run(mpi)) if not why_without_row(symbol)) == []


def test_every_row_is_seen_or_said_not_to_be():
    assert [row.symbol for row in RELEASING if len(why_without_row(row.symbol)) > 1] == []


@pytest.mark.few_mpis
def test_without_its_row_no_call_would_show_it(mpi, preload):
    """Calls by PMPI_X do not pass Nearcache."""
    shown = rows(run(mpi, "--hidden", above=[mpi.binary("libhide_mpi.so")]))
    assert (
        sorted(
            symbol
            for symbol in {row.symbol for row in RELEASING} & declared(mpi) - shown
            if not why_without_row(symbol)
        )
        == []
    )
