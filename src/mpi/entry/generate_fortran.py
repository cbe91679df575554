"""The Fortran entry points of entry_points.txt's rows: which symbols there are, and their code (see fortran.h)."""
from dataclasses import dataclass

HANDLES = {"MPI_Comm": "comm", "MPI_Group": "group", "MPI_Info": "info", "MPI_Op": "op",
           "MPI_Datatype": "datatype", "MPI_Win": "win"}
FAILED = "MPI_ERR_OTHER"
# Strings bring their lengths after the last argument, and no call of ours has more of them than this.
HIDDEN_LENGTHS = 6


@dataclass
class Entry:
    target: str  # the function that does the work
    names: list  # the symbols that lead to it
    code: str


def has_buffer(row):
    return any(p.type in ("void*", "const void*") and p.name != "baseptr" for p in row.parameters)


def entries(rows, family):
    # Sessions only count, Fortran needs no more of them; extensions have no Fortran forms.
    rows = [r for r in rows if not r.name.startswith(("Session_", "X_"))]
    if family == "openmpi":
        return [e for r in rows if not r.name.endswith("_c") for e in openmpi_entries(r)]
    if family == "mpich":
        return [mpich_entry(r) for r in rows if not has_buffer(r)]
    return []


def manglings(name):
    """What Fortran compilers make of an external name."""
    return [name, name + "_", name + "__", name.upper()]


def openmpi_entries(row):
    lower = row.symbol.lower()
    f77 = manglings(lower)
    f08 = lower + "_f08_"
    if row.enters_ours:
        if row.name in ("Win_allocate", "Win_allocate_shared"):  # `use mpi` with a type(c_ptr)
            f77 += manglings(lower + "_cptr")
        target = "fortran_" + lower
        return [Entry(target, f77 + [f08], window_call(row, target))]
    return [Entry("fortran_" + lower, f77, passed_call(row, "fortran_" + lower, lower + "_")),
            Entry("fortran_" + f08, [f08], passed_call(row, "fortran_" + f08, f08))]


def mpich_entry(row):
    lower = row.symbol.lower()
    name = lower[:-2] + "_f08_large_" if row.name.endswith("_c") else lower + "_f08_"
    make = window_call if row.enters_ours else lambda r, target: passed_call(r, target, name)
    return Entry("fortran_" + name, [name], make(row, "fortran_" + name))


def window_argument(parameter):
    """(Fortran parameter, C argument, declaration before the call, statement after success) of one C parameter."""
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
    if kind == "MPI_Win*":
        return f"MPI_Fint* {name}", f"&c_{name}", f"MPI_Win c_{name} = win_in({name});", f"*{name} = win_out(c_{name});"
    if kind == "MPI_Request*":
        return (f"MPI_Fint* {name}", f"&c_{name}", f"MPI_Request c_{name} = MPI_REQUEST_NULL;",
                f"*{name} = request_out(c_{name});")
    if kind == "int*":
        return f"MPI_Fint* {name}", f"&c_{name}", f"int c_{name} = 0;", f"*{name} = c_{name};"
    raise SystemExit(f"generate_fortran.py: no rule for a parameter of type {kind}")


def window_call(row, target):
    """Converts the arguments and enters our own MPI_X."""
    if row.name == "Init":
        parameters, arguments, before, after = [], ["nullptr", "nullptr"], [], []
    else:
        taken = [p for p in row.parameters if p.name not in ("argc", "argv")]
        rules = [window_argument(p) for p in taken]
        if row.name != "Win_free":  # a new window's variable may hold anything
            rules = [(a, b, c.replace("= win_in(win)", "= MPI_WIN_NULL"), d) for a, b, c, d in rules]
        parameters = [r[0] for r in rules]
        arguments = ["nullptr"] * (len(row.parameters) - len(taken)) + [r[1] for r in rules]
        before, after = [r[2] for r in rules if r[2]], [r[3] for r in rules if r[3]]
    lines = [f'extern "C" void {target}({", ".join(parameters + ["MPI_Fint* ierror"])}) {{']
    lines += ["  " + b for b in before]
    lines.append(f"  const int code = {row.symbol}({', '.join(arguments)});")
    if after:
        lines.append("  if (code == MPI_SUCCESS) {")
        lines += ["    " + a for a in after] + ["  }"]
    return "\n".join(lines + ["  set_error(ierror, code);", "}\n"])


