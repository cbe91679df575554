# SPDX-License-Identifier: BSD-3-Clause
"""The lexer of preprocessed UPC, which turns the whole text into a list of tokens at once.

Every token is matched by one regular expression whose alternatives are ordered by frequency.
Reading 20,000 lines of headers takes a few tenths of a second, compared with some seconds by
pycparser's token().

Pragmas are kept where a statement, a declaration or a member can stand. Inside an expression, a
parameter list or an initialiser (where headers' macros put `GCC diagnostic`) they are dropped, as
are `__extension__` and the preprocessor's other directives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pycparser import c_lexer

from .keywords import ALIASES, KEYWORDS, OLD_NAMES, PUNCTUATORS, UPC

_ESCAPE = r"\\."
_PUNCTUATOR = "|".join(re.escape(text) for text in sorted(PUNCTUATORS, key=len, reverse=True))
_MASTER = re.compile(
    rf"""[ \t\f\v\r]*(?:
      (?P<newline>\n)
    | (?P<string>(?:u8|[LuU])?"(?:[^"\\\n]|{_ESCAPE})*")
    | (?P<char>(?:u8|[LuU])?'(?:[^'\\\n]|{_ESCAPE})+')
    | (?P<word>(?:[^\W\d]|\$|\\u[0-9a-fA-F]{{4}}|\\U[0-9a-fA-F]{{8}})(?:[\w$]|\\u[0-9a-fA-F]{{4}}|\\U[0-9a-fA-F]{{8}})*)
    | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    | (?P<comment>/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)
    | (?P<punctuator>{_PUNCTUATOR})
    | (?P<directive>\#[^\n]*)
    | (?P<bad>\S)
    | (?P<end>\Z))""",
    re.VERBOSE,
)
_LINE_MARKER = re.compile(r'#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?')
_PRAGMA = re.compile(r"#[ \t]*pragma\b[ \t]*")

_INTEGER = re.compile(r"(?:(?P<HEX>0[xX][0-9a-fA-F]+)|(?P<BIN>0[bB][01]+)|(?P<OCT>0[0-7]*)|(?P<DEC>[1-9][0-9]*))"
                      r"(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?[ijIJ]?")  # fmt: skip
_FLOAT_SUFFIX = (
    r"(?:[fFlLqQwW]|[dD][fFdDlL]|[fF](?:16|32x|32|64x|64|128x|128)|bf16|BF16)?[ijIJ]?(?:[fFlL])?"
)
_FLOAT = re.compile(
    rf"(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+){_FLOAT_SUFFIX}"
)
_HEX_FLOAT = re.compile(
    rf"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+{_FLOAT_SUFFIX}"
)
_PREFIXED = {"L": "W", "u8": "U8", "u": "U16", "U": "U32", "": ""}
_ONE_CHARACTER = re.compile(
    r"'(?:[^\\]|\\(?:[0-7]{1,3}|x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^0-7xuU]))'"
)

# Tokens before a pragma that stands as a statement, declaration or member by itself.
_BEFORE_PRAGMA = frozenset(
    {"SEMI", "LBRACE", "RBRACE", "COLON", "RPAREN", "ELSE", "DO", "PPPRAGMA", "PPPRAGMASTR"}
)


class Token:
    """A token as pycparser's grammar uses it; `end` is the column after its last character."""

    __slots__ = ("type", "value", "lineno", "column", "filename")

    def __init__(self, type: str, value: str, lineno: int, column: int, filename: str) -> None:
        self.type = type
        self.value = value
        self.lineno = lineno
        self.column = column
        self.filename = filename

    @property
    def end(self) -> int:
        return self.column + len(self.value)


