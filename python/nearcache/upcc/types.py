# SPDX-License-Identifier: BSD-3-Clause
"""The types of UPC: C's types, and what `shared` adds to them (UPC 1.3, sections 6.5.1 and 6.5.2).

A type knows its qualifiers and, if it is shared, its `block`: how many consecutive elements lie on
one thread. Arrays are shared if their elements are. `alias` is the typedef name used in the source,
for readable output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .scope import renamed, retagged

if TYPE_CHECKING:
    from pycparser import c_ast

    from .scope import Scope
    from .typenames import Alias

    # Name (None for an unnamed struct or union), type, width of a bit-field.
    Member = tuple[str | None, "Type", c_ast.Node | None]


class Block:
    """A layout qualifier: the block size in elements, 0 for an indefinite one."""

    __slots__ = ("value", "node", "text", "scope")

    def __init__(
        self,
        value: int | None = None,
        node: c_ast.Node | None = None,
        text: str | None = None,
        scope: Scope | None = None,
    ) -> None:
        self.value = value  # int, or None if only the C compiler or the running program knows it
        self.node = node  # c_ast expression, if there is no value
        self.text = text  # text of the node, for comparison
        self.scope = scope  # the scope of the names in it; None if it has none

    @property
    def is_constant(self) -> bool:
        """Whether the C compiler knows the value, and not only the running program."""
        return self.value is not None or self.scope is not None

    def same(self, other: Block) -> bool | None:
        """Return whether two block sizes are the same; None if only the C compiler or the running
        program knows."""
        if self.value is not None and other.value is not None:
            return self.value == other.value
        if self.value is not None or other.value is not None or self.text != other.text:
            return None
        one, two = self.scope, other.scope
        if one is None or two is None or one is two:
            return True
        return None if renamed(self.node, one, two) or retagged(self.node, one, two) else True

    def __str__(self) -> str:
        return (
            "[]" if self.value == 0 else f"[{self.value if self.value is not None else self.text}]"
        )


INDEFINITE, CYCLIC = Block(0), Block(1)
MADE_TAG = "ncupc_unnamed_"  # how the tags begin that structures without one get


class Type:
    __slots__ = ("quals", "block", "alias", "aligned")
    kind = "?"

    if TYPE_CHECKING:
        # What only some kinds have, for code that has asked is_array, is_record and the like.
        target: Type
        element: Type
        count: c_ast.Node | None
        length: int | None
        dim_quals: list[str]
        scope: Scope | None
        result: Type
        parameters: list[Type] | None
        variadic: bool
        body: Body
        words: list[str]
        size: int | None
        floating: bool
        signed: bool
        node: c_ast.Node | None

        @property
        def base(self) -> Type: ...

        def dimensions(self) -> list[Array]: ...

        def field(self, name: str) -> tuple[Type, c_ast.Node | None] | None: ...

    def __init__(self) -> None:
        self.quals: frozenset[str] = frozenset()
        self.block: Any = None  # Block; None if the type is not shared
        self.alias: Alias | None = None
        self.aligned = False  # by an attribute of its typedef

    def copy(self) -> Any:  # of its own class; callers set what their kind has
        made = object.__new__(type(self))
        for owner in type(self).__mro__:
            for slot in getattr(owner, "__slots__", ()):
                setattr(made, slot, getattr(self, slot))
        return made

    def qualified(self, quals: Iterable[str] = (), block: Block | None = None) -> Type:
        """Return the type with additional qualifiers; an array passes them on to its elements."""
        if not quals and block is None:
            return self
        made = self.copy()
        made.quals = self.quals | frozenset(quals)
        if block is not None:
            made.block = block
        return made

    def unqualified(self) -> Type:
        """Return the type of the value: neither qualified nor shared."""
        if not self.quals and self.block is None:
            return self
        made = self.copy()
        made.quals, made.block = frozenset(), None
        return made

    is_shared = property(lambda self: self.block is not None)
    is_pointer = is_array = is_record = is_function = is_void = is_arithmetic = is_unknown = False
    is_pointer_to_shared = False

    def __str__(self) -> str:
        words = (
            [f"shared {self.block}" if self.block.value != 1 else "shared"]
            if self.block is not None
            else []
        )
        return " ".join([*words, *sorted(self.quals), self.alias or self.name()])

    def name(self) -> str:
        return self.kind


class Unknown(Type):
    """A type known only to the C compiler: builtins, typeof of them."""

    __slots__ = ("node",)
    is_unknown = True
    kind = "unknown"

    def __init__(self, node: c_ast.Node | None = None) -> None:
        super().__init__()
        self.node = node  # c_ast type node to print again, if there is one


class Void(Type):
    __slots__ = ()
    kind = "void"
    is_void = True


class Arithmetic(Type):
    """Integers, floating-point numbers, enumerations."""

    __slots__ = ("words", "floating", "size", "signed", "node")
    is_arithmetic = True
    kind = "arithmetic"

    def __init__(
        self,
        words: list[str],
        size: int | None = None,
        floating: bool = False,
        signed: bool = True,
        node: c_ast.Node | None = None,
    ) -> None:
        super().__init__()
        self.words, self.size, self.floating, self.signed = words, size, floating, signed
        self.node = node  # c_ast.Enum

    def name(self) -> str:
        return " ".join(self.words)


class Pointer(Type):
    __slots__ = ("target",)
    kind = "pointer"
    is_pointer = True

    def __init__(self, target: Type) -> None:
        super().__init__()
        self.target = target

    is_pointer_to_shared = property(lambda self: self.target.is_shared)

    def name(self) -> str:
        return f"{self.target} *"


class Array(Type):
    __slots__ = ("element", "count", "length", "dim_quals", "scope")
    kind = "array"
    is_array = True

    def __init__(
        self,
        element: Type,
        count: c_ast.Node | None = None,
        length: int | None = None,
        dim_quals: Iterable[str] = (),
        scope: Scope | None = None,
    ) -> None:
        super().__init__()
        self.element = element
        self.count = count  # c_ast expression, None for []
        self.length = length  # its value, None if not known
        self.dim_quals = list(dim_quals)
        self.scope = scope  # of the names in `count`; None if it has none

    is_shared = property(lambda self: self.element.is_shared)

    def qualified(self, quals: Iterable[str] = (), block: Block | None = None) -> Type:
        if not quals and block is None:
            return self
        made = self.copy()
        made.element = self.element.qualified(quals, block)
        return made

    def unqualified(self) -> Type:
        made = self.copy()
        made.element = self.element.unqualified()
        return made

    @property
    def base(self) -> Type:
        """Return the innermost element type, whatever the number of dimensions."""
        at: Type = self
        while at.is_array:
            at = at.element
        return at

    def dimensions(self) -> list[Array]:
        at: Any = self
        found: list[Array] = []
        while at.is_array:
            found.append(at)
            at = at.element
        return found

    def name(self) -> str:
        text = "".join(f"[{'' if d.length is None else d.length}]" for d in self.dimensions())
        return f"{self.base} {text}"

    __str__ = name


class Function(Type):
    __slots__ = ("result", "parameters", "variadic")
    kind = "function"
    is_function = True

    def __init__(self, result: Type, parameters: list[Type] | None, variadic: bool) -> None:
        super().__init__()
        self.result, self.parameters, self.variadic = result, parameters, variadic

    def name(self) -> str:
        inside = ", ".join(map(str, self.parameters)) if self.parameters else ""
        return f"{self.result} ({inside})"


class Record(Type):
    """A struct or union. Copies share the `body`."""

    __slots__ = ("body",)
    kind = "record"
    is_record = True

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body = body

    def field(self, name: str) -> tuple[Type, c_ast.Node | None] | None:
        """Return (type, width of a bit-field or None) of a member, including members of unnamed
        structs; None if there is none."""
        for member, kind, bits in self.body.fields or ():
            if member == name:
                return kind, bits
            if member is None and kind.is_record:
                found = kind.field(name)
                if found:
                    return found
        return None

    def name(self) -> str:
        return f"{self.body.keyword} {self.body.tag or '{...}'}"


class Body:
    """The data shared by all declarations of one struct or union."""

    __slots__ = ("keyword", "node", "tag", "fields", "plain", "packed")

    def __init__(self, keyword: str, node: c_ast.Node) -> None:
        self.keyword, self.node = keyword, node
        self.tag = node.name  # in the source; the node may get another one
        self.fields: list[Member] | None = None  # None while incomplete
        self.plain = True  # no attribute, so that sizes follow from the members
        self.packed = False  # by a pragma


def element_of(kind: Type) -> Type:
    """Return the type by which a shared type is laid out: the element of an array, or the type
    itself."""
    return kind.base if kind.is_array else kind


def decayed(kind: Type) -> Type:
    """Return the type of a value of `kind` in an expression."""
    if kind.is_array:
        return Pointer(kind.element)
    if kind.is_function:
        return Pointer(kind)
    return kind.unqualified()


def same(a: Type, b: Type) -> bool:
    """Return whether two types are compatible, ignoring outermost qualifiers."""
    if a.is_unknown or b.is_unknown:
        return True
    if a.kind != b.kind:
        return a.is_void and b.is_void
    if a.is_arithmetic:
        if (a.node is None) != (b.node is None):
            return a.size == b.size  # an enumeration is compatible with an integer
        return a.node is not None or a.words == b.words
    if a.is_pointer:
        if a.target.is_shared != b.target.is_shared:
            return False
        if a.target.is_shared and not element_of(a.target).block.same(element_of(b.target).block):
            return False
        return same(a.target, b.target)
    if a.is_array:
        return same(a.element, b.element) and (
            a.length is None or b.length is None or a.length == b.length
        )
    if a.is_record:
        x, y = a.body, b.body
        return x is y or (x.node.name is not None and x.node.name == y.node.name)
    if a.is_function:
        if not same(a.result, b.result):
            return False
        if a.parameters is None or b.parameters is None:
            return True
        return len(a.parameters) == len(b.parameters) and all(
            same(x, y) for x, y in zip(a.parameters, b.parameters)
        )
    return True


def _qualifiers(kind: Type) -> Iterator[frozenset[str]]:
    """Those of a type and of all that it points to, outermost first."""
    while kind.is_pointer:
        yield kind.quals
        kind = element_of(kind.target)
    yield kind.quals


def compatible(a: Type, b: Type) -> bool:
    """Return whether two types are compatible, qualifiers included."""
    return same(a, b) and (a.is_unknown or b.is_unknown or [*_qualifiers(a)] == [*_qualifiers(b)])


def identical(a: Type, b: Type) -> bool | None:
    """Return whether two types are the same, with qualifiers and layouts at every level; None if
    only the C compiler knows."""
    if a.is_unknown or b.is_unknown:
        return None
    if a.kind != b.kind or a.quals != b.quals or (a.block is None) != (b.block is None):
        return False
    layout = a.block is None or a.block.same(b.block)
    if not layout:
        return layout
    if a.is_arithmetic:
        return a.node is b.node and a.words == b.words
    if a.is_pointer:
        return identical(a.target, b.target)
    if a.is_array:
        if (a.count is None) != (b.count is None) or a.length != b.length:
            return False
        return identical(a.element, b.element)
    if a.is_record:
        return a.body is b.body
    if a.is_function:
        one, other = a.parameters or [], b.parameters or []
        if (
            (a.parameters is None) != (b.parameters is None)
            or a.variadic != b.variadic
            or len(one) != len(other)
        ):
            return False
        parts = [
            identical(a.result, b.result),
            *(identical(x.unqualified(), y.unqualified()) for x, y in zip(one, other)),
        ]
        return False if False in parts else None if None in parts else True
    return True


def has_no_size(kind: Type) -> bool:
    """Return whether a type is incomplete: an array without a size, a struct or union whose members
    are not known."""
    if kind.is_array:
        return kind.count is None and kind.length is None or has_no_size(kind.element)
    return kind.is_record and kind.body.fields is None


def may_index(kind: Type) -> bool:
    """Return whether the type is an integer's: it may be added to a pointer, choose a thread, or be
    a barrier's value."""
    return kind.is_unknown or kind.is_arithmetic and not kind.floating


def same_sharing(a: Type, b: Type) -> bool:
    """Return whether two types agree in which pointers are to shared and in block sizes; the C
    compiler compares all else."""
    if a.kind != b.kind:
        return True
    if a.is_pointer:
        x, y = a.target, b.target
        if x.is_shared != y.is_shared:
            return False
        if (
            x.is_shared
            and not (x.is_void or y.is_void)
            and not element_of(x).block.same(element_of(y).block)
        ):
            return False
        return same_sharing(x, y)
    if a.is_array:
        return same_sharing(a.element, b.element)
    if a.is_function:
        if not same_sharing(a.result, b.result):
            return False
        return (
            a.parameters is None
            or b.parameters is None
            or all(map(same_sharing, a.parameters, b.parameters))
        )
    return True
