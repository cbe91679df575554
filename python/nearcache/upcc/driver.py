# SPDX-License-Identifier: BSD-3-Clause
"""upcc: runs the steps that its command line requests, as C compilers do.

main(words) -> exit code

UPC is translated (translate.py) and then compiled by the C compiler; other sources go to it
unchanged. Every program is linked with the runtime, whose main() starts the threads; to make this
possible, a `main` in an object that was not translated is renamed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .. import __version__
from ..errors import NearcacheError, open_closed_streams
from . import command, toolchain, translate
from .diagnostics import UpcError
from .linking import link
from .preprocess import MODE, PreprocessError
from .preprocess import command as preprocess_command
from .runner import Runner, StepFailed, position_words

if TYPE_CHECKING:
    from .command import Input, Invocation
    from .preprocess import Source

TRANSLATED = ": translated by upcc. "  # in the first line of files that may be overwritten


class Driver(Runner):
    def __init__(
        self, invocation: Invocation, tools: toolchain.Toolchain, folder: str | Path
    ) -> None:
        super().__init__(invocation, folder)
        self.tools = tools

    def all_sources(self) -> dict[Input, Any]:
        """Process every source; return its output, or its replacement for linking. After a failure,
        the remaining sources are still processed."""
        products, failed = {}, False
        for item in self.invocation.sources:
            try:
                products[item] = self.source(item)
            except (StepFailed, translate.Failed):
                failed = True
        if failed:
            raise StepFailed
        return products

    def source(self, item: Input) -> str | Path | None:
        """Process one source as far as the mode says; return the path of the object when
        linking."""
        mode = self.invocation.mode
        if mode in ("-E", "-M", "-MM"):
            self.only_preprocess(item)
            return None
        if item.kind in ("upc", "c"):
            source = self.preprocessed(item)
            if source is not None and (item.kind == "upc" or source.uses_upc()):
                return self.upc(item, source)
        if mode == "translate":
            self.say(f"upcc: {item.path} is not UPC: nothing to translate")
            return None
        return self.plain(item, source.beside if item.kind == "c" and source else ())

    def preprocessed(self, item: Input) -> Source | None:
        """Return the Source of a file; None for C that the preprocessor rejects as UPC, so that the
        C compiler reports what is wrong."""
        try:
            return translate.preprocessed(item.path, self.invocation, self.tools)
        except PreprocessError as error:
            if item.kind == "upc" or seems_upc(item.path):
                self.say(str(error))
                raise StepFailed from None
            return None

    def output_for(self, item: Input) -> str | Path:
        """Return the output path for compiling one file."""
        mode = self.invocation.mode
        if mode == "link":
            return self.temporary(item.stem + ".o")
        return self.invocation.output or item.stem + (".o" if mode == "-c" else ".s")

    def only_preprocess(self, item: Input) -> None:
        words = translate.words_of(self.invocation, self.tools) + self.invocation.preprocessing
        if item.kind in ("upc", "c"):
            source = self.preprocessed(item)
            words += source.beside if source else ()
            words = self.preprocess_words(item, words, [self.invocation.mode])
        else:
            words += [self.invocation.mode, *language_words(item), item.path]
        words += self.invocation.dependencies
        self.run(words + (["-o", self.invocation.output] if self.invocation.output else []))

    def preprocess_words(
        self, item: Input, words: Sequence[str], mode: Sequence[str] = MODE
    ) -> list[str]:
        return preprocess_command(
            item.path,
            words,
            self.tools.upc_headers,
            self.invocation.threads,
            self.invocation.struct_pointers,
            mode,
        )

    def plain(self, item: Input, beside: Sequence[str] = ()) -> str | Path | None:
        """Compile a source with the C compiler alone."""
        language = language_words(item)
        words = (
            translate.words_of(self.invocation, self.tools)
            + self.invocation.preprocessing
            + self.dependency_words(item)
        )
        words += [*beside, "-isystem", str(self.tools.headers)]
        if self.invocation.mode == "-fsyntax-only":
            self.run([*words, "-fsyntax-only", *language, item.path])
            return None
        output = self.output_for(item)
        self.run(
            [
                *words,
                "-S" if self.invocation.mode == "-S" else "-c",
                *language,
                item.path,
                "-o",
                output,
            ]
        )
        return output

    def dependency_words(self, item: Input) -> list[str]:
        """Return -MD and related options for a step whose output does not have the name that the
        user requested."""
        words = list(self.invocation.dependencies)
        if not {"-MD", "-MMD"} & set(words):
            return []
        output = Path(self.invocation.output or item.stem + ".o")
        if "-MF" not in words:
            words += ["-MF", str(output.with_suffix(".d"))]
        if not {"-MT", "-MQ"} & set(words):
            words += ["-MT", str(output) if self.invocation.mode != "link" else item.stem + ".o"]
        return words

    # --- UPC -----------------------------------------------------------------------------------------------------------------

    def upc(self, item: Input, source: Source) -> str | Path | None:
        self.say(source.messages.rstrip())
        if self.dependency_words(item):
            words = [
                *translate.words_of(self.invocation, self.tools),
                *self.invocation.preprocessing,
                *source.beside,
            ]
            words = self.preprocess_words(item, words)
            self.run([*words, *self.dependency_words(item), "-o", os.devnull])
        text = self.translated(item, source)
        mode = self.invocation.mode
        keep = mode == "translate" or self.invocation.save_temps
        path = self.kept(item) if keep else self.temporary(item.stem + ".c")
        self.shown_as[path] = item.path
        if not self.invocation.dry:
            Path(path).write_text(text, errors="surrogateescape")
        if mode == "translate":
            return None
        words = [
            *self.tools.cc,
            translate.COMMON,
            *translate.compile_words(self.invocation),
            *self.tools.shmem_words(),
            "-isystem",
            str(self.tools.headers),
        ]
        words += self.upc_definitions() + position_words(self.tools.cc)
        if mode == "-fsyntax-only":
            self.run([*words, mode, "-x", "c", path])
            return None
        output = self.output_for(item)
        self.run([*words, "-S" if mode == "-S" else "-c", "-x", "c", path, "-o", output])
        return output

    def upc_definitions(self) -> list[str]:
        words = ["-DNCUPC_STRUCT_POINTERS"] if self.invocation.struct_pointers else []
        return words + (
            [f"-DNCUPC_THREADS={self.invocation.threads}"] if self.invocation.threads else []
        )

    def translated(self, item: Input, source: Source) -> str:
        if self.invocation.verbose:
            self.say(f"upcc: translating {item.path}")
        try:
            return translate.deeply(
                translate.translate, item.path, source, self.invocation, self.tools, self.say
            )
        except (translate.Failed, UpcError):
            raise
        except Exception as error:  # an internal error must not look like an error of the user
            if os.environ.get("NEARCACHE_UPCC_DEBUG"):
                raise
            self.say(translate.internal_error(error, item.path))
            raise translate.Failed from None

    def kept(self, item: Input) -> Path:
        """Return where to keep the C text of a file: x.c for x.upc. Only earlier output of upcc is
        overwritten."""
        if self.invocation.mode == "translate" and self.invocation.output:
            return Path(self.invocation.output)
        path = Path(item.stem + (".trans.c" if item.kind == "c" else ".c"))
        if path.exists() and TRANSLATED not in path.read_text(errors="replace").partition("\n")[0]:
            raise UpcError(
                None,
                f"{path} is there already and was not written by upcc; move it, or name another file with --translate -o",
            )
        return path

    def everything(self) -> None:
        for word in self.invocation.ignored:
            self.say(f"upcc: note: {word} has no meaning here and is ignored")
        products = self.all_sources()
        if self.invocation.mode == "link":
            link(
                self, self.tools, [products.get(item, item.path) for item in self.invocation.inputs]
            )


def language_words(item: Input) -> list[str]:
    """Return the words that tell the C compiler the language of a source; for others, the file name
    suffices."""
    return [] if item.kind == "other" else ["-x", item.kind]


def seems_upc(path: str) -> bool:
    """Return whether a C file includes one of the UPC headers: for a message about a file that
    cannot be preprocessed."""
    try:
        text = Path(path).read_text(errors="replace")
    except OSError:
        return False
    return re.search(r"^\s*#\s*include\s*[<\"]upc(?:_\w+)?\.h[>\"]", text, re.M) is not None


def require_parser() -> None:
    """Check for pycparser, and a Python that supports it; only UPC needs them, not the rest of
    Nearcache."""
    if sys.version_info < (3, 11):
        raise UpcError(
            None,
            f"upcc needs Python 3.11 or newer; this is {sys.version_info[0]}.{sys.version_info[1]}",
        )
    cure = f"{sys.executable} -m pip install 'pycparser>=3.12'"
    if not importlib.util.find_spec("pycparser"):
        raise UpcError(None, f"upcc needs the Python package pycparser: {cure}")
    import pycparser

    # a different kind of parser, without a class to extend
    if [int(part) for part in pycparser.__version__.split(".")[:2]] < [3, 12]:
        raise UpcError(
            None, f"upcc needs pycparser 3.12 or newer; this is {pycparser.__version__}: {cure}"
        )


def version_text() -> str:
    return (
        f"upcc (Nearcache) {__version__}: UPC 1.3 for OpenSHMEM\n"
        "Static and dynamic THREADS; upc_collective, upc_tick, upc_atomic, upc_castable, upc_nb, upc_io"
    )


def main(words: Iterable[str] | None = None) -> int:
    """Run upcc with these words; return its exit code."""
    words = sys.argv[1:] if words is None else list(words)
    try:
        invocation = command.parse(words)
        if invocation.mode == "help":
            print(command.HELP, end="")
            return 0
        if invocation.mode == "version" or (invocation.verbose and not invocation.inputs):
            print(version_text())
            return 0
        if invocation.mode == "gdb-script":
            print(Path(__file__).resolve().with_name("gdb_pointers.py"))
            return 0
        if invocation.mode == "ask":
            return subprocess.run([*toolchain.compiler(invocation.cc), *words]).returncode
        require_parser()
        tools = toolchain.find(invocation.cc, invocation.shmem)
        with tempfile.TemporaryDirectory(prefix="upcc-") as folder:
            Driver(invocation, tools, folder).everything()
        return 0
    except (StepFailed, translate.Failed):
        return 1
    except UpcError as error:
        print(error, file=sys.stderr)
        return 1
    except NearcacheError as error:
        print(f"upcc: error: {error.message}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads the output has had enough: `upcc -E ... | head`
        return 1
    except OSError as error:  # a file that cannot be read or written
        where = f"{error.filename}: " if error.filename else ""
        print(f"upcc: error: {where}{error.strerror or error}", file=sys.stderr)
        return 1


def entry() -> NoReturn:
    """Run the console script."""
    open_closed_streams()
    # Looking for cycles in trees, which have next to none, takes a seventh of a short translation
    # and a third of a long one.
    gc.disable()
    with contextlib.suppress(KeyboardInterrupt):
        code = main()
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            code = 1
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again
        sys.exit(code)
    sys.exit(130)