class UpcLexer(c_lexer.CLexer):
    """The UPC lexer.

    `system_files`: the files that may use UPC's keywords as ordinary identifiers, unless their
    names contain "upc" (C headers know nothing of `shared` and `strict`).
    """

    def __init__(
        self, error_func: Callable[[str, int, int], None], *, dialect: str = "legacy"
    ) -> None:
        super().__init__(error_func, dialect=dialect)
        self.system_files: frozenset[str] = frozenset()
        self.old_names = False  # whether UPC 1.0's keywords are accepted, too
        self._tokens: Iterator[Token] = iter(())

    def input(self, text: str, filename: str = "") -> None:
        super().input(text, filename)
        self._tokens = iter(self.read_all(text, filename))

    def token(self) -> Token | None:
        return next(self._tokens, None)

    def read_all(self, text: str, filename: str) -> list[Token]:
        """Return all tokens of the text. Invalid text becomes a token of type BAD, which the parser
        reports at its place."""
        tokens: list[Token] = []
        append = tokens.append
        plain_c = {word: kind for word, kind in KEYWORDS.items() if word not in UPC}
        keywords = self._keywords_of(filename, plain_c)
        keyword, alias, punctuators = keywords.get, {**ALIASES, **OLD_NAMES}.get, PUNCTUATORS
        line, line_start = 1, 0
        # for each open bracket: whether it belongs to an expression, a parameter list or an
        # initialiser
        brackets = []
        for match in _MASTER.finditer(text):
            kind = match.lastgroup or ""  # every alternative has a name
            if kind == "newline":
                line += 1
                line_start = match.end()
                continue
            start = match.start(kind)
            value = match.group(kind)
            if kind == "word":
                token_kind = keyword(value, "ID")
                if token_kind != "ID":
                    value = alias(value, value)
                elif value in ("__extension__", "__extension"):
                    continue
                append(Token(token_kind, value, line, start - line_start + 1, filename))
            elif kind == "punctuator":
                token_kind = punctuators[value]
                if token_kind in ("LPAREN", "LBRACKET"):
                    brackets.append(True)
                elif token_kind == "ATTRIBUTE_BEGIN":
                    brackets += [True, True]
                elif token_kind == "LBRACE":
                    brackets.append(self._is_initialiser(tokens, brackets))
                elif token_kind in ("RPAREN", "RBRACKET", "RBRACE") and brackets:
                    brackets.pop()
                append(Token(token_kind, value, line, start - line_start + 1, filename))
            elif kind == "directive":
                marker = _LINE_MARKER.match(value)
                if marker:
                    line = int(marker.group(1)) - 1  # the number of the line that follows
                    if marker.group(2) is not None:
                        filename = re.sub(r"\\(.)", r"\1", marker.group(2))
                        keyword = self._keywords_of(filename, plain_c).get
                elif _PRAGMA.match(value) and not (brackets and brackets[-1]):
                    if not tokens or tokens[-1].type in _BEFORE_PRAGMA:
                        tokens.extend(_pragma_tokens(value, line, start - line_start + 1, filename))
            elif kind == "comment":
                if "\n" in value:
                    line += value.count("\n")
                    line_start = start + value.rfind("\n") + 1
            elif kind != "end":
                append(
                    Token(_literal_kind(kind, value), value, line, start - line_start + 1, filename)
                )
        return tokens

    def _keywords_of(self, filename: str, plain_c: dict[str, str]) -> dict[str, str]:
        if filename in self.system_files:
            return KEYWORDS if "upc" in filename else plain_c
        return (
            {**KEYWORDS, **{old: KEYWORDS[new] for old, new in OLD_NAMES.items()}}
            if self.old_names
            else KEYWORDS
        )

    @staticmethod
    def _is_initialiser(tokens: list[Token], brackets: list[bool]) -> bool:
        """Return whether the next brace opens an initialiser. This is uncertain for compound
        literals, where pragmas are unlikely."""
        before = tokens[-1].type if tokens else "SEMI"
        if before in ("EQUALS", "COMMA"):
            return True
        return before == "LBRACE" and bool(brackets) and brackets[-1]


def _pragma_tokens(value: str, line: int, column: int, filename: str) -> Iterator[Token]:
    words = _PRAGMA.sub("", value, count=1).rstrip()
    yield Token("PPPRAGMA", "pragma", line, column, filename)
    if words:
        yield Token("PPPRAGMASTR", words, line, column, filename)


def _literal_kind(kind: str, value: str) -> str:
    """Return the token kind of a string, a character constant or a number; BAD if it only looks
    like one."""
    if kind == "string":
        return _PREFIXED[value[: value.index('"')]] + "STRING_LITERAL"
    if kind == "char":
        prefix, quoted = value[: value.index("'")], value[value.index("'") :]
        if not prefix and not _ONE_CHARACTER.fullmatch(quoted):
            return "INT_CONST_CHAR"
        return _PREFIXED[prefix] + "CHAR_CONST"
    if kind == "number":
        integer = _INTEGER.fullmatch(value)
        if integer:
            return "INT_CONST_" + next(
                base for base, text in integer.groupdict().items() if text is not None
            )
        if _FLOAT.fullmatch(value):
            return "FLOAT_CONST"
        return "HEX_FLOAT_CONST" if _HEX_FLOAT.fullmatch(value) else "BAD"
    return "BAD"