def passed_call(row, target, below):
    """Hands everything to the next Fortran symbol, then tells the cache. The error code is looked at, so it is asked for where the
    program does not."""
    count = len(row.parameters) + 1 + HIDDEN_LENGTHS
    words = [f"a{i}" for i in range(count)]
    place = {p.name: f"static_cast<const MPI_Fint*>(a{i})" for i, p in enumerate(row.parameters)}
    ierror = f"a{len(row.parameters)}"
    handed = ["&code" if w == ierror else w for w in words]
    lines = [f'extern "C" void {target}({", ".join("Word " + w for w in words)}) {{',
             f"  using Below = void ({', '.join(['Word'] * count)});",
             f'  static Below* const below = reinterpret_cast<Below*>(fortran_symbol("{below}"));',
             f"  if (!below) return set_error(static_cast<MPI_Fint*>({ierror}), {FAILED});",
             "  MPI_Fint code = MPI_SUCCESS;"]
    lines += FORTRAN[row.kind](row, place, f"below({', '.join(handed)});")
    return "\n".join(lines + [f"  set_error(static_cast<MPI_Fint*>({ierror}), code);", "}\n"])


def acquiring(row, place, call):
    return ["  note_own_writes();", "  " + call, "  note_own_writes();", "  note_acquire();"]


def acquiring_if(row, place, call):
    return ["  " + call, f"  if (fortran_says_done(code, {place[row.arguments[0]]})) note_acquire();"]


def requests_of(row, place):
    counted, requests = row.arguments[:2] if row.kind != "release" else ("1", row.arguments[0])
    return f"{counted if counted == '1' else f'static_cast<int>(*{place[counted]})'}, {place[requests]}"


def completing(row, place, call):
    done = f"if (fortran_says_done(code, {place[row.arguments[2]]})) " if len(row.arguments) > 2 else ""
    return ["  if (requests_tracked()) {", f"    FortranRequests requests({requests_of(row, place)});",
            "    " + call, "    requests.completed(code);", "  } else {", "    " + call, "  }", f"  {done}note_acquire();"]


def querying(row, place, call):
    done, indices = row.arguments[2], row.arguments[3:]
    if not indices:
        told = ["watch.all_found_complete();"]
    elif done == "flag":
        told = [f"if (*{place[indices[0]]} != MPI_UNDEFINED) watch.found_complete(static_cast<int>(*{place[indices[0]]}) - 1);"]
    else:
        told = [f"for (MPI_Fint i = 0; i < *{place[done]}; ++i) watch.found_complete(static_cast<int>({place[indices[0]]}[i]) - 1);"]
    return ["  " + call, f"  if (code == MPI_SUCCESS && fortran_tells({place[done]}) && requests_tracked()) {{",
            f"    FortranRequests requests({requests_of(row, place)});", "    RequestWatch& watch = requests.watch();",
            *("    " + line for line in told), "  }", f"  if (fortran_says_done(code, {place[done]})) note_acquire();"]


def releasing(row, place, call):
    return ["  if (requests_tracked()) {", f"    FortranRequests requests({requests_of(row, place)});", "    " + call,
            "    requests.watch().released(code);", "  } else {", "    " + call, "  }"]


FORTRAN = {"acquire": acquiring, "acquire_if": acquiring_if, "complete": completing, "query": querying, "release": releasing}


def aliases(fortran):
    """In the archive there are no trampolines: the symbols are other names of the functions."""
    text = "\n#ifdef NEARCACHE_STATIC\n#pragma GCC diagnostic ignored \"-Wattribute-alias\"\nextern \"C\" {\n"
    for entry in fortran:
        for name in entry.names:
            text += f'[[gnu::alias("{entry.target}"), gnu::visibility("default")]] void {name}();\n'
    return text + "}\n#endif\n"


def source(fortran, family):
    if not fortran:
        return ""
    return ('#include "mpi/entry/fortran.h"\n\nusing namespace nearcache::mpi;\nusing namespace nearcache::mpi::fortran;\n\n' +
            "\n".join(entry.code for entry in fortran) + aliases(fortran))
