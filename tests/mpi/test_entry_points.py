"""The table of MPI's entry points, and the code that is made of it, without running anything."""

import re
import subprocess
import sys

import pytest
from support import launch

SOURCES = launch.ROOT / "src" / "mpi"
sys.path.insert(0, str(SOURCES / "entry"))
import generate_entry_points  # noqa: E402
import generate_fortran  # noqa: E402
from entry_point_rows import RECEIVING, parse_row, read_table  # noqa: E402

TABLE = read_table(SOURCES / "entry" / "entry_points.txt")
RELEASING = [row for row in TABLE if row.releases]
BY_HAND = [row for row in TABLE if row.kind == "window"]

# The functions of MPI, without their prefix, by which no other rank can learn what this one has done, and why not.
RELEASES_NOTHING = {
    "objects of this process": r"""
        (Type|Group|Info|Op|Errhandler|Status|Keyval|Attr|T|Abi|Grequest|Alloc|Free)_\w+ Register_datarep(_c)? (Get_a|A)ddress Pack\w* Unpack\w*
        \w+_(c2f|f2c|c2f08|f082c|f2f08|f082f|toint|fromint|set_name|get_name|set_attr|get_attr|delete_attr|create_keyval|free_keyval)
        (Comm|File|Win|Session)_(create|set|get|call)_errhandler(_x)? (Add|Remove|Delete)_error_(class|code|string) Session_set_info
        Reduce_local(_c)? ((Comm|Session)_(attach|detach)_buffer|Buffer_(attach|detach))(_c)? Aint_(add|diff) Dims_create Pcontrol""",
    "it only says something": r"""
        Comm_(rank|size|group|compare|test_inter|remote_size|remote_group|get_info|get_parent|is_revoked|get_stream|test_threadcomm)
        (Cart|Graph|Cartdim|Graphdims)_(get|map|rank|coords|shift|neighbors(_count)?) Dist_graph_neighbors(_count)? Topo_test
        Get_(count|elements|elements_x)(_c)? Get_(version|library_version|processor_name|hw_resource_info) Error_(class|string)
        File_get_(amode|atomicity|byte_offset|group|info|position|view|type_extent(_c)?) Win_(get_info|get_group|shared_query(_c)?)
        Session_get_(info|nth_pset|num_psets|pset_info) Query_(thread|cuda_support|hip_support|rocm_support|ze_support) GPU_query_support
        Initialized Finalized Is_thread_main Test_cancelled Wtime Wtick Async_get_state""",
    "it completes, begun operations or lets go of them: what there was to tell was told at their start": r"""
        (Wait|Test)(all|any|some)? Request_(get_status(_all|_any|_some)?|is_complete|free) Wait(all)?_enqueue Continue(all|_init)? Cancel
        Buffer_i?flush (Comm|Session)_i?flush_buffer Win_flush(_local)?(_all)? Stream_progress""",
    "the call that starts it releases": r"(Send|Bsend|Ssend|Rsend)_init(_c)? Psend_init",
    "it only looks for messages, which are received by other calls": r"Iprobe Improbe Parrived",
    "it only reads, or waits for, another rank's memory": r"(Get|Rget)(_c)? Win_(lock|lock_all|start)",
    "readers are told of it before, and serve nothing from before an acquire in that phase (docs/semantics.md)": r"""
        (Put|Rput|Accumulate|Raccumulate|Get_accumulate|Rget_accumulate)(_c)? Fetch_and_op Compare_and_swap Win_unlock_all""",
    "there are no windows yet, or the job ends": r"Init(_thread)? Session_init Abort",
    "a port is known to others by what the program does with its name": r"Open_port",
    "threads and streams of this process": r"Stream_(create|free) (Start|Stop)_progress_thread Async_(start|spawn)",
}

