"""Mutations: small changes that break a rule of Nearcache, each kept in a file <area>/<name>.mutation:

    # Nothing that was read before an acquire is served after it.       what is broken, in words
    # rule: semantics.md, What each MPI call means                      where it is promised
    # test: fuzz get_cache                                              who must notice, the cheapest first
    # test: unit GetCache.Invalidate*:GetCache.Reset*
    --- src/cache/get/get_cache.cpp
    -  if (entry.generation != generation_) return false;
    +  if (false) return false;

Lines that begin with a blank or `-` are the original, those with a blank or `+` what replaces it. There are no line numbers: the original
must be found exactly once in the file, so that a mutation outlives changes around it. A file may hold several `---` parts.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


class Stale(Exception):
    """A mutation does not fit the sources any more; the text says why."""


@dataclass
class Part:
    """One place that is changed."""

    source: str
    original: str = ""
    replacement: str = ""

    def lines(self):
        """What finds the original as whole lines."""
        return re.compile("^" + re.escape(self.original), re.MULTILINE)


@dataclass
class Mutation:
    name: str  # get_cache/NAME, as its file without the suffix
    title: str
    rule: str
    tests: list = field(default_factory=list)  # (kind, arguments)
    parts: list = field(default_factory=list)

    def apply(self, root):
        """Changes the files below `root`; {path: text before}. Where it does not fit nothing is changed."""
        self.check(root)
        before = {}
        for part in self.parts:
            path = Path(root) / part.source
            text = path.read_text(encoding="utf-8")
            before.setdefault(path, text)
            path.write_text(
                part.lines().sub(lambda _, part=part: part.replacement, text), encoding="utf-8"
            )
        return before

    def check(self, root):
        """Raises Stale unless every original is found exactly once, as whole lines."""
        for part in self.parts:
            path = Path(root) / part.source
            if not path.exists():
                raise Stale(f"{self.name}: there is no {part.source}")
            found = len(part.lines().findall(path.read_text(encoding="utf-8")))
            if found != 1:
                raise Stale(f"{self.name}: its original is found {found} times in {part.source}")


def parse(name, text):
    """The mutation that a file's text describes; Stale where it is ill-formed."""
    comments, parts, tests, rule = [], [], [], ""
    for line in text.splitlines():
        if line.startswith("--- "):
            parts.append(Part(line[4:].strip()))
        elif line.startswith("# test:") and not parts:
            kind, _, arguments = line[7:].strip().partition(" ")
            tests.append((kind, arguments.strip()))
        elif line.startswith("# rule:") and not parts:
            rule = line[7:].strip()
        elif line.startswith("#") and not parts:
            comments.append(line[1:].strip())
        elif parts:
            if line[:1] not in (" ", "-", "+"):
                raise Stale(f"{name}: a line begins with neither blank, - nor +: {line}")
            if line[0] in " -":
                parts[-1].original += line[1:] + "\n"
            if line[0] in " +":
                parts[-1].replacement += line[1:] + "\n"
        elif line.strip():
            raise Stale(f"{name}: a line before the first part is no comment: {line}")
    if not (comments and rule and tests and parts and all(part.original for part in parts)):
        raise Stale(f"{name}: a title, a rule, a test or an original is missing")
    if any(part.original == part.replacement for part in parts):
        raise Stale(f"{name}: it changes nothing")
    return Mutation(name, " ".join(comments), rule, tests, parts)


def all_mutations(folder=FOLDER):
    return [
        parse(path.relative_to(folder).with_suffix("").as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*/*.mutation"))
    ]
