# SPDX-License-Identifier: BSD-3-Clause
"""The parser's view of its tokens: lookahead, backtracking, type names in scope, and messages that
quote the source."""

from __future__ import annotations

from typing import Any, NoReturn

from pycparser.c_parser import Coord, CParser

from . import keywords
from .diagnostics import UpcError
from .lexer import Token

# Specifiers of a declaration, as pycparser keeps them: words and nodes by "qual", "storage",
# "type", ...
Specifiers = dict[str, list[Any]]
SPECIFIERS = ("qual", "storage", "type", "function", "alignment", "type_attributes")


def no_specifiers() -> Specifiers:
    return {kind: [] for kind in SPECIFIERS}


_EXPECTED = {
    "ID": "an identifier",
    "STRING_LITERAL": "a string literal",
    "WHILE": "'while'",
    **{kind: f"'{text}'" for text, kind in reversed(keywords.PUNCTUATORS.items())},
}
# A line may end before these tokens reveal the mistake; it is then reported where the previous
# token ends.
_CLOSING = frozenset({"SEMI", "RPAREN", "RBRACKET", "RBRACE"})
# pycparser's messages that only say that something is wrong, reworded to say what was expected.
_SAID_BETTER = {
    "Invalid declarator": "expected a declarator",
    "Invalid abstract declarator": "expected a type name",
    "Invalid expression": "expected an expression",
    "Invalid declaration": "expected a declaration",
    "Invalid specifier list": "expected a type",
    "Missing type in declaration": "expected a type",
    "Invalid function definition": "expected a declaration or a function body",
    "Invalid struct reference": "expected the name of a member",
    "Invalid struct/union declaration": "expected a tag or '{'",
    "Expected identifier": "expected an identifier",
    "Expected declaration after attributes": "expected a declaration after the attributes",
    "Invalid designator": "expected a designator",
}
# Tokens before the name of a type; the bracket ends a layout.
_BEFORE_TYPE = (
    keywords.STORAGE_CLASSES | keywords.FUNCTION_SPECIFIERS | keywords.QUALIFIERS | {"RBRACKET"}
)


