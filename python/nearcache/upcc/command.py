# SPDX-License-Identifier: BSD-3-Clause
"""upcc's command line: splits the options of C compilers, and a few of upcc's own, into the words
for each step."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..values import read_count, read_heap_size
from .diagnostics import UpcError
from .preprocess import MAX_THREADS

# Options of C compilers whose value may be the next word.
ONE_VALUE = {
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-include",
    "-imacros",
    "-isystem",
    "-idirafter",
    "-iquote",
    "-isysroot",
    "-iprefix",
    "-iwithprefix",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-u",
    "-z",
    "-e",
    "-A",
    "--param",
    "-arch",
    "-target",
    "-B",
    "-aux-info",
    "-T",
    "-rpath",
    "-soname",
}
LINK_VALUES = {"-L", "-l", "-Xlinker", "-u", "-z", "-e", "-rpath", "-soname"}
LINK_WORDS = re.compile(
    r"-(?:Wl,|l|L|shared$|static|rdynamic$|pie$|no-pie$|nostdlib$|nodefaultlibs$|nostartfiles$|r$|s$)"
)
PREPROCESS_VALUES = {"-D", "-U", "-include", "-imacros", "-Xpreprocessor"}
DEPENDENCIES = {"-MD", "-MMD", "-MP", "-MG"}
ASKED = re.compile(r"-print-|-dump|--print-|--target-help|-###")
# Options of Berkeley UPC's and GNU UPC's compilers found in many Makefiles; they have no meaning
# here.
OTHERS = re.compile(
    r"--?network=|--?nonetwork$|--?pthreads(=|$)|--?(no-?)?opt$|-uses-(mpi|threads)$|--?translator=|-norc$|-fupc-|--?(no)?lines$|--?heap-offset=|"
    r"-nopthreads$|--?(no)?size-warn$|-extern-main$|-inst$|-W[uw],"
)
LANGUAGES = {
    ".upc": "upc",
    ".uph": "upc",
    ".c": "c",
    ".i": "cpp-output",
    ".s": "assembler",
    ".S": "assembler-with-cpp",
}
OTHER_SOURCES = {".cc", ".cpp", ".cxx", ".C", ".f", ".f90", ".F", ".F90"}

HELP = """\
Usage: upcc [options] file...
Compiles and links UPC programs for OpenSHMEM, with Nearcache's cache under
every access to shared data. Files: UPC (.upc), C (.c; treated as UPC if it uses
UPC), assembler (.s, .S), objects, archives, shared libraries.

What to do:
  -c                    compile, do not link
  -S                    compile to assembler
  -E                    only preprocess
  --translate           only translate: write x.c for x.upc
  -M, -MM               print what the sources depend on
  -fsyntax-only         only check for errors
  -o FILE               name of the output
UPC:
  -T=N, -T N            N threads, fixed at compile time (also -fupc-threads-N,
                        --threads=N); without it, set when the program starts
  --struct-pointers     pointers to shared of 16 bytes, for machines beyond the
                        limits of the packed form of 8 (1,024 threads, blocks
                        of 2^20 elements, 16 GiB of each thread); use it for
                        every file of a program
  --upc-1.0             forall, barrier, barrier_notify, barrier_wait and fence
                        are keywords, as in UPC 1.0
  --strict, --relaxed   kind of accesses that specify neither  [relaxed]
As in Berkeley's upcc:
  -shared-heap=SIZE     upcrun's default for each thread's shared data; a plain
                        number means megabytes
  -link-with=COMMAND    link with this command instead of the C compiler
  -trans                the same as --translate
  -network, -pthreads, -opt, -nolines and the like are ignored, with a note
Toolchain:
  --cc=COMMAND          the C compiler  [environment variable CC, or cc]
  --shmem=TAG           the OpenSHMEM, if there are several (oshmem-4.1.4)
  --save-temps          keep the C that UPC is translated to (also -save-temps)
  -v, --verbose         show the commands
  --show                only show the commands that would be run
  --gdb-script          print the path of the script that lets gdb show pointers
                        to shared
  --version, --help
As in C compilers:
  -g -O* -W* -f* -m* -std=* -pthread, -D -U -I -isystem -include, -L -l -Wl,...
  -shared -static, -x LANGUAGE (upc, c, none), -MD -MMD -MF -MT -MQ -MP, @FILE.
  Others are passed on to the C compiler.
