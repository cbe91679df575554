# SPDX-License-Identifier: BSD-3-Clause
"""Generates the Fortran entry points of entry_points.txt's rows: their symbols, and their code (see
fortran.h)."""

from dataclasses import dataclass

from generate_coherence import told

HANDLES = {
    "MPI_Comm": "comm",
    "MPI_Group": "group",
    "MPI_Info": "info",
    "MPI_Op": "op",
    "MPI_Datatype": "datatype",
    "MPI_Win": "win",
    "MPI_Errhandler": "errhandler",
    "MPI_Request": "request",
    "MPI_Session": "session",
}
OF_REQUESTS = ("complete", "query", "release")
FAILED = "MPI_ERR_OTHER"
# Lengths of strings follow the last argument; none of our calls has more strings than this.
HIDDEN_LENGTHS = 6


@dataclass
class Entry:
    target: str  # the function that does the work
    names: list  # the symbols that lead to it
    code: str


def has_buffer(row):
    return any(
        p.type in ("void*", "const void*") and p.name not in ("baseptr", "attribute_val")
        for p in row.parameters
    )


def entries(rows, family):
    rows = [r for r in rows if not r.name.startswith("X_")]  # extensions have no Fortran forms
    if family == "openmpi":
        return [e for r in rows if not r.name.endswith("_c") for e in openmpi_entries(r)]
    if family == "mpich":
        return [e for r in rows if not has_buffer(r) for e in mpich_entries(r)]
    return []


def manglings(name):
    """Return the spellings that Fortran compilers give an external name."""
    return [name, name + "_", name + "__", name.upper()]


def openmpi_entries(row):
    lower = row.symbol.lower()
    f77 = manglings(lower)
    f08 = lower + "_f08_"
    if row.enters_ours:
        if row.name in (
            "Win_allocate",
            "Win_allocate_shared",
            "Win_shared_query",
        ):  # `use mpi` with a type(c_ptr)
            f77 += manglings(lower + "_cptr")
        target = "fortran_" + lower
        return [Entry(target, f77 + [f08], entering_call(row, target, lower + "_"))]
    return [
        Entry("fortran_" + lower, f77, passed_call(row, "fortran_" + lower, lower + "_")),
        Entry("fortran_" + f08, [f08], passed_call(row, "fortran_" + f08, f08)),
    ]


def mpich_entries(row):
    lower = row.symbol.lower()
    name = lower[:-2] + "_f08_large_" if row.name.endswith("_c") else lower + "_f08_"
    make = entering_call if row.enters_ours else passed_call
    found = [Entry("fortran_" + name, [name], make(row, "fortran_" + name, name))]
    if row.name == "Win_get_attr":  # the only one whose Fortran form calls no MPI_X
        found.append(
            Entry("fortran_" + lower, manglings(lower), make(row, "fortran_" + lower, lower + "_"))
        )
    return found


def count_of(row):
    """Return the expression for the number of requests in a call's array."""
    counted = row.arguments[0] if row.kind != "release" else "1"
    return counted if counted == "1" else "*" + counted


