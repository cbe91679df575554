# SPDX-License-Identifier: BSD-3-Clause
"""Generates the functions of the RMA engine's layer (rma/layer.cpp), for every row on windows that
the engine handles itself; calls on other windows go down."""

ORIGIN = "{origin_addr, origin_count, origin_datatype}"
TARGET = "{target_rank, target_disp, target_count, target_datatype}"
OPERATIONS = {
    "Put": f"put({ORIGIN}, {TARGET})",
    "Get": f"get(origin_addr, origin_count, origin_datatype, {TARGET})",
    "Accumulate": f"accumulate({ORIGIN}, {TARGET}, op)",
    "Get_accumulate": f"get_accumulate({ORIGIN}, result_addr, result_count, result_datatype, {TARGET}, op)",
    "Fetch_and_op": "fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op)",
    "Compare_and_swap": "compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp)",
}
CALLS = {
    "Win_fence": "fence(assert)",
    "Win_start": "start(group, assert)",
    "Win_complete": "complete()",
    "Win_post": "post(group, assert)",
    "Win_wait": "wait()",
    "Win_test": "test(flag)",
    "Win_lock": "lock(lock_type, rank, assert)",
    "Win_unlock": "unlock(rank)",
    "Win_lock_all": "lock_all(assert)",
    "Win_unlock_all": "unlock_all()",
    "Win_flush": "flush(rank)",
    "Win_flush_all": "flush_all()",
    "Win_flush_local": "flush_local(rank)",
    "Win_flush_local_all": "flush_local_all()",
    "Win_sync": "sync()",
    "Win_attach": "attach(base, size)",
    "Win_detach": "detach(base)",
    "Win_get_group": "get_group(group)",
    "Win_shared_query": "shared_query(rank, size, disp_unit, baseptr)",
}
# Calls on requests, which may include fetches in flight: what to do about these before the host is
# called, and what the call returns, of the host's result and of fetches that have failed.
ONE = "of_one(rc)"
ALL = "of_all(rc, array_of_statuses)"
SOME = "of_some(rc, outcount, array_of_indices, array_of_statuses)"
REQUESTS = {
    "Wait": ("wait", "1, request", ONE),
    "Waitall": ("wait", "count, array_of_requests", ALL),
    "Test": ("settle", "1, request", ONE),
    "Testall": ("settle", "count, array_of_requests", ALL),
    "Testany": ("settle", "count, array_of_requests", ONE),
    "Testsome": ("settle", "incount, array_of_requests", SOME),
    "Request_get_status": ("settle", "1, &request", ""),
    "Request_get_status_all": ("settle", "count, array_of_requests", ""),
    "Request_get_status_any": ("settle", "count, array_of_requests", ""),
    "Request_get_status_some": ("settle", "incount, array_of_requests", ""),
    "X_Request_is_complete": ("settle", "1, &request", ""),
    "Request_free": ("let_go", "request", ""),
    "X_Wait_enqueue": ("wait", "1, request", ONE),
    "X_Waitall_enqueue": ("wait", "count, array_of_requests", ONE),
    "X_Continue": ("wait", "1, op_request", ONE),
    "X_Continueall": ("wait", "count, op_requests", ONE),
}
# Calls that wait for one of several requests: the number of requests, the equivalent call that does
# not wait, how to return the rest of its answer, and what the call returns.
WAITS_FOR_ONE = {
    "Waitany": ("count", "Testany(count, array_of_requests, indx, &found, status)", "", ONE),
    "Waitsome": (
        "incount",
        "Testsome(incount, array_of_requests, &found, array_of_indices, array_of_statuses)",
        "*outcount = found;",
        SOME,
    ),
}
# Calls that the most recently used window may complete at once, without further checks; they then
# return true.
SHORT = {
    "Put": "put_word(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype)",
    "Get": "get_word(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype)",
    "Win_flush": "flush_at_once(rank)",
}
INFO = {"Win_set_info": "set_info(info)", "Win_get_info": "get_info(info_used)"}
# Queries about a window, which callbacks of its attributes may still make while it is freed.
DESCRIPTIONS = ("Win_get_group", "Win_get_info", "Win_shared_query")
CREATIONS = ("Win_create", "Win_allocate", "Win_create_dynamic")