Environment: CC, NEARCACHE_HOME (another build or installation),
NEARCACHE_UPCC_DEBUG=1 (show where an internal error comes from).
"""


@dataclass(frozen=True)
class Input:
    """A file of the command line, or a word for the linker whose position among the files
    matters."""

    path: str
    kind: str  # upc, the argument of -x, other (C++, Fortran by their suffixes), object, word

    @property
    def stem(self) -> str:
        return os.path.splitext(os.path.basename(self.path))[0]


@dataclass
class Invocation:
    inputs: list[Input] = field(default_factory=list)
    mode: str = "link"  # link, -c, -S, -E, translate, -M, -MM, -fsyntax-only, ask, gdb-script, help, version
    output: str = ""
    threads: int = 0
    struct_pointers: bool = False
    strict: bool = False
    save_temps: bool = False
    verbose: bool = False
    dry: bool = False
    cc: str = ""
    shmem: str = ""
    old_names: bool = False  # accept UPC 1.0's keywords
    heap: int = 0  # bytes of shared heap that upcrun gives each thread; 0: the default
    linker: str = ""  # command used instead of the C compiler
    # -D, -U, -include: consumed by the preprocessor
    preprocessing: list[str] = field(default_factory=list)
    compiling: list[str] = field(default_factory=list)  # for the preprocessor and the compiler
    linking: list[str] = field(default_factory=list)  # for the linker, in any position
    dependencies: list[str] = field(default_factory=list)  # -MD and related options
    ignored: list[str] = field(default_factory=list)  # options that have no meaning here
    words: list[str] = field(default_factory=list)  # all words, as given

    @property
    def sources(self) -> list[Input]:
        return [item for item in self.inputs if item.kind not in ("object", "word")]


def usage(message: str) -> UpcError:
    return UpcError(None, message)


def split(text: str, name: str) -> list[str]:
    """Return the words of a command line given by the user."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise usage(f"{name}: {str(error).lower()}") from None


def expanded(words: Iterable[str], within: tuple[str, ...] = ()) -> list[str]:
    """Return the words with each @file replaced by the contents of the response file; `within`
    lists the files that contain these words."""
    found = []
    for word in words:
        if word.startswith("@") and os.path.isfile(word[1:]):
            path = os.path.realpath(word[1:])
            if path in within:
                raise usage(f"{word}: it names itself")
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                found += expanded(split(file.read(), word), (*within, path))
        else:
            found.append(word)
    return found


def thread_count(text: str) -> int:
    threads = read_count(text)
    if not threads:
        raise usage(f"-T needs a number of threads, 1 or more, not '{text}'")
    return threads


def heap_size(text: str) -> int:
    size = read_heap_size(text)
    if not size:
        raise usage(f"-shared-heap needs a size such as 512M, not '{text}'")
    return size


def dashed(word: str) -> tuple[str, str]:
    """Return (word, name) of one of Berkeley's options, which may begin with one dash or two."""
    name, equals, value = word.lstrip("-").partition("=")
    return f"--{name}{equals}{value}", f"--{name}"