class TokenReader(CParser):
    """Reads from a list of all tokens, which takes half the time of pycparser's stream, which calls
    its lexer for each token."""

    def _start(self, tokens: list[Token], filename: str) -> None:
        last = tokens[-1] if tokens else None
        end = (
            Token("END", "", last.lineno, last.end, last.filename)
            if last
            else Token("END", "", 1, 1, filename)
        )
        self._list = tokens
        self._list += [end] * 8  # lookahead then needs no test for the end
        self._index = 0
        # For every name declared in an open scope: whether it is a type. Leaving a scope restores
        # the previous entries. GNU's types are tokens of their own, except where another compiler's
        # header defines one: typedef float _Float32;
        self._is_type = {name: True for name in ("__builtin_va_list", *keywords.GNU_TYPES)}
        self._restore: list[dict[str, bool | None]] = [{}]

    # Tokens

    def _peek(self, k: int = 1) -> Token | None:
        tok = self._list[self._index + k - 1]
        kind = tok.type
        if kind == "ID" or kind == "TYPEID":
            tok.type = "TYPEID" if self._is_type.get(tok.value) else "ID"
        return None if kind == "END" else tok

    def _peek_type(self, k: int = 1) -> str | None:
        tok = self._list[self._index + k - 1]
        kind = tok.type
        if kind == "ID" or kind == "TYPEID":
            kind = tok.type = "TYPEID" if self._is_type.get(tok.value) else "ID"
        return None if kind == "END" else kind

    def _advance(self) -> Token:
        tok = self._list[self._index]
        kind = tok.type
        if kind == "ID" or kind == "TYPEID":
            tok.type = "TYPEID" if self._is_type.get(tok.value) else "ID"
        elif kind == "END":
            self._parse_error("unexpected end of the file", self._tok_coord(tok))
        self._index += 1
        return tok

    def _accept(self, token_type: str) -> Token | None:
        if self._peek_type() == token_type:
            return self._advance()
        return None

    def _expect(self, token_type: str) -> Token:
        if self._peek_type() != token_type:
            self._expected(
                _EXPECTED.get(token_type, token_type.lower()),
                at_previous_end=token_type in _CLOSING,
            )
        return self._advance()

    def _mark(self) -> int:
        return self._index

    def _reset(self, mark: int) -> None:
        self._index = mark

    def _tok_coord(self, tok: Token) -> Coord:
        return Coord(tok.filename, tok.lineno, tok.column)

    def _here(self) -> Coord:
        return self._tok_coord(self._list[self._index])

    # Names in scope

    def _push_scope(self) -> None:
        self._restore.append({})

    def _pop_scope(self) -> None:
        for name, before in self._restore.pop().items():
            if before is None:
                del self._is_type[name]
            else:
                self._is_type[name] = before

    def _bind(self, name: str, is_type: bool, coord: Coord | None) -> None:
        scope = self._restore[-1]
        if name in scope and self._is_type[name] is not is_type:
            self._parse_error(f"'{name}' redeclared as a different kind of name", coord)
        scope.setdefault(name, self._is_type.get(name))
        self._is_type[name] = is_type

    def _add_typedef_name(self, name: str, coord: Coord | None) -> None:
        self._bind(name, True, coord)

    def _add_identifier(self, name: str, coord: Coord | None) -> None:
        self._bind(name, False, coord)

    def _is_type_in_scope(self, name: str) -> bool:
        return self._is_type.get(name, False)

    # Messages

    def _token_text(self) -> str:
        tok = self._list[self._index]
        if tok.type == "END":
            return "the end of the file"
        if tok.type in keywords.STRING_LITERALS:
            return "a string literal"
        if tok.value in keywords.UPC and tok.type != "ID":
            return f"'{tok.value}', a keyword of UPC"
        return f"'#{tok.value}'" if tok.type == "PPPRAGMA" else f"'{tok.value}'"

    def _bad_token(self) -> str | None:
        """Return what is wrong with the next token itself; None if it is fine."""
        tok = self._list[self._index]
        if tok.type != "BAD":
            return None
        if tok.value in ("'", '"'):
            return f"missing terminating {tok.value} character"
        return (
            f"invalid number '{tok.value}'"
            if tok.value[0] in ".0123456789"
            else f"stray '{tok.value}' in the program"
        )

    def _expected(self, what: str, at_previous_end: bool = False) -> NoReturn:
        tok = self._list[self._index]
        coord = self._here()
        if at_previous_end and self._index > 0:
            before = self._list[self._index - 1]
            if before.filename == tok.filename and before.type != "PPPRAGMASTR":
                coord = Coord(before.filename, before.lineno, before.end)
        bad = self._bad_token()
        if bad:
            raise UpcError(self._here(), bad)
        self._check_misspelled_type()
        raise UpcError(
            coord,
            f"expected {what} before {self._token_text()}{self._keyword_as_name() or self._old_keyword()}",
        )

    def _keyword_as_name(self) -> str:
        """Return a hint for `int shared = 3;`, where the error occurs after the keyword."""
        before = self._list[self._index - 1]
        is_keyword = self._index > 0 and before.type in keywords.UPC_QUALIFIERS
        return f" ('{before.value}' is a keyword of UPC)" if is_keyword else ""

    def _old_keyword(self) -> str:
        """Return a hint for UPC 1.0's `forall (i = 0; i < n; i++; i)` and `barrier_wait 3;`, which
        look like names."""
        at = self._index - 1
        while (
            at > 0
            and self._list[at].type not in ("SEMI", "LBRACE", "RBRACE")
            and self._list[at].value not in keywords.OLD_NAMES
        ):
            at -= 1
        return keywords.old_name_hint(self._list[at].value)

    def _check_misspelled_type(self) -> None:
        """Report `foo x` and `shared foo *x`, with foo read as a name, as an undeclared type, which
        they mostly are."""
        kinds = ["SEMI"] * 3 + [
            tok.type for tok in self._list[max(0, self._index - 3) : self._index + 1]
        ]
        leading, name, following = kinds[-3:]
        if name == "ID" and (
            (following == "ID" and leading in ("SEMI", "LBRACE", "RBRACE"))
            or (following in ("ID", "TIMES", "SHARED") and leading in _BEFORE_TYPE)
        ):
            unknown = self._list[self._index - 1]
        elif kinds[-4:] == ["LPAREN", "ID", "TIMES", "RPAREN"]:  # a cast
            unknown = self._list[self._index - 2]
        else:
            return
        raise UpcError(self._tok_coord(unknown), f"unknown type name '{unknown.value}'")

    def _parse_error(self, msg: str, coord: Coord | str | None) -> NoReturn:
        """Raise an error. Also called for pycparser's messages: without a place, or with `before:
        token` if something was expected."""
        bad = self._bad_token()
        if bad:
            raise UpcError(self._here(), bad)
        better = _SAID_BETTER.get(msg)
        if better:
            self._check_misspelled_type()
            raise UpcError(self._here(), f"{better} before {self._token_text()}")
        if msg.startswith("before: "):
            raise UpcError(self._here(), f"unexpected {self._token_text()}")
        raise UpcError(coord if isinstance(coord, Coord) else self._here(), msg)
