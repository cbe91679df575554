# SPDX-License-Identifier: BSD-3-Clause
"""Runs the C preprocessor on a UPC source and takes its output apart.

`cc -E -dD -dI` prints every #define, #undef and #include in place, besides the expanded text. The
first lines of the C output are derived from these: system headers are not expanded into it;
instead, their #include lines are repeated, with the user's earlier definitions (_GNU_SOURCE). Our
own UPC headers are UPC: the translator reads them, but the C compiler never sees them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .diagnostics import UpcError

VERSION = "201311L"  # value of __UPC_VERSION__ for UPC 1.3
# largest block size that a phase can hold, by whether pointers are structs
MAX_BLOCK_SIZE = {False: 1 << 20, True: (1 << 31) - 1}
MAX_THREADS = {False: 1 << 10, True: 1 << 24}  # by whether pointers are structs
# with their versions
LIBRARIES = {"COLLECTIVE": 1, "TICK": 1, "ATOMIC": 1, "CASTABLE": 1, "NB": 1, "IO": 2}

MARKER = re.compile(r'#\s+(\d+)\s+"((?:[^"\\]|\\.)*)"((?:\s+\d)*)')
DIRECTIVE = re.compile(r"#\s*(define|undef|include|include_next|import)\b\s*(.*)")
INCLUDE = re.compile(r'([<"])([^>"]+)[>"]')
MODE = ("-E", "-dD", "-dI")  # with the definitions and inclusions, which are kept
LITERAL = re.compile(
    r'\b(?P<prefix>u8|[uUL]?)R"(?P<end>[^ ()\\\s]{0,16})\((?P<raw>.*?)\)(?P=end)"'
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'',
    re.S,
)
KEYWORDS = re.compile(
    r"\b(?:THREADS|MYTHREAD|upc_(?:forall|barrier|notify|wait|fence|blocksizeof|elemsizeof|localsizeof)|"
    r"shared\s*\[[^\]]*\]\s*\w|shared\s+\w)"
)


def found_in(pattern: str, text: str) -> re.Match[str]:
    """Return the match at the start of the preprocessor's output."""
    found = re.match(pattern, text)
    if found is None:
        raise PreprocessError(f"the preprocessor wrote {text!r}")
    return found


class PreprocessError(Exception):
    """The preprocessor failed; it has reported why."""


@dataclass
class Source:
    """A preprocessed UPC source."""

    text: str = ""  # with line markers, but without #define, #undef and #include
    system_files: set[str] = field(default_factory=set)  # system headers, including our UPC headers
    prologue: list[str] = field(default_factory=list)  # lines for the head of the C output
    includes_upc: bool = False  # whether one of our headers is included
    messages: str = ""  # the preprocessor's warnings
    beside: tuple[
        str, ...
    ] = ()  # words that make `#include <x.h>` also search the source's folder, if needed

    def uses_upc(self) -> bool:
        """Return whether this is UPC and not C: by its headers, or by words in the text of its own
        files."""
        return self.includes_upc or KEYWORDS.search(self.own_text()) is not None

    def own_text(self) -> str:
        """Return the text that is not from system headers."""
        kept, own = [], False
        for line in self.text.split("\n"):
            marker = MARKER.match(line) if line.startswith("#") else None
            if marker:
                own = unquoted(marker[2]) not in self.system_files
            elif own:
                kept.append(line)
        return "\n".join(kept)

    def lines_of(self, file: str, number: int) -> list[str]:
        """Return the pieces of preprocessed text that one source line became, without those made by
        system headers' macros."""
        found, here, at = [], None, 0
        for line in self.text.split("\n"):
            marker = MARKER.match(line) if line.startswith("#") else None
            if marker:
                here, at = None if "4" in marker[3] else unquoted(marker[2]), int(marker[1])
                continue
            if here == file and at == number and line.strip():
                found.append(line)
            at += 1
        return found


def without_raw_strings(text: str) -> str:
    """Return the text with GNU C's raw strings as ordinary ones, on as many lines."""
    if 'R"' not in text:
        return text

    def ordinary(match: re.Match[str]) -> str:
        if match["raw"] is None:
            return match[0]
        inside = match["raw"].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{match["prefix"]}"{inside}"' + "\n" * match["raw"].count("\n")

    return LITERAL.sub(ordinary, text)


def unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def predefined(threads: int | None = None, struct_pointers: bool = False) -> dict[str, str]:
    """Return UPC's macros, by name. They include THREADS if the number of threads is fixed, as #if
    may use it."""
    macros = {
        "__UPC__": "1",
        "__UPC_VERSION__": VERSION,
        "UPC_MAX_BLOCK_SIZE": str(MAX_BLOCK_SIZE[struct_pointers]),
    }
    macros.update({f"__UPC_{library}__": str(version) for library, version in LIBRARIES.items()})
    if threads:
        macros.update({"__UPC_STATIC_THREADS__": "1", "THREADS": str(threads)})
    else:
        macros["__UPC_DYNAMIC_THREADS__"] = "1"
    return macros


def of_command_line(file: str) -> bool:
    """Return whether a name is one that the preprocessor uses for what is in no file: <built-in>,
    <command-line>. A source may be <stdin>."""
    return file.startswith("<") and file != "<stdin>"


