# SPDX-License-Identifier: BSD-3-Clause
"""Assembles the C text: head, the #include lines of the source, the runtime's header, #undef lines,
the translated text."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

from .diagnostics import UpcError

HEAD = "/* {name}: translated by upcc. Lines are those of the UPC source. */"
RUNTIME = "#include <nearcache/upc_runtime.h>"
# Names that the translator itself writes.
OURS = re.compile(r"(?:NCUPC|ncupc|UPC|upc|bupc)_\w*|THREADS|MYTHREAD")
LITERALS = re.compile(r"""#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
NAMES = re.compile(r"[A-Za-z_]\w*")
# #undef of these is an error or draws a warning, and preprocessed text does not contain them.
FIXED = re.compile(r"__\w+__|defined")


def names_in(text: str) -> set[str]:
    """Return the identifiers of a C text, without those in strings and line markers."""
    return set(NAMES.findall(LITERALS.sub(" ", text)))


def macros_after(head: str, cc_words: Sequence[str]) -> set[str]:
    """Return the names that are macros after the lines of `head`."""
    done = subprocess.run(
        [*cc_words, "-E", "-dM", "-x", "c", "-"],
        input=head,
        capture_output=True,
        text=True,
        errors="surrogateescape",
    )
    if done.returncode != 0:
        raise UpcError(None, f"the headers cannot be read again:\n{done.stderr.strip()}")
    return set(re.findall(r"^#define (\w+)", done.stdout, re.M))


def assemble(name: str, prologue: list[str], printed: str, cc_words: Sequence[str]) -> str:
    """Return the whole C text.

    The printed text is already expanded. A name in it that is still a macro (`stdin`, which glibc
    defines as itself, or one that the source undefined) would be expanded again, so it is undefined
    first.
    """
    head = "\n".join([*prologue, RUNTIME])
    again = names_in(printed) & macros_after(head + "\n", cc_words)
    undefined = [
        f"#undef {macro}"
        for macro in sorted(again)
        if not OURS.fullmatch(macro) and not FIXED.fullmatch(macro)
    ]
    return "\n".join([HEAD.format(name=name), head, *undefined, printed.rstrip("\n"), ""])
