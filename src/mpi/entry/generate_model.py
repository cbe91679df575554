# SPDX-License-Identifier: BSD-3-Clause
"""Generates the wrappers of the network model (network_model.cpp): for every row that moves data,
completes it, or reports that a request is complete."""

import re

REQUEST_CALL = re.compile(r"(Wait|Test)(all|any|some)?|Request_get_status(_all|_any|_some)?")
ONE_TARGET = ("Win_flush", "Win_flush_local", "Win_unlock")
ALL_TARGETS = (
    "Win_flush_all",
    "Win_flush_local_all",
    "Win_unlock_all",
    "Win_fence",
    "Win_complete",
)


def body_of_transfer(row, names, call):
    what = "target_count, target_datatype" if "target_count" in names else "1, datatype"
    start = f"started(win, target_rank, {what});"
    if "request" not in names:
        return [start, f"return {call};"]
    return [
        "const double complete = " + start,
        f"const int rc = {call};",
        "if (rc == MPI_SUCCESS) requested(*request, complete);",
        "return rc;",
    ]


def body_of_request_call(row, names, call):
    if "array_of_requests" in names:
        count, requests = ("incount" if "incount" in names else "count"), "array_of_requests"
    else:
        single = next(p for p in row.parameters if p.name == "request")
        count, requests = "1", "request" if single.type.endswith("*") else "&request"
    lines = [f"RequestDeadlines deadlines({count}, {requests});"]
    if not row.name.startswith(
        "Wait"
    ):  # operations in flight in the model are incomplete, whatever the network below says
        output = "outcount" if "outcount" in names else "flag"
        index = " *indx = MPI_UNDEFINED;" if "indx" in names else ""
        lines.append(f"if (deadlines.ahead()) {{ *{output} = 0;{index} return MPI_SUCCESS; }}")
    lines.append(f"const int rc = {call};")
    if not row.name.startswith("Request_"):
        lines.append(f"deadlines.wait_for_completed({requests});")
    return lines + ["return rc;"]


def body(row):
    """Return the statements of a row's wrapper; None if the model need not handle it."""
    names = [p.name for p in row.parameters]
    call = f"model().layer.below.{row.name}({', '.join(names)})"
    if "target_rank" in names and "win" in names:
        return body_of_transfer(row, names, call)
    if row.name in ONE_TARGET:
        return [f"const int rc = {call};", "arrived(win, rank);", "return rc;"]
    if row.name in ALL_TARGETS:
        return [f"const int rc = {call};", "arrived_all(win);", "return rc;"]
    if REQUEST_CALL.fullmatch(row.name):
        return body_of_request_call(row, names, call)
    return None


def source(rows):
    """Return the functions modelled_X, and cover(), which puts them into a table."""
    modelled = [(row, lines) for row in rows if row.of_rma and (lines := body(row)) is not None]
    text = "".join(
        f"int modelled_{row.name}({row.parameter_text}) {{\n  " + "\n  ".join(lines) + "\n}\n"
        for row, lines in modelled
    )
    return (
        text
        + "void cover(RmaNext* table) {\n"
        + "".join(
            f"  if (table->{row.name} != nullptr) table->{row.name} = modelled_{row.name};\n"
            for row, _ in modelled
        )
        + "}\n"
    )
