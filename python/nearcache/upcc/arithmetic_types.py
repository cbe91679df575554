"""The types of C's arithmetic: promotions and the usual conversions (C11 6.3.1)."""
from .constants import arithmetic

INT = arithmetic(["int"])
SIZE = arithmetic(["unsigned", "long"])
DIFFERENCE = arithmetic(["long"])


def promoted(kind):
    """After the integer promotions."""
    if kind.is_arithmetic and not kind.floating and (kind.size or 8) < 4:
        return INT
    return kind.unqualified() if kind.is_arithmetic and kind.node is None else INT if kind.is_arithmetic else kind


def usual(a, b):
    """After the usual arithmetic conversions."""
    if not (a.is_arithmetic and b.is_arithmetic):
        return a if a.is_unknown or not b.is_unknown else b
    a, b = promoted(a), promoted(b)
    if a.floating != b.floating:
        return a if a.floating else b
    if (a.size or 16) != (b.size or 16):
        return a if (a.size or 16) > (b.size or 16) else b
    return a if not a.signed or "long" in a.words and b.signed else b
