# SPDX-License-Identifier: BSD-3-Clause
"""Translates a UPC file to C text: preprocessor, parser, lowering, printer; relates diagnostics to
the source."""

from __future__ import annotations

import concurrent.futures
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import assemble, diagnostics
from .diagnostics import ERROR, WARNING, UpcError, UpcErrors
from .preprocess import PreprocessError, preprocess

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .command import Invocation
    from .diagnostics import Diagnostic
    from .preprocess import Source
    from .toolchain import Toolchain

Result = TypeVar("Result")

DEEP = 400000  # nested calls: 20,000 levels of nesting, as in generated programs
STACK = 1 << 30  # bytes of address space for them: some Python calls are also C calls

# Types that GUPC provides without any header: bale names those of atomic domains before its
# #include lines.
PREDECLARED_IN = "<upc>"  # a header with "upc" in its name is a UPC header
PREDECLARED = f"""# 1 "{PREDECLARED_IN}"
typedef shared struct ncupc_lock upc_lock_t;
typedef shared struct ncupc_atomicdomain upc_atomicdomain_t;
"""


# Headers of UPC programs define variables (`int count;`), which older compilers merged into one for
# all files.
COMMON = "-fcommon"


class Failed(Exception):
    """Translation failed; the diagnostics have been shown."""


def words_of(invocation: Invocation, toolchain: Toolchain) -> list[str]:
    """Return the C compiler and the words for both the preprocessor and the compiler."""
    return [*toolchain.cc, COMMON, *invocation.compiling, *toolchain.shmem_words()]


def preprocessed(path: str, invocation: Invocation, toolchain: Toolchain) -> Source:
    """Return the Source of a file. `#include <x.h>` also finds x.h beside the file if it is nowhere
    else, as with other UPC compilers."""
    words = words_of(invocation, toolchain) + invocation.preprocessing
    words = [word for word in words if word != "-P"]  # markers of files and lines are needed
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


def compile_words(invocation: Invocation) -> list[str]:
    """Return further words for compiling the translated text: it uses GNU C's extensions, and the
    runtime's header needs more than C90."""
    words = []
    for word in invocation.compiling:
        if re.match(r"-pedantic|-Wpedantic$", word):
            continue
        words.append(
            "-std=gnu99"
            if re.fullmatch(r"-ansi|-std=(c|gnu)(89|90)|-std=iso9899:199\w+", word)
            else word
        )
    # Comments that mark an intentional fall-through do not survive the preprocessor.
    return [*words, "-Wno-implicit-fallthrough"] if {"-W", "-Wextra"} & set(words) else words


def translate(
    path: str,
    source: Source,
    invocation: Invocation,
    toolchain: Toolchain,
    show: Callable[[str], None],
) -> str:
    """Return the C text of a preprocessed source. `show` is called with each diagnostic's text;
    raises Failed after errors."""
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
            options=words_of(invocation, toolchain),
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


def deeply(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that recurses as deeply as the translated program nests, on a stack of its
    own."""
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        try:
            sys.setrecursionlimit(max(limit, DEEP))
            threading.stack_size(STACK)
            return thread.submit(function, *arguments).result()
        finally:
            threading.stack_size(size)
            sys.setrecursionlimit(limit)


def report(
    found: list[Diagnostic], source: Source, show: Callable[[str], None], words: Sequence[str] = ()
) -> None:
    """Show diagnostics with columns of the original source. -w hides warnings, -Werror makes them
    errors."""
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


def column_in_source(coord: Coord | None, source: Source) -> int | None:
    """Return the source column of the token at coord's column in the preprocessed line: the same
    token, counted from the left."""
    written = diagnostics.source_line(coord)
    column = getattr(coord, "column", None) if coord is not None else None
    if written is None or not column:
        return column
    assert coord is not None
    before: list[
        str
    ] = []  # tokens of earlier pieces: system headers' macros split a line into several
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


def internal_error(error: Exception, path: str) -> str:
    """Return one line about an internal error of the translator, with the place of the current
    node."""
    place = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            coord = getattr(value, "coord", None)
            if getattr(coord, "line", None) and getattr(coord, "file", None):
                place = coord  # the innermost frame comes last
    text = " ".join(str(error).split())
    message = f"internal error of upcc: {type(error).__name__}{': ' + text if text else ''} (NEARCACHE_UPCC_DEBUG=1 shows where)"
    return diagnostics.heading(place, ERROR, message) if place else f"{path}: {ERROR}: {message}"