# Those by whose return this rank can learn nothing of what another one has done, and why not.
ACQUIRES_NOTHING = {
    "objects of this process": RELEASES_NOTHING["objects of this process"],
    "what is the same from the beginning of the object to its end": r"""
        Comm_(rank|size|group|compare|test_inter|remote_size|remote_group|get_info|get_parent|get_stream|test_threadcomm)
        (Cart|Graph|Cartdim|Graphdims)_(get|map|rank|coords|shift|neighbors(_count)?) Dist_graph_neighbors(_count)? Topo_test
        Get_(version|library_version|processor_name|hw_resource_info) Error_(class|string)
        File_get_(amode|atomicity|byte_offset|group|info|position|view|type_extent(_c)?) Win_(get_info|get_group|shared_query(_c)?)
        Session_get_(info|nth_pset|num_psets|pset_info) Query_(thread|cuda_support|hip_support|rocm_support|ze_support) GPU_query_support
        Initialized Finalized Is_thread_main Wtime Wtick Async_get_state""",
    "what a message said was learned by the call that completed it": r"Get_(count|elements|elements_x)(_c)? Test_cancelled",
    "it begins something, which another call completes": r"""
        I(?!m?probe|ntercomm_)\w+ Comm_(idup(_with_info)?|iagree|ishrink|revoke) File_i\w+ (Send|Bsend|Ssend|Rsend|Recv)_init(_c)? (Psend|Precv)_init Start(all)? Pready(_range|_list)?
        (Get|Rget|Put|Rput|Accumulate|Raccumulate|Get_accumulate|Rget_accumulate)(_c)? Fetch_and_op Compare_and_swap
        (Send|Recv|Isend|Irecv|Allreduce)_enqueue(_c)? Stream_(isend|irecv)(_c)? Continue_init (Comm|Session)_iflush_buffer Buffer_iflush""",
    "its return says no more than that a buffer may be used again, or that something is written": r"""
        (Send|Bsend|Rsend|Stream_send)(_c)? Buffer_flush (Comm|Session)_flush_buffer File_write(_at|_shared)?(_c)? Close_port""",
    "nobody waits for the request, nor for what is cancelled": r"Request_free Cancel",
    "there are no windows yet, or no more": r"Init(_thread)? Session_init Finalize Abort",
    "a port is known to others by what the program does with its name": r"Open_port",
    "it is this rank's own memory": r"Win_(attach|detach)",
    "threads and streams of this process": r"Stream_(create|free|progress) (Start|Stop)_progress_thread Async_(start|spawn)",
}
ACQUIRING = {
    "create",
    "acquire",
    "acquire_all",
    "acquire_end",
    "acquire_if",
    "complete",
    "query",
    "unkept",
}


def rows(kind):
    return [row for row in TABLE if row.kind == kind]


def declared(mpi):
    """The functions that the MPI's own header declares, without what a tool's interface has."""
    command = [mpi.wrapper, "-E", "-P", "-x", "c", "-include", "mpi.h", "/dev/null"]
    header = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    header = re.sub(r"\btypedef\b[^;]*\bMPIX?_\w+\s*\([^;]*;", "", header)
    return {
        name
        for name in re.findall(r"\b(MPIX?_[A-Z]\w*)\s*\((?!\s*\*)", header)
        if not name.isupper()
    }


def reasons(symbol, table):
    name = symbol.split("_", 1)[1]
    return [
        why
        for why, names in table.items()
        if any(re.fullmatch(pattern, name) for pattern in names.split())
    ]


def why_no_release(symbol):
    return reasons(symbol, RELEASES_NOTHING)


def acquires(row):
    """Whether a call may tell this rank of what another one has done; of those written by hand their code says it."""
    if row.kind != "window":
        return row.kind in ACQUIRING
    return re.search(
        r"context\.acquire\(\)|completing\(|opening\(|\bflush\(|_flush\(", written_by_hand(row)
    )


def generated(row):
    """The C code of a row that is not written by hand."""
    make = {
        "create": generate_entry_points.creation,
        "write": generate_entry_points.write_call,
        "get": generate_entry_points.get,
        "rget": generate_entry_points.get,
    }.get(row.kind, generate_entry_points.wrapper)
    return make(row)