def requested(name):
    """Return the operation of a request-based one: Put for Rput."""
    return name[1:].capitalize() if name.startswith("R") else ""


def body(row):
    """Return the statements of a row's function; None if the engine leaves it to the host."""
    name = row.name.removesuffix("_c")
    below = f"below_engine().{row.name}({', '.join(p.name for p in row.parameters)})"
    if name in CREATIONS:
        own = ", ".join(p.name for p in row.parameters)
        return [f"return engine_{name}({own}, [&] {{ return {below}; }});"]
    if name == "Win_free":
        return [
            "EngineWindow* window = win == nullptr ? nullptr : engine_window(*win);",
            f"return window == nullptr ? {below} : engine_Win_free(window, win);",
        ]
    if name in INFO:  # the host reports its own errors
        find = "window_to_describe" if name in DESCRIPTIONS else "engine_window"
        return [
            f"EngineWindow* window = {find}(win);",
            f"return window == nullptr ? {below} : window->{INFO[name]};",
        ]
    if name == "Win_get_attr":
        return [
            "EngineWindow* window = window_to_describe(win);",
            f"return window != nullptr && window->get_attr(win_keyval, attribute_val, flag) ? MPI_SUCCESS : {below};",
        ]
    if name in REQUESTS:
        does, requests, result = REQUESTS[name]
        look = f"engine_fetches().{does}({requests});"
        if not result:
            return [f"if (!engine_fetches().none()) {look}", f"return {below};"]
        return [
            f"if (engine_fetches().none()) return {below};",
            look,
            f"const FailedFetches failed(&engine_fetches(), {requests});",
            f"const int rc = {below};",
            f"return failed.{result};",
        ]
    if name in WAITS_FOR_ONE:
        count, test, found, result = WAITS_FOR_ONE[name]
        failed = f"const FailedFetches failed(&engine_fetches(), {count}, array_of_requests);"
        return [
            f"if (engine_fetches().none()) return {below};",
            f"while (engine_fetches().has({count}, array_of_requests)) {{",
            "  int found = 0;",
            f"  engine_fetches().wait_for_one({count}, array_of_requests);",
            f"  {failed}",
            f"  const int rc = below_engine().{test};",
            f"  {found}",
            f"  if (rc != MPI_SUCCESS || found != 0) return failed.{result};",
            "}",
            failed,
            f"const int rc = {below};",
            f"return failed.{result};",
        ]
    call = OPERATIONS.get(name) or CALLS.get(name)
    if requested(name) in OPERATIONS:
        fetches = str("get" in name.lower()).lower()
        call = (
            f"make_request(window->{OPERATIONS[requested(name)]}, target_rank, {fetches}, request)"
        )
    if call is None:
        return None
    find = "window_to_describe" if name in DESCRIPTIONS else "engine_window"
    return [
        f"EngineWindow* window = {find}(win);",
        f"return window == nullptr ? {below} : window->report(window->{call});",
    ]


def source(rows):
    """Return the functions engine_does_X, and cover_by_engine(), which puts them into a table."""
    done = [(row, lines) for row in rows if row.of_rma and (lines := body(row)) is not None]
    text = ""
    for row, lines in done:
        parameters = row.parameter_text
        short = SHORT.get(row.name.removesuffix("_c"))
        if short:
            # Out of line, so that the short path need not save its registers.
            name = f"engine_fully_does_{row.name}"
            text += f"[[gnu::noinline]] int {name}({parameters}) {{\n  "
            text += "\n  ".join(lines) + "\n}\n"
            arguments = ", ".join(p.name for p in row.parameters)
            lines = [
                "EngineWindow* window = recent_window(win);",
                f"if (window != nullptr && window->{short}) [[likely]] return MPI_SUCCESS;",
                f"return {name}({arguments});",
            ]
        text += f"int engine_does_{row.name}({parameters}) {{\n  " + "\n  ".join(lines) + "\n}\n"
    return (
        text
        + "void cover_by_engine(RmaNext* table) {\n"
        + "".join(
            f"  if (table->{row.name} != nullptr) table->{row.name} = engine_does_{row.name};\n"
            for row, _ in done
        )
        + "}\n"
    )
