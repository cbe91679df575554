# SPDX-License-Identifier: BSD-3-Clause
"""Keywords of UPC 1.3, C11 and GNU C, and their token kinds (pycparser's names where it has
them)."""

# Alternate spellings are mapped to the plain one, so that later passes see only one spelling.
ALIASES = {
    "__const": "const", "__const__": "const",
    "__restrict": "restrict", "__restrict__": "restrict",
    "__volatile": "volatile", "__volatile__": "volatile",
    "__inline": "inline", "__inline__": "inline",
    "__signed": "signed", "__signed__": "signed",
    "__complex": "_Complex", "__complex__": "_Complex",
    "__typeof": "__typeof__", "typeof": "__typeof__",
    "__alignof": "__alignof__",
    "__real": "__real__", "__imag": "__imag__",
    "__attribute": "__attribute__",
    "__asm": "__asm__", "asm": "__asm__",
}  # fmt: skip

# typeof and asm are keywords only in GNU C: the reserved spellings work with every -std.

_PLAIN = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "_Bool _Complex _Generic _Noreturn _Thread_local _Static_assert _Atomic _Alignas _Pragma"
)

UPC = (
    "shared strict relaxed upc_forall upc_barrier upc_notify upc_wait upc_fence "
    "upc_blocksizeof upc_elemsizeof upc_localsizeof"
).split()

# UPC 1.0's names, for --upc-1.0 and for hints.
OLD_NAMES = {
    "forall": "upc_forall",
    "barrier": "upc_barrier",
    "barrier_notify": "upc_notify",
    "barrier_wait": "upc_wait",
    "fence": "upc_fence",
}

# GNU C's additional types: one token each, combined with others like int and long.
GNU_TYPES = (
    "__int128 __int128_t __uint128_t __float80 __float128 __ibm128 __bf16 __fp16 __auto_type _Decimal32 _Decimal64 _Decimal128 "
    "_Float16 _Float32 _Float64 _Float128 _Float32x _Float64x _Float128x"
).split()

KEYWORDS = {word: word.upper() for word in _PLAIN.split()}
KEYWORDS.update({word: word.upper() for word in UPC})
KEYWORDS.update({word: "GNU_TYPE" for word in GNU_TYPES})
KEYWORDS.update(
    {
        "__typeof__": "TYPEOF",
        "__thread": "_THREAD_LOCAL",
        "_Alignof": "_ALIGNOF",
        "__alignof__": "_ALIGNOF",
        "__real__": "REAL_IMAG",
        "__imag__": "REAL_IMAG",
        "__label__": "LOCAL_LABEL",
        "__asm__": "ASM",
        # The name by which pycparser's grammar recognises attributes.
        "__attribute__": "ATTRIBUTE_BEGIN",
        "__builtin_va_arg": "__BUILTIN_VA_ARG",
        "__builtin_offsetof": "OFFSETOF",
    }
)
for _alias, _word in ALIASES.items():
    KEYWORDS[_alias] = KEYWORDS[_word]