def written_by_hand(row):
    text = "".join(
        (SOURCES / "entry" / name).read_text() for name in ("create.cpp", "process.cpp", "sync.cpp")
    )
    code = re.search(rf"^int {row.symbol}\(.*?\n}}\n", text, re.S | re.M).group()
    # Calls go straight to the engine's memory else, or in a pause to MPI (below).
    for other_way in (r": (long_\w+)\(", r"return (slow_(?:un)?lock)\("):
        named = re.search(other_way, code)
        if named:
            pattern = rf"^\[\[gnu::noinline\]\] int {named.group(1)}\(.*?\n}}\n"
            code = re.search(pattern, text, re.S | re.M).group()
    return code


def fortran(symbol):
    row = next(row for row in TABLE if row.symbol == symbol)
    return generate_fortran.entries([row], "openmpi")[0].code


def test_no_function_is_asked_for_that_is_never_called():
    """A library that lacks it would be left uncached for nothing."""
    text = "".join(
        path.read_text() for path in SOURCES.rglob("*") if path.suffix in (".cpp", ".h", ".py")
    )
    assert [
        row.symbol for row in rows("next") if not re.search(rf"\b(next|below)\.{row.name}\b", text)
    ] == []


def test_every_function_of_an_mpi_releases_or_is_known_not_to(mpi):
    names = declared(mpi)
    assert {"MPI_Send", "MPI_Ibarrier", "MPI_Win_fence", "MPI_File_write"} <= names
    releasing = {row.symbol for row in RELEASING}
    assert sorted(name for name in names - releasing if not why_no_release(name)) == []


def test_every_function_of_an_mpi_acquires_or_is_known_not_to(mpi):
    names = declared(mpi)
    acquiring = {row.symbol for row in TABLE if acquires(row)}
    assert {"MPI_Recv", "MPI_Wait", "MPI_Win_fence", "MPI_File_delete"} <= acquiring & names
    assert sorted(name for name in names - acquiring if not reasons(name, ACQUIRES_NOTHING)) == []


def test_no_function_is_said_both_to_acquire_and_not_to():
    both = [row.symbol for row in TABLE if acquires(row) and reasons(row.symbol, ACQUIRES_NOTHING)]
    assert both == []
    assert [
        row.symbol
        for row in TABLE
        if not acquires(row)
        and row.requirement != "openmpi"
        and not reasons(row.symbol, ACQUIRES_NOTHING)
    ] == []


def test_no_function_is_said_both_to_release_and_not_to():
    assert [row.symbol for row in RELEASING if why_no_release(row.symbol)] == []
    assert [
        row.symbol
        for row in TABLE
        if not row.releases and row.requirement != "openmpi" and not why_no_release(row.symbol)
    ] == []


def test_generated_entry_points_release_before_the_call_goes_down():
    for row in TABLE:
        if row.kind not in ("next", "window"):
            code = generated(row)
            assert code.count("note_release();") == int(row.releases), row.symbol
            waits = row.releases and row.received is not None  # for readers of this rank's memory
            assert code.count("take_waiting_locks();") == int(waits), row.symbol
            assert not waits or code.index("take_waiting_locks();") < code.index(
                "receives_are_told"
            ), row.symbol
            assert not row.releases or code.index("note_release();") < code.index(
                f"next.{row.name}("
            ), row.symbol


def test_entry_points_by_hand_release_before_the_call_goes_down():
    assert len(BY_HAND) > 20
    for row in BY_HAND:
        code = written_by_hand(row)
        assert code.count("note_window_release();") == int(row.releases), row.symbol
        assert not row.releases or code.index("note_window_release();") < code.index(
            f"next.{row.name}("
        ), row.symbol


