"""The programs of the language suite (language/<section>/*.upc and those that families/ makes): what their comments ask for.

    // threads: 2 3 4          numbers of threads to run with; without it 1 2 3 4
    // environment: static     THREADS is static (upcc -T) or dynamic; without it both
    // files: other.upc x.c    further sources of the program, in the same folder
    // expect: text            a line of standard output; all of them in this order, nothing else (thread 0 prints)
    // error: regex            at the end of a line: a diagnostic is wanted at this line; the program has no other errors and is not run
    // warning: regex          the same for a warning; the program is not run
    // abort: regex            the program ends with `upc: thread N: ...` that matches, and a status other than 0
    // exit: 7                 the program ends with this status

A program without abort and exit checks itself with check.h: it prints nothing of its own, and main returns 0.
"""

import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from . import families

FOLDER = Path(__file__).resolve().parents[2] / "upc" / "language"
HEADER = re.compile(r"^// ([a-z]+): (.*)$", re.M)
MARKED = re.compile(r"// (error|warning): (.*)$")


@dataclass
class Program:
    name: str  # section/name
    path: Path
    threads: tuple = (1, 2, 3, 4)
    environments: tuple = ("dynamic", "static")
    files: list = field(default_factory=list)
    expected: list = field(default_factory=list)
    errors: dict = field(default_factory=dict)  # line: regex
    warnings: dict = field(default_factory=dict)
    abort: str = None
    exit: int = None

    @property
    def sources(self):
        return [self.path, *(self.path.parent / name for name in self.files)]

    @property
    def told(self):
        """Whether it is about what upcc says."""
        return bool(self.errors or self.warnings)

    @property
    def ends(self):
        """Whether it takes the whole run with it."""
        return self.abort is not None or self.exit is not None

    @property
    def symbol(self):
        """A C name for its main."""
        return "case_" + re.sub(r"\W", "_", self.name)

    def hash(self, salt=""):
        """The same number on every machine; other programs have others."""
        return zlib.crc32(f"{self.name}{salt}".encode())


def read(path, name):
    text = path.read_text()
    program = Program(name, path)
    for key, value in HEADER.findall(text):
        if key == "threads":
            program.threads = tuple(map(int, value.split()))
        elif key == "environment":
            program.environments = (value.strip(),)
        elif key == "files":
            program.files = value.split()
        elif key == "expect":
            program.expected.append(value)
        elif key == "abort":
            program.abort = value.strip()
        elif key == "exit":
            program.exit = int(value)
        elif key not in ("error", "warning"):
            raise ValueError(f"{path}: unknown key {key}")
    for number, line in enumerate(text.split("\n"), 1):
        marked = MARKED.search(line)
        if marked:
            (program.errors if marked[1] == "error" else program.warnings)[number] = marked[
                2
            ].strip()
    return program


def parts():
    """Sources that belong to a program of their folder."""
    named = set()
    for path in FOLDER.rglob("*.upc"):
        for value in re.findall(r"^// files: (.*)$", path.read_text(), re.M):
            named.update(path.parent / name for name in value.split())
    return named


def handwritten():
    other = parts()
    return [
        read(path, str(path.relative_to(FOLDER).with_suffix("")))
        for path in sorted(FOLDER.rglob("*.upc"))
        if path not in other
    ]


def generated(folder):
    """The programs of the families, written into a folder."""
    programs = []
    for name, text in families.programs():
        path = Path(folder) / f"{name}.upc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        programs.append(read(path, name))
    return programs
