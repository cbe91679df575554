# SPDX-License-Identifier: BSD-3-Clause
"""Reads entry_points.txt, and the prototypes that an OpenSHMEM's headers declare."""

import itertools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

KINDS = (
    "g p get put get_nbi put_nbi iget iput ibget ibput update fetching fetching_nbi put_signal quiet fence wait test test_any "
    "test_lock barrier release own next plain"
).split()
# Kind of a function that the header declares and no row names.
UNKNOWN = "unknown"
# Words that may end a parameter without a name.
TYPE_WORDS = set("char short int long unsigned signed float double void bool".split())


@dataclass
class Prototype:
    symbol: str
    returns: str
    types: list  # of the parameters

    @property
    def on_context(self):
        return bool(self.types) and self.types[0] == "shmem_ctx_t"

    @property
    def field(self):
        """Name of its field in the table of functions below us."""
        if self.symbol.startswith("shmem_"):
            return self.symbol[len("shmem_") :]
        return (
            "x_" + self.symbol[len("shmemx_") :]
            if self.symbol.startswith("shmemx_")
            else "old_" + self.symbol.lstrip("_")
        )


def expand(pattern, types):
    """Return all names that a pattern stands for."""
    parts = re.findall(r"\[[^]]*\]|\([^)]*\)|\{\w+\}|[^][(){}]+", pattern)
    choices = []
    for part in parts:
        if part[0] == "[":
            choices.append(["", *expand(part[1:-1], types)])
        elif part[0] == "(":
            choices.append(part[1:-1].split("|"))
        elif part[0] == "{":
            choices.append(types[part[1:-1]])
        else:
            choices.append([part])
    return ["".join(words) for words in itertools.product(*choices)]


def read_table(path):
    """Return {symbol: kind} for every name in the table."""
    types, kinds, family = {}, {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("types "):
            family, words = text[len("types ") :].split("=")
            family = family.strip()
            types[family] = words.split()
        elif "|" not in text.split("(")[0]:
            types[family] += text.split()
        else:
            kind, patterns = (part.strip() for part in text.split("|", 1))
            if kind not in KINDS:
                raise SystemExit(f"{path}:{number}: there is no kind {kind}")
            for name in itertools.chain.from_iterable(
                expand(pattern, types) for pattern in patterns.split()
            ):
                if kinds.setdefault(name, kind) != kind:
                    raise SystemExit(f"{path}:{number}: {name} is {kinds[name]} already")
    return kinds


# Preprocessed with the functions: whether the default context and the world team are variables, and
# their names.
QUESTION = """#include <shmem.h>
#if __has_include(<shmemx.h>)
#include <shmemx.h>
#endif
nearcache_default_context SHMEM_CTX_DEFAULT ;
nearcache_team_world SHMEM_TEAM_WORLD ;
"""


def preprocess(compiler, includes, defines):
    """Return the headers as C++ sees them: the functions without the C11 generics."""
    command = [
        compiler,
        "-std=c++20",
        "-E",
        "-P",
        "-x",
        "c++",
        *[f"-I{d}" for d in includes],
        *[f"-D{d}" for d in defines],
        "-",
    ]
    return subprocess.run(
        command, input=QUESTION, check=True, capture_output=True, text=True
    ).stdout


def named_header(compiler, includes, defines):
    """Return the text of shmem.h with names for the structures behind handles.

    Open MPI's handle is a pointer to an unnamed structure. In C++ such a type has no linkage, and a
    function that takes it cannot be called from another file.
    """
    command = [
        compiler,
        "-E",
        "-x",
        "c++",
        *[f"-I{d}" for d in includes],
        *[f"-D{d}" for d in defines],
        "-",
    ]
    text = subprocess.run(
        command, input="#include <shmem.h>\n", check=True, capture_output=True, text=True
    ).stdout
    path = re.search(r'^# \d+ "([^"]*/shmem\.h)"', text, re.M)[1]
    header = Path(path).read_text(errors="replace")
    named, count = re.subn(
        r"(typedef\s+struct)(\s*\{[^{}]*\}\s*\*\s*(shmem_\w+_t)\s*;)", r"\1 nearcache_\3\2", header
    )
    return named if count else "#include_next <shmem.h>\n"


def without_attributes(text):
    """Return the text without __attribute__((...)), whose parentheses nest."""
    pieces, at = [], 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < at:
            continue
        pieces.append(text[at : match.start()])
        at, depth = match.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
    return " ".join([*pieces, text[at:]])


def parameter_type(text):
    """Return the type of a parameter: `const long *source` -> `const long *`; an array becomes a
    pointer to its elements."""
    text, arrays = re.subn(r"\[[^]]*\]", "", text.strip())
    match = re.fullmatch(r"(.*[\s*>&])(\w+)", text, re.S)
    if match and match[2] not in TYPE_WORDS and not match[2].endswith("_t"):
        text = match[1]
    return re.sub(r"\s+\*", "*", " ".join(text.split())) + "*" * arrays


def prototypes(text, known):
    """Return {symbol: Prototype} of the functions shmem_, shmemx_ and `known` that the preprocessed
    text declares.

    Also returns the names of those that cannot be wrapped, because their parameters are not a list
    of types, or variadic. Exits with a message if one of `known` is among them.
    """
    found = {}
    for match in re.finditer(
        r"(?:^|(?<=[;{}\"]))([\w\s:<>*]*?[\s*])(\w+)\s*\(([^()]*)\)\s*;", without_attributes(text)
    ):
        symbol, arguments = match[2], match[3].strip()
        if not re.match("shmemx?_", symbol) and symbol not in known:
            continue
        returns = " ".join(word for word in match[1].split() if word not in ("extern", "inline"))
        if not returns or returns.split()[0] in ("return", "static"):
            continue  # a call within a function of the header, or the head of such a function
        types = (
            []
            if arguments in ("", "void")
            else [parameter_type(argument) for argument in arguments.split(",")]
        )
        found[symbol] = Prototype(symbol, re.sub(r"\s+\*", "*", returns), types)
    variadic = {name for name in found if "..." in found[name].types and name not in known}
    found = {name: prototype for name, prototype in found.items() if name not in variadic}
    own = set(re.findall(r"\bstatic\b[\w\s*]*?\b(shmem_\w+)\s*\(", text))
    unread = set(re.findall(r"\b(shmem_\w+)\s*\(", text)) - set(found) - variadic - own
    if unread & set(known):
        raise SystemExit(
            "cannot read the declarations of " + ", ".join(sorted(unread & set(known)))
        )
    return found, unread | variadic


def variable(text, question):
    """Return the variable behind a handle of the library; None if the handle is another kind of
    expression."""
    match = re.search(rf"nearcache_{question}\s+([A-Za-z_]\w*)\s*;", text)
    return match and match[1]