def test_a_write_passes_unnoted_only_where_nobody_reads():
    text = (SOURCES / "entry" / "write.h").read_text()
    body = re.search(r"inline bool write_passes\(.*?\n}\n", text, re.S).group()
    body = " ".join(body.split())
    assert body.index(
        "if (context.coherence.somebody_reads()) [[unlikely]] return false;"
    ) < body.index("write_unnoted(")


def test_locks_and_writes_of_a_pause_pass_only_where_nobody_reads():
    text = (SOURCES / "window" / "plain_hit.h").read_text()
    body = re.search(r"inline bool passes_plainly\(.*?\n}\n", text, re.S).group()
    for needed in (
        "window->paused()",
        "!context.phases.somebody_may_read()",
        "!context.coherence.somebody_may_read()",
        "!locks_wait()",
    ):
        assert f"&& {needed}" in " ".join(body.split())
    sync = (SOURCES / "entry" / "sync.cpp").read_text()
    for call, way in (("lock", "lock_in_pause("), ("unlock", "unnoted_completing(")):
        body = re.search(rf"int long_{call}\(.*?\n}}\n", sync, re.S).group()
        assert body.index("passes_plainly(window, win)") < body.index(way)


def test_calls_go_straight_to_memory_only_where_nobody_reads():
    text = (SOURCES / "window" / "window.h").read_text()
    body = re.search(r"PassedBy passed_by\(\) const {.*?\n  }\n", text, re.S).group()
    assert "&& context.coherence.nobody_ever_reads()) return PassedBy::always;" in " ".join(
        body.split()
    )


def test_calls_of_a_pause_go_straight_to_memory_only_while_nobody_reads():
    """Flushes and locks of all tell nobody anything."""
    text = (SOURCES / "rma" / "straight.h").read_text()
    for call in ("put", "compare_and_swap", "lock", "unlock", "compute"):
        body = re.search(rf"bool {call}\(.*?\n  }}\n", text, re.S).group()
        assert "somebody_may_read()" in body, call
    body = re.search(r"bool unlock_all\(.*?\n  }\n", text, re.S).group()
    assert "readers_may_join()" in body
    body = re.search(r"bool somebody_may_read\(\) const {.*?\n  }\n", text, re.S).group()
    assert "|| readers_may_join()" in body
    body = re.search(r"bool takes\(.*?\n  }\n", text, re.S).group()
    assert "!readers_may_join() &&" in body


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_fortran_entry_points_release_before_the_call_goes_down(family):
    exported = [row for row in TABLE if row.kind != "next"]
    passed = [
        entry
        for row in exported
        if row.releases
        for entry in generate_fortran.entries([row], family)
        if "fortran_symbol" in entry.code
    ]
    assert len(passed) > 20
    for entry in passed:
        assert entry.code.index("note_release();") < entry.code.index("  below(a0")


def test_every_call_of_fortran_that_releases_has_an_entry_point():
    """All three bindings of Open MPI end in PMPI_X; so do MPICH's calls of mpi_f08 without a buffer."""
    for row in RELEASING:
        if row.symbol.startswith("MPIX_"):
            continue
        name = row.symbol.lower()
        if not row.name.endswith("_c"):
            names = {
                name for entry in generate_fortran.entries([row], "openmpi") for name in entry.names
            }
            assert {name, name + "_", name + "_f08_"} <= names
        if not generate_fortran.has_buffer(row):
            assert [entry.names[0] for entry in generate_fortran.entries([row], "mpich")][
                0
            ].startswith(name.removesuffix("_c") + "_f08_")


def test_every_buffer_that_is_written_to_is_told_of():
    for row in TABLE:
        if row.kind in RECEIVING and any(parameter.type == "void*" for parameter in row.parameters):
            assert row.received is not None or row.received_words == ["nothing"], row.symbol
        assert row.received is not None or row.kind in RECEIVING or not row.received_words, (
            row.symbol
        )


