"""What the public headers say of their functions: a comment, and the declarations that follow it without an empty line."""

import re
from dataclasses import dataclass

BLOCK = re.compile(r"/\*(?P<words>(?:(?!\*/).)*)\*/\n(?P<code>(?:(?!/\*)[^\n]+\n)+)", re.S)
DECLARATION = re.compile(
    r"^(?:NEARCACHE_API|static inline) ((?:[\w]+ )+\*?)((?:nearcache|CLAMPI)_?\w+)\(([^)]*)\)", re.M
)


@dataclass(frozen=True)
class Function:
    """Functions that share a comment."""

    names: tuple
    declarations: tuple
    words: str


def plain(comment):
    return re.sub(r"\n \* ?", "\n", comment).strip()


def functions(text):
    found = []
    for block in BLOCK.finditer(text):
        declared = DECLARATION.findall(block["code"])
        if declared:
            found.append(
                Function(
                    tuple(name for _, name, _ in declared),
                    tuple(f"{kind.strip()} {name}({given});" for kind, name, given in declared),
                    plain(block["words"]),
                )
            )
    return found


def introduction(text):
    """The comment at the head of a header, in paragraphs."""
    return [part for part in re.split(r"\n\s*\n", plain(BLOCK_AT_HEAD.match(text)[1]))]


BLOCK_AT_HEAD = re.compile(r"/\*(.*?)\*/", re.S)
