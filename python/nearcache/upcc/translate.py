"""From a UPC file to C text: preprocessor, parser, lowering, printer; and its diagnostics in terms of the source."""

import concurrent.futures
import os
import re
import sys
import threading
import traceback

from . import assemble, diagnostics
from .diagnostics import ERROR, WARNING, UpcError, UpcErrors
from .preprocess import PreprocessError, preprocess

DEEP = 400000  # calls within each other: 20,000 levels of nesting, as generated programs have them
STACK = 1 << 30  # bytes of address space for them: a few calls of Python's are calls of C's too

# Types that GUPC knows without any header: bale names that of atomic domains in front of its #include lines.
PREDECLARED_IN = "<upc>"  # "upc" in the name of a header makes it one in UPC
PREDECLARED = f"""# 1 "{PREDECLARED_IN}"
typedef shared struct ncupc_lock upc_lock_t;
typedef shared struct ncupc_atomicdomain upc_atomicdomain_t;
"""


# Headers of UPC programs define variables (`int count;`), which the compilers of their time took for one of all files.
COMMON = "-fcommon"


class Failed(Exception):
    """The diagnostics have been shown."""


def words_of(invocation, toolchain):
    """The C compiler and what both the preprocessor and the compiler are told."""
    return [*toolchain.cc, COMMON, *invocation.compiling, *toolchain.shmem_words()]


def preprocessed(path, invocation, toolchain):
    """The Source of a file. `#include <x.h>` finds x.h beside the file too, as with other UPC compilers, if it is nowhere else."""
    words = words_of(invocation, toolchain) + invocation.preprocessing
    try:
        return preprocess(
            path, words, invocation.threads, toolchain.upc_headers, invocation.struct_pointers
        )
    except PreprocessError:
        beside = ("-I", os.path.dirname(path) or ".")
        source = preprocess(
            path,
            [*words, *beside],
            invocation.threads,
            toolchain.upc_headers,
            invocation.struct_pointers,
        )
        source.beside = beside
        return source


def compile_words(invocation):
    """What the compiler of the translated text is told besides: it has extensions of GNU C, and C90 is not enough for the runtime's header."""
    words = []
    for word in invocation.compiling:
        if re.match(r"-pedantic|-Wpedantic$", word):
            continue
        words.append(
            "-std=gnu99"
            if re.fullmatch(r"-ansi|-std=(c|gnu)(89|90)|-std=iso9899:199\w+", word)
            else word
        )
    # The comments that say that a case falls through on purpose do not outlast the preprocessor.
    return [*words, "-Wno-implicit-fallthrough"] if {"-W", "-Wextra"} & set(words) else words


def translate(path, source, invocation, toolchain, show):
    """The C text of a preprocessed source. `show` is given the text of each diagnostic; Failed after errors."""
    from . import lower, parser, printer

    try:
        system_files = source.system_files | {PREDECLARED_IN}
        tree = parser.parse(
            PREDECLARED + source.text, str(path), system_files, invocation.old_names
        )
        lowered = lower.lower(
            tree,
            system_files,
            threads=invocation.threads or None,
            strict=invocation.strict,
            name=str(path),
            struct_pointers=invocation.struct_pointers,
        )
        printed = printer.print_file(lowered)
        report(lowered.diagnostics, source, show, invocation.compiling)
    except (UpcError, UpcErrors) as error:
        report(error.diagnostics, source, show, invocation.compiling)
    except RecursionError:
        report([(None, ERROR, f"{path} is nested too deeply for upcc")], source, show)
    words = [
        *toolchain.cc,
        *compile_words(invocation),
        *toolchain.shmem_words(),
        "-isystem",
        str(toolchain.headers),
    ]
    return assemble.assemble(path, source.prologue, printed, words)


def deeply(function, *arguments):
    """Calls a function that nests as deeply as the program does which it translates, on a stack of its own."""
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        try:
            sys.setrecursionlimit(max(limit, DEEP))
            threading.stack_size(STACK)
            return thread.submit(function, *arguments).result()
        finally:
            threading.stack_size(size)
            sys.setrecursionlimit(limit)


def report(found, source, show, words=()):
    """Shows diagnostics; their columns become those of the source as it was written. -w hides warnings, -Werror makes them errors."""
    if "-w" in words:
        found = [entry for entry in found if entry[1] == ERROR]
    if "-Werror" in words:
        found = [
            (coord, ERROR, f"{message} [-Werror]")
            if severity == WARNING
            else (coord, severity, message)
            for coord, severity, message in found
        ]
    for coord, severity, message in found:
        show(diagnostics.render(coord, severity, message, column_in_source(coord, source)))
    if any(severity == ERROR for _, severity, _ in found):
        show(diagnostics.counts(found))
        raise Failed


TOKENS = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\S")


def column_in_source(coord, source):
    """The column of the token that stands at coord's column of the preprocessed line: the same token, counted from the left."""
    written = diagnostics.source_line(coord)
    column = getattr(coord, "column", None) if coord is not None else None
    if written is None or not column:
        return column
    before: list[
        str
    ] = []  # tokens of earlier pieces: a line comes in several where macros of system headers are in it
    for line in source.lines_of(str(coord.file), coord.line):
        tokens = [(match.start() + 1, match[0]) for match in TOKENS.finditer(line)]
        text = dict(tokens).get(column, "")
        same = before.count(text) + sum(token == text and start < column for start, token in tokens)
        places = [match.start() + 1 for match in TOKENS.finditer(written) if match[0] == text]
        if text and same < len(places):
            return places[same]
        before += [token for _, token in tokens]
    first = len(written) - len(written.lstrip()) + 1
    return column if column <= len(written) else first


def internal_error(error, path):
    """One line for an error of the translator itself, with the place of the node that it was at."""
    place = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            coord = getattr(value, "coord", None)
            if getattr(coord, "line", None) and getattr(coord, "file", None):
                place = coord  # the innermost frame comes last
    text = " ".join(str(error).split())
    message = f"internal error of upcc: {type(error).__name__}{': ' + text if text else ''} (NEARCACHE_UPCC_DEBUG=1 shows where)"
    return diagnostics.heading(place, ERROR, message) if place else f"{path}: {ERROR}: {message}"