STORAGE_CLASSES = frozenset({"AUTO", "REGISTER", "STATIC", "EXTERN", "TYPEDEF", "_THREAD_LOCAL"})
FUNCTION_SPECIFIERS = frozenset({"INLINE", "_NORETURN"})
UPC_QUALIFIERS = frozenset({"SHARED", "STRICT", "RELAXED"})
QUALIFIERS = frozenset({"CONST", "RESTRICT", "VOLATILE", "_ATOMIC"}) | UPC_QUALIFIERS
SIMPLE_TYPES = frozenset(
    {
        "VOID",
        "_BOOL",
        "CHAR",
        "SHORT",
        "INT",
        "LONG",
        "FLOAT",
        "DOUBLE",
        "_COMPLEX",
        "SIGNED",
        "UNSIGNED",
        "GNU_TYPE",
    }
)
# Tokens that begin a declaration, except attributes, which may also precede statements.
DECLARATION_START = (
    STORAGE_CLASSES
    | FUNCTION_SPECIFIERS
    | QUALIFIERS
    | SIMPLE_TYPES
    | {"TYPEOF", "TYPEID", "STRUCT", "UNION", "ENUM", "_ALIGNAS"}
)
SIZEOF_LIKE = frozenset(
    {"SIZEOF", "_ALIGNOF", "UPC_BLOCKSIZEOF", "UPC_ELEMSIZEOF", "UPC_LOCALSIZEOF"}
)
SYNC_STATEMENTS = frozenset({"UPC_NOTIFY", "UPC_WAIT", "UPC_BARRIER", "UPC_FENCE"})
INTEGER_CONSTANTS = frozenset(
    {"INT_CONST_DEC", "INT_CONST_OCT", "INT_CONST_HEX", "INT_CONST_BIN", "INT_CONST_CHAR"}
)
FLOAT_CONSTANTS = frozenset({"FLOAT_CONST", "HEX_FLOAT_CONST"})
CHARACTER_CONSTANTS = frozenset(
    {"CHAR_CONST", "WCHAR_CONST", "U8CHAR_CONST", "U16CHAR_CONST", "U32CHAR_CONST"}
)
STRING_LITERALS = frozenset(
    {
        "STRING_LITERAL",
        "WSTRING_LITERAL",
        "U8STRING_LITERAL",
        "U16STRING_LITERAL",
        "U32STRING_LITERAL",
    }
)
CONSTANTS = INTEGER_CONSTANTS | FLOAT_CONSTANTS | CHARACTER_CONSTANTS
UNARY_OPERATORS = frozenset({"AND", "TIMES", "PLUS", "MINUS", "NOT", "LNOT", "REAL_IMAG"})
EXPRESSION_START = (
    CONSTANTS | STRING_LITERALS | UNARY_OPERATORS | SIZEOF_LIKE
    | {"ID", "LPAREN", "PLUSPLUS", "MINUSMINUS", "LAND", "_GENERIC", "OFFSETOF", "__BUILTIN_VA_ARG"}
)  # fmt: skip

PUNCTUATORS = {
    "...": "ELLIPSIS", "<<=": "LSHIFTEQUAL", ">>=": "RSHIFTEQUAL", "++": "PLUSPLUS", "--": "MINUSMINUS", "->": "ARROW",
    "&&": "LAND", "||": "LOR", "<<": "LSHIFT", ">>": "RSHIFT", "<=": "LE", ">=": "GE", "==": "EQ", "!=": "NE",
    "*=": "TIMESEQUAL", "/=": "DIVEQUAL", "%=": "MODEQUAL", "+=": "PLUSEQUAL", "-=": "MINUSEQUAL", "&=": "ANDEQUAL",
    "|=": "OREQUAL", "^=": "XOREQUAL", "=": "EQUALS", "+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "DIVIDE", "%": "MOD",
    "|": "OR", "&": "AND", "~": "NOT", "^": "XOR", "!": "LNOT", "<": "LT", ">": "GT", "?": "CONDOP", "(": "LPAREN",
    ")": "RPAREN", "[": "LBRACKET", "]": "RBRACKET", "{": "LBRACE", "}": "RBRACE", ",": "COMMA", ".": "PERIOD",
    "[[": "ATTRIBUTE_BEGIN", ";": "SEMI", ":": "COLON", "<:": "LBRACKET", ":>": "RBRACKET", "<%": "LBRACE", "%>": "RBRACE",
}  # fmt: skip


def old_name_hint(name: str) -> str:
    """Return what a message about `name` adds if it was a keyword of UPC 1.0; else an empty
    text."""
    return (
        f" ('{name}' is UPC 1.0's name of {OLD_NAMES[name]}: upcc --upc-1.0 takes it)"
        if name in OLD_NAMES
        else ""
    )