class _Reader:
    """Makes one pass over the preprocessor's output."""

    def __init__(self, headers: Path, own_macros: dict[str, str]) -> None:
        self.headers = str(headers)
        self.own_macros = own_macros
        self.source = Source()
        self.out: list[str] = []
        self.file = ""
        self.lines: list[tuple[str, str]] = []  # lines of the prologue: (directive, whole line)
        # an #include whose file is not known yet: (name, whole line)
        self.pending: tuple[str, str] | None = None
        self.kinds: dict[str, str] = {}  # by the name given in an #include: system, user or ours

    def is_ours(self, file: str) -> bool:
        return file.startswith(self.headers + "/")

    def is_user(self, file: str) -> bool:
        return not of_command_line(file) and file not in self.source.system_files

    def marker(self, number: str, file: str, flags: list[str]) -> None:
        entered = "1" in flags
        if entered and "3" in flags:
            self.source.system_files.add(file)
        if self.pending and set(flags) & {"1", "2"}:  # other markers only correct the line number
            self.settle(file if entered else None)
        if (
            entered
            and of_command_line(self.file)
            and "3" in flags
            and not file.endswith("/stdc-predef.h")
        ):
            self.lines.append(("include", f'#include "{file}"'))  # by -include
        if self.is_ours(file):
            self.source.includes_upc = True
        self.file = file
        # A system header's macro becomes separate pieces of a user's line, with flag 3. These must
        # not seem to belong to a system header.
        kept = (
            flags
            if file in self.source.system_files
            else [flag for flag in flags if flag in "12"] + ["4"] * ("3" in flags)
        )
        self.out.append(" ".join([f'# {number} "{escaped(file)}"', *kept]))

    def settle(self, file: str | None) -> None:
        """Decide what to do with an #include once its file is known; None: a file that is not read
        again."""
        if self.pending is None:
            return
        name, line = self.pending
        self.pending = None
        if file is not None:
            self.kinds[name] = (
                "ours"
                if self.is_ours(file)
                else "system"
                if file in self.source.system_files
                else "user"
            )
        kind = self.kinds.get(name) or self.kind_of_known(name)
        if kind == "system":
            self.lines.append(("include", line))

    def kind_of_known(self, name: str) -> str:
        for file in self.source.system_files:
            if file.endswith("/" + name):
                return "ours" if self.is_ours(file) else "system"
        return "user"

    def directive(self, kind: str, rest: str) -> None:
        if kind in ("define", "undef"):
            self.macro(kind, rest)
        elif self.is_user(self.file) or self.is_ours(self.file):
            named = INCLUDE.match(rest)
            if self.pending:
                self.settle(None)
            if named:
                self.pending = named[2], f"#include {named[0]}"

    def macro(self, kind: str, rest: str) -> None:
        name = found_in(r"\w+", rest)[0]
        # clang's driver adds such definitions
        given = self.file.startswith("<command") and not name.startswith("__GCC_HAVE_")
        if name not in self.own_macros and (self.is_user(self.file) or given):
            if self.pending:
                self.settle(None)
            self.lines.append((kind, f"#{kind} {rest}".rstrip()))

    def line(self, text: str) -> None:
        if text.startswith("#"):
            marker = MARKER.match(text)
            if marker:
                self.marker(marker[1], unquoted(marker[2]), marker[3].split())
                return
            directive = DIRECTIVE.match(text)
            if directive:
                self.directive(directive[1], directive[2])
                self.out.append("")
                return
        if self.pending and text.strip():
            self.settle(None)
        self.out.append(text)

    def finish(self, text: str) -> Source:
        for line in text.split("\n"):
            self.line(line)
        if self.pending:
            self.settle(None)
        self.source.text = "\n".join(self.out)
        self.source.prologue = prologue(self.lines)
        return self.source


def escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def prologue(lines: list[tuple[str, str]]) -> list[str]:
    """Return the lines up to the last #include, without consecutive duplicates. The user's
    definitions are undefined again after it."""
    last = max((index for index, (kind, _) in enumerate(lines) if kind == "include"), default=-1)
    kept, defined = [], {}
    for kind, line in lines[: last + 1]:
        if kind == "include":
            if line not in kept:
                kept.append(line)
            continue
        name = found_in(r"#\w+ (\w+)", line)[1]
        if kind == "define":
            defined[name] = True
        else:
            defined.pop(name, None)
        kept.append(line)
    return kept + [f"#undef {name}" for name in defined]


def command(
    path: str | Path,
    cc_words: Sequence[str],
    headers: Path,
    threads: int | None = None,
    struct_pointers: bool = False,
    mode: Sequence[str] = MODE,
) -> list[str]:
    """Return the words that preprocess a source."""
    macros = [f"-D{name}={value}" for name, value in predefined(threads, struct_pointers).items()]
    return [*cc_words, *macros, "-isystem", str(headers), *mode, "-x", "c", str(path)]


def read(text: str, headers: Path, threads: int | None = None) -> Source:
    """Return the Source parsed from the preprocessor's output."""
    return _Reader(headers, predefined(threads)).finish(without_raw_strings(text))


def preprocess(
    path: str | Path,
    cc_words: Sequence[str],
    threads: int | None = None,
    headers: str | Path | None = None,
    struct_pointers: bool = False,
) -> Source:
    """Return the Source of the UPC file at `path`.

    cc_words: the C compiler and its options. headers: the folder of the UPC headers; by default
    that of this Nearcache.
    """
    if headers is None:
        from .. import home

        headers = home.find().upc_headers()
    words = command(path, cc_words, Path(headers), threads, struct_pointers)
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            stdin=None if str(path) == "-" else subprocess.DEVNULL,
        )
    except OSError as error:
        raise UpcError(None, f"cannot start the C compiler {words[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise PreprocessError(done.stderr.strip())
    source = read(done.stdout, Path(headers), threads)
    source.messages = done.stderr
    return source
