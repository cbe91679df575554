"""Constant expressions, as far as a layout or a check needs their values (C11 6.6)."""
import ctypes

from pycparser import c_ast

from . import types

SIZES = {("char",): 1, ("short",): 2, ("int",): 4, ("float",): 4, ("double",): 8, ("long",): ctypes.sizeof(ctypes.c_long),
         ("long", "long"): 8, ("long", "double"): ctypes.sizeof(ctypes.c_longdouble), ("_Bool",): 1}
ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "0": 0, "\\": 92, "'": 39, '"': 34, "?": 63, "e": 27}


def arithmetic(words):
    """The type that specifier words such as `unsigned long int` name; None if they name none."""
    left = list(words)
    signed = True
    for word in ("unsigned", "signed", "__signed__", "__signed"):
        while word in left:
            left.remove(word)
            signed = signed and word != "unsigned"
    unsigned = "unsigned" in words
    complex_ = [word for word in left if word in ("_Complex", "__complex__", "_Imaginary")]
    left = [word for word in left if word not in complex_]
    core = sorted(word for word in left if word != "int" or left == ["int"])
    if not core:
        core = ["int"]
    if core.count("long") == 2:
        core = ["long", "long"]
    elif core == ["double", "long"]:
        core = ["long", "double"]
    floating = bool({"float", "double"} & set(core)) or core[0].startswith(("_Float", "__float", "_Decimal")) or bool(complex_)
    size = SIZES.get(tuple(core))
    if size is None and not (floating or core[0] in ("__int128", "__int128_t", "__uint128_t")):
        return None
    if complex_:
        size = 2 * size if size else None
        core = [*core, "_Complex"]
    spelled = (["unsigned"] if unsigned else ["signed"] if core == ["char"] and "signed" in words else []) + core
    return types.Arithmetic(spelled, size, floating, signed)


def integer(text):
    """The value of an integer constant as it is spelled."""
    digits = text.rstrip("uUlL").replace("'", "")
    if digits[:2] in ("0x", "0X", "0b", "0B"):
        return int(digits, 0)
    return int(digits, 8) if len(digits) > 1 and digits[0] == "0" else int(digits)


def character(text):
    inside = text[text.index("'") + 1:-1]
    if not inside.startswith("\\"):
        return ord(inside) if len(inside) == 1 else None
    if inside[1] == "x":
        return int(inside[2:], 16)
    if inside[1].isdigit():
        return int(inside[1:], 8)
    return ESCAPES.get(inside[1])


def _divide(a, b):
    """Division as C's: towards zero."""
    if b == 0:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": _divide,
    "%": lambda a, b: None if b == 0 else a - b * _divide(a, b), "<<": lambda a, b: a << b if 0 <= b < 128 else None,
    ">>": lambda a, b: a >> b if 0 <= b < 128 else None, "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "&&": lambda a, b: int(bool(a and b)),
    "||": lambda a, b: int(bool(a or b)),
}
UNARY = {"-": lambda a: -a, "+": lambda a: a, "~": lambda a: ~a, "!": lambda a: int(not a)}


class Constants:
    """Part of the lowering."""

    def evaluate(self, node):
        """The value of an integer constant expression, or None."""
        match node:
            case c_ast.Constant():
                if node.type == "char":
                    return character(node.value)
                return integer(node.value) if "int" in node.type else None
            case c_ast.ID():
                if node.name == "THREADS":
                    return self.threads
                symbol = self.scope.find(node.name)
                return symbol.value if symbol is not None and symbol.kind == "constant" else None
            case c_ast.UnaryOp(op="sizeof") | c_ast.UnaryOp(op="_Alignof"):
                return self.size_of(self.type_of_operand(node.expr)) if isinstance(node.expr, c_ast.Typename) else None
            case c_ast.UnaryOp(op="upc_blocksizeof") if isinstance(node.expr, c_ast.Typename):
                kind = types.element_of(self.type_of(node.expr.type))
                return kind.block.value if kind.block else None
            case c_ast.UnaryOp() if node.op in UNARY:
                value = self.evaluate(node.expr)
                return None if value is None else UNARY[node.op](value)
            case c_ast.BinaryOp() if node.op in BINARY:
                left, right = self.evaluate(node.left), self.evaluate(node.right)
                if left is None or right is None:
                    return None
                return BINARY[node.op](left, right)
            case c_ast.TernaryOp():
                condition = self.evaluate(node.cond)
                if condition is None:
                    return None
                return self.evaluate((node.iftrue or node.cond) if condition else node.iffalse)
            case c_ast.Cast():
                kind = self.type_of(node.to_type.type)
                if not kind.is_arithmetic:
                    return None
                if kind.floating and isinstance(node.expr, c_ast.Constant):
                    return None
                value = self.evaluate(node.expr)
                if value is None and isinstance(node.expr, c_ast.Constant) and not kind.floating:
                    try:
                        return int(float(node.expr.value.rstrip("fFlL")))
                    except ValueError:
                        return None
                return value
        return None

    def size_of(self, kind):
        """Bytes of a type, or None where that is left to the C compiler."""
        if kind.is_shared and not kind.is_array:
            kind = kind.unqualified()
        if kind.is_arithmetic:
            return kind.size
        if kind.is_pointer:
            return None if kind.is_pointer_to_shared else ctypes.sizeof(ctypes.c_void_p)
        if kind.is_array:
            element = self.size_of(kind.element)
            return None if element is None or kind.length is None else element * kind.length
        if kind.is_record and kind.body.plain and kind.body.fields is not None:
            return self._record_size(kind.body)[0]
        return None

    def _alignment(self, kind):
        if kind.is_array:
            return self._alignment(kind.element)
        if kind.is_record:
            return self._record_size(kind.body)[1] if kind.body.plain and kind.body.fields is not None else None
        return self.size_of(kind)

    def _record_size(self, body):
        at, widest, largest = 0, 1, 0
        for _, kind, bits in body.fields:
            size, alignment = self.size_of(kind), self._alignment(kind)
            if bits is not None or size is None or not alignment:
                return None, None
            alignment = min(alignment, 16)
            at = -(-at // alignment) * alignment + size
            widest, largest = max(widest, alignment), max(largest, size)
        size = largest if body.keyword == "union" else at
        return -(-size // widest) * widest, widest