def argument(row, parameter):
    """Return (Fortran parameter, C argument, declaration before the call, statement after it) for
    one C parameter.

    A declared object stores its results in the Fortran variable when it goes out of scope.
    """
    kind, name = parameter.type, parameter.name
    if kind == "int":
        return f"const MPI_Fint* {name}", f"static_cast<int>(*{name})", "", ""
    if kind in ("MPI_Aint", "MPI_Count"):
        return f"const {kind}* {name}", f"*{name}", "", ""
    if kind in HANDLES:
        return f"const MPI_Fint* {name}", f"{HANDLES[kind]}_in({name})", "", ""
    if name == "baseptr":
        return f"void* {name}", name, "", ""
    if kind in ("void*", "const void*"):
        return f"void* {name}", f"address_in({name})", "", ""
    if kind in ("MPI_Request*", "const MPI_Request*") and row.kind in OF_REQUESTS:
        return (
            f"MPI_Fint* {name}",
            f"c_{name}.data()",
            f"Requests c_{name}({name}, {count_of(row)});",
            "",
        )
    if kind == "MPI_Status*":
        which, count = ("status", "1") if name == "status" else ("statuses", count_of(row))
        return (
            f"MPI_Fint* {name}",
            f"c_{name}.data()",
            f"Statuses c_{name}({name}, {count}, {which}_ignored({name}));",
            "",
        )
    if kind == "int*" and name == "array_of_indices":
        return (
            f"MPI_Fint* {name}",
            name,
            "",
            f"for (int i = 0; i < c_outcount; ++i) {name}[i] = index_out({name}[i]);",
        )
    if kind == "int*":
        out = f"index_out(c_{name})" if name == "indx" else f"c_{name}"
        first = "MPI_UNDEFINED" if name == "indx" else "0"
        return f"MPI_Fint* {name}", f"&c_{name}", f"int c_{name} = {first};", f"*{name} = {out};"
    if kind in ("MPI_Aint*", "MPI_Count*"):
        return f"{kind} {name}", name, "", ""
    if kind == "MPI_Win*":  # the variable of a new window may hold anything
        first = f"win_in({name})" if row.name == "Win_free" else "MPI_WIN_NULL"
        return (
            f"MPI_Fint* {name}",
            f"&c_{name}",
            f"MPI_Win c_{name} = {first};",
            f"*{name} = win_out(c_{name});",
        )
    if kind[:-1] in HANDLES and kind[-1] == "*":
        what = HANDLES[kind[:-1]]
        null = f"MPI_{what.upper()}_NULL"
        first, out = null, f"{what}_out(c_{name})"
        declared = "{0} c_{1} = {2};"
        if row.name == "Session_finalize":
            # After the last session Open MPI 5.0.7 has no handle converted any more.
            first, out = f"{what}_in({name})", f"null_{name}"
            declared += f" const MPI_Fint null_{name} = {what}_out({null});"
        return (
            f"MPI_Fint* {name}",
            f"&c_{name}",
            declared.format(kind[:-1], name, first),
            f"*{name} = {out};",
        )
    raise SystemExit(f"generate_fortran.py: no rule for a parameter of type {kind}")


def entering_call(row, target, below):
    """Return a function that converts the arguments and calls our own MPI_X."""
    if row.name == "Win_get_attr":
        return attribute_call(row, target, below)
    if row.name == "Init":
        parameters, arguments, before, after = [], ["nullptr", "nullptr"], [], []
    else:
        taken = [p for p in row.parameters if p.name not in ("argc", "argv")]
        rules = [argument(row, p) for p in taken]
        parameters = [r[0] for r in rules]
        arguments = ["nullptr"] * (len(row.parameters) - len(taken)) + [r[1] for r in rules]
        before, after = [r[2] for r in rules if r[2]], [r[3] for r in rules if r[3]]
    lines = [f'extern "C" void {target}({", ".join(parameters + ["MPI_Fint* ierror"])}) {{']
    lines += ["  " + b for b in before]
    lines.append(f"  const int code = {row.symbol}({', '.join(arguments)});")
    if row.kind in OF_REQUESTS:  # a failed call has results all the same
        lines += ["  " + a for a in after]
    elif after:
        lines.append("  if (code == MPI_SUCCESS) {")
        lines += ["    " + a for a in after] + ["  }"]
    return "\n".join(lines + ["  set_error(ierror, code);", "}\n"])


def attribute_call(row, target, below):
    """Return the function for window attributes.

    A window's own attributes are pointers in C and values in Fortran; the program's attributes are
    left to the Fortran library.
    """
    parameters = "const MPI_Fint* win, const MPI_Fint* win_keyval, MPI_Aint* attribute_val, MPI_Fint* flag, MPI_Fint* ierror"
    types = "const MPI_Fint*, const MPI_Fint*, MPI_Aint*, MPI_Fint*, MPI_Fint*"
    return (
        f'extern "C" void {target}({parameters}) {{\n'
        "  if (const int keyval = predefined_keyval(*win_keyval); keyval != MPI_KEYVAL_INVALID) {\n"
        "    void* value = nullptr;\n    int found = 0;\n"
        f"    const int code = {row.symbol}(win_in(win), keyval, &value, &found);\n"
        "    if (code == MPI_SUCCESS) *flag = found;\n"
        "    if (code == MPI_SUCCESS && found != 0) *attribute_val = predefined_value(keyval, value);\n"
        "    return set_error(ierror, code);\n  }\n"
        f'  static auto* const below = reinterpret_cast<void (*)({types})>(fortran_symbol("{below}"));\n'
        f"  if (!below) return set_error(ierror, {FAILED});\n  below(win, win_keyval, attribute_val, flag, ierror);\n}}\n"
    )