class _Parser:
    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.at = 0
        self.language = "none"
        self.result = Invocation(words=list(words))

    def value(self, word: str, name: str) -> str:
        """Return the value of an option: the rest of its word, or the next word."""
        if len(word) > len(name):
            return (
                word[len(name) :].removeprefix("=")
                if name.startswith("--") or name == "-T"
                else word[len(name) :]
            )
        if self.at >= len(self.words):
            raise usage(f"{name} needs a value")
        self.at += 1
        return self.words[self.at - 1]

    def run(self) -> Invocation:
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if word.startswith("-") and word != "-":
                self.option(word)
            else:
                self.file(word)
        return self.result

    def file(self, path: str) -> None:
        kind = self.language
        if kind == "none":
            ending = os.path.splitext(path)[1]
            kind = LANGUAGES.get(ending) or ("other" if ending in OTHER_SOURCES else "object")
            if path == "-":
                raise usage("-x names the language of what is read from standard input")
        self.result.inputs.append(Input(path, kind))

    def option(self, word: str) -> None:
        if not (self.own(word) or self.step(word) or self.dependency(word)):
            self.passed_on(word)

    def own(self, word: str) -> bool:
        """Parse an option of upcc itself."""
        result = self.result
        threads = re.fullmatch(r"-fupc-threads[-=](.*)", word)
        if threads:
            result.threads = thread_count(threads[1])
        elif word in ("-T", "--threads") or re.match(r"-T=|-T\d|--threads=", word):
            result.threads = thread_count(
                self.value(word, "--threads" if word.startswith("--") else "-T")
            )
        elif word in ("-v", "--verbose"):
            result.verbose = True
        elif word in ("--show", "-###"):
            result.verbose = result.dry = True
        elif word in ("-save-temps", "--save-temps") or word.startswith("-save-temps="):
            result.save_temps = True
        elif word == "--struct-pointers":
            result.struct_pointers = True
        elif word in ("--strict", "--relaxed"):
            result.strict = word == "--strict"
        elif word == "--cc" or word.startswith("--cc="):
            result.cc = self.value(word, "--cc")
        elif word == "--shmem" or word.startswith("--shmem="):
            result.shmem = self.value(word, "--shmem")
        elif word.startswith("-Wc,"):
            result.compiling += word.split(",")[1:]
        elif word in ("--upc-1.0", "-upc-1.0"):
            result.old_names = True
        elif re.match(r"--?shared-heap(=|$)", word):
            result.heap = heap_size(self.value(*dashed(word)))
        elif re.match(r"--?link-with(=|$)", word):
            result.linker = self.value(*dashed(word))
        elif word in ("-network", "--network"):
            result.ignored.append(f"{word} {self.value(word, word)}")
        elif OTHERS.match(word):
            result.ignored.append(word)
        else:
            return False
        return True

    def step(self, word: str) -> bool:
        """Parse an option that sets the last step, or the output."""
        result = self.result
        if word in ("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"):
            result.mode = word
        elif word in ("--translate", "-trans"):
            result.mode = "translate"
        elif word in ("-h", "--help", "--version"):
            result.mode = "version" if word == "--version" else "help"
        elif word == "--gdb-script":
            result.mode = "gdb-script"
        elif ASKED.match(word):
            result.mode = "ask"
        elif word.startswith("-o"):
            result.output = self.value(word, "-o")
            if not result.output:
                raise usage("-o needs a value, and not an empty one")
        elif re.match(r"-x", word):
            self.language = self.value(word, "-x")
            if self.language not in (*LANGUAGES.values(), "none", "c++"):
                raise usage(
                    f"-x: the language is upc, c, cpp-output, assembler, assembler-with-cpp or none, and not '{self.language}'"
                )
        else:
            return False
        return True

    def dependency(self, word: str) -> bool:
        if word in DEPENDENCIES:
            self.result.dependencies.append(word)
        elif re.match(r"-M[FTQ]", word):
            self.result.dependencies += [word[:3], self.value(word, word[:3])]
        else:
            return False
        return True

    def passed_on(self, word: str) -> None:
        """Parse an option of the C compiler."""
        result = self.result
        name = next((name for name in sorted(ONE_VALUE, key=len, reverse=True) if word == name), "")
        words = [word, self.value(word, name)] if name else [word]
        if name in LINK_VALUES or (not name and LINK_WORDS.match(word)):
            if re.match(r"-l|-Wl,|-Xlinker|-L", word):
                # their position among the objects matters
                result.inputs += [Input(part, "word") for part in words]
            else:
                result.linking += words
        elif name in PREPROCESS_VALUES or re.match(r"-[DU].|-Wp,", word):
            result.preprocessing += words
        else:
            result.compiling += words


def parse(words: Sequence[str]) -> Invocation:
    """Return the Invocation for upcc's words. Raises UpcError, without a place, if they make no
    sense."""
    result = _Parser(expanded(list(words))).run()
    if result.mode in ("help", "version", "gdb-script", "ask"):
        return result
    most = MAX_THREADS[result.struct_pointers]
    if result.threads > most:
        more = "" if result.struct_pointers else "; --struct-pointers allows more"
        raise usage(
            f"-T={result.threads}: a pointer to shared holds {most:,} threads at most{more}"
        )
    files = [item for item in result.inputs if item.kind != "word"]
    if not files and result.verbose and len(words) == 1:
        return result  # `cc -v` alone prints its version
    if not files:
        raise usage("there is no file to compile (upcc --help lists the options)")
    if (
        result.output
        and result.mode != "link"
        and len(result.sources) > 1
        and result.mode not in ("-E", "-M", "-MM")
    ):
        raise usage(
            f"-o {result.output} with {result.mode} and several files: each has an output of its own"
        )
    for item in files:
        if item.path != "-" and not os.path.exists(item.path):
            raise usage(f"{item.path}: there is no such file")
        if (
            result.output
            and os.path.exists(result.output)
            and os.path.exists(item.path)
            and os.path.samefile(result.output, item.path)
        ):
            raise usage(f"-o {result.output} would overwrite an input")
    return result