RECEIVES = {
    "MPI_Recv": "tell_received(buf, count, datatype, false);",
    "MPI_Irecv_c": "tell_received(buf, count, datatype, true);",
    "MPI_Recv_init": "tell_received(buf, count, datatype, true);",
    "MPI_Precv_init": "tell_received(buf, MPI_Count{partitions} * count, datatype, true);",
    "MPI_Sendrecv": "tell_received(recvbuf, recvcount, recvtype, false);",
    "MPI_Bcast": "if (receives_but_at_root(root, comm)) tell_received(buffer, count, datatype, false);",
    "MPI_Scatterv": "if (receives_from_root(root, comm)) tell_received(recvbuf, recvcount, recvtype, false);",
    "MPI_Gather": "if (receives_at_root(root, comm)) tell_received_each(recvbuf, recvcount, recvtype, comm, false);",
    "MPI_Igatherv": "if (receives_at_root(root, comm)) tell_received_displaced(recvbuf, recvcounts, displs, recvtype, comm, true);",
    "MPI_Alltoallv": "tell_received_displaced(recvbuf, recvcounts, rdispls, recvtype, comm, false);",
    "MPI_Alltoallw_init": "tell_received_anywhere(true);",
    "MPI_Reduce": "if (receives_at_root(root, comm)) tell_received(recvbuf, count, datatype, false);",
    "MPI_Reduce_scatter": "tell_received_all(recvbuf, recvcounts, datatype, comm, false);",
    "MPI_Reduce_scatter_block": "tell_received_each(recvbuf, recvcount, datatype, comm, false);",
    "MPI_File_read_at": "tell_received(buf, count, datatype, false);",
    "MPI_File_read_all_begin": "tell_received(buf, count, datatype, true);",
    "MPI_Get_accumulate": "tell_received(result_addr, result_count, result_datatype, true);",
    "MPI_Fetch_and_op": "tell_received(result_addr, 1, datatype, true);",
}


@pytest.mark.parametrize("symbol", RECEIVES)
def test_a_call_tells_where_it_receives(symbol):
    code = generated(next(row for row in TABLE if row.symbol == symbol))
    # what writes goes past this where nobody reads
    writes = symbol in ("MPI_Get_accumulate", "MPI_Fetch_and_op")
    assert (
        code.index("receives_are_told()) [[unlikely]] {")
        < code.index("note_write();" if writes else "note_release();")
        < code.index(RECEIVES[symbol])
        < code.index("return noted_write(" if writes else "next.")
    )


def test_persistent_requests_are_told_of_before_anybody_reads():
    for symbol in ("MPI_Recv_init", "MPI_Precv_init", "MPI_Allreduce_init_c"):
        code = generated(next(row for row in TABLE if row.symbol == symbol))
        assert "  if (persistent_receives_are_told()) [[unlikely]] {" in code
    assert "if (persistent_receives_are_told())" in fortran("MPI_Recv_init")


def test_a_call_of_fortran_tells_where_it_receives():
    integer = "static_cast<const MPI_Fint*>"
    code = fortran("MPI_Iallgatherv")
    told = (
        f"    tell_received_displaced(receiving_address_in(a3), {integer}(a4), {integer}(a5), datatype_in({integer}(a6)), "
        f"comm_in({integer}(a7)), true);\n"
    )
    assert code.index("note_release();") < code.index(told) < code.index("  below(a0")
    assert f"receives_but_at_root(*{integer}(a3), comm_in({integer}(a4)))" in fortran("MPI_Ibcast")
    assert (
        f"tell_received(receiving_address_in(a0), MPI_Count{{*{integer}(a1)}} * *static_cast<const MPI_Count*>(a2),"
        in fortran("MPI_Precv_init")
    )


def test_a_row_that_does_not_say_where_it_receives_is_refused():
    with pytest.raises(SystemExit, match="MPI_New: its parameters do not say"):
        assert parse_row(
            "publish | | int MPI_New(void *recvbuf, MPI_Comm comm)", 1, "table"
        ).received
    with pytest.raises(SystemExit, match="table:1: expected"):
        parse_row("publish | | int MPI_New(void *recvbuf, MPI_Comm comm) | somewhere", 1, "table")