def passed_call(row, target, below):
    """Return a function that passes all arguments to the next Fortran symbol, then tells the cache.

    The error code is needed, so it is requested even if the program does not.
    """
    count = len(row.parameters) + 1 + HIDDEN_LENGTHS
    words = [f"a{i}" for i in range(count)]
    place = {p.name: f"static_cast<const MPI_Fint*>(a{i})" for i, p in enumerate(row.parameters)}
    ierror = f"a{len(row.parameters)}"
    handed = ["&code" if w == ierror else w for w in words]
    lines = [
        f'extern "C" void {target}({", ".join("Word " + w for w in words)}) {{',
        f"  using Below = void ({', '.join(['Word'] * count)});",
        f'  static Below* const below = reinterpret_cast<Below*>(fortran_symbol("{below}"));',
        f"  if (!below) return set_error(static_cast<MPI_Fint*>({ierror}), {FAILED});",
        "  MPI_Fint code = MPI_SUCCESS;",
    ]
    lines += told(row, lambda name: value_of(row, name)).splitlines()
    lines += FORTRAN[row.kind](row, place, f"below({', '.join(handed)});")
    return "\n".join(lines + [f"  set_error(static_cast<MPI_Fint*>({ierror}), code);", "}\n"])


def value_of(row, name):
    """Return the C value of a parameter of a passed call."""
    index, parameter = next((i, p) for i, p in enumerate(row.parameters) if p.name == name)
    if parameter.type in ("void*", "const void*"):
        return f"receiving_address_in(a{index})"
    handle, kind = (
        HANDLES.get(parameter.type),
        parameter.type.removeprefix("const ").removesuffix("*"),
    )
    pointer = f"static_cast<const {'MPI_Fint' if handle or kind == 'int' else kind}*>(a{index})"
    if handle:
        return f"{handle}_in({pointer})"
    return pointer if parameter.type.endswith("*") else "*" + pointer


def publishing(row, place, call):
    return ["  " + call, "  if (code != MPI_SUCCESS) note_acquire();"]


def acquiring(row, place, call):
    return [
        "  note_look();",
        "  note_own_writes();",
        "  " + call,
        "  note_own_writes();",
        "  note_acquire();",
    ]


def acquiring_if(row, place, call):
    return [
        "  note_look();",
        "  " + call,
        f"  if (fortran_says_done(code, {place[row.arguments[0]]})) note_acquire();",
    ]


def acquiring_all(row, place, call):
    synchronises = f"*{place[row.arguments[0]]} > 0" if row.arguments else "true"
    return [
        "  note_all_meet();",
        "  note_look();",
        "  note_own_writes();",
        "  " + call,
        "  note_own_writes();",
        f"  if ({synchronises}) note_all_met(code, comm_in({place['comm']}));",
        "  note_acquire();",
    ]


def ending(row, place, call):
    return ["  note_comm_gone();", *acquiring(row, place, call), "  note_comm_gone();"]


FORTRAN = {
    "publish": publishing,
    "acquire": acquiring,
    "acquire_all": acquiring_all,
    "acquire_end": ending,
    "acquire_if": acquiring_if,
}


def aliases(fortran):
    """Return aliases: the archive has no trampolines, so the symbols are other names of the
    functions."""
    text = (
        "\n#ifdef NEARCACHE_STATIC\n"
        "#ifndef __clang__\n"  # clang has no such warning
        '#pragma GCC diagnostic ignored "-Wattribute-alias"\n'
        "#endif\n"
        'extern "C" {\n'
    )
    for entry in fortran:
        for name in entry.names:
            text += f'[[gnu::alias("{entry.target}"), gnu::visibility("default")]] void {name}();\n'
    return text + "}\n#endif\n"


def source(fortran):
    if not fortran:
        return ""
    return (
        '#include "mpi/coherence/receives.h"\n#include "mpi/entry/fortran.h"\n\nusing namespace nearcache::mpi;\nusing namespace nearcache::mpi::fortran;\n\n'
        + "\n".join(entry.code for entry in fortran)
        + aliases(fortran)
    )
