"""The symbol table: identifiers and tags by scope."""


class Symbol:
    """The meaning of a name: kind is "object", "function", "typedef" or "constant" (of an
    enumeration).

    `resolve` computes the type on first use, as system headers declare much that no program uses.
    """

    __slots__ = (
        "name",
        "kind",
        "c_name",
        "storage",
        "value",
        "coord",
        "defined",
        "scope",
        "origin",
        "_type",
        "_resolve",
    )

    def __init__(
        self, name, kind, type=None, resolve=None, c_name=None, storage=(), value=None, coord=None
    ):
        self.name, self.kind, self._type, self._resolve = name, kind, type, resolve
        self.c_name = c_name or name
        self.storage = storage
        self.value = value  # of a constant; None if only the C compiler knows it
        self.coord = coord
        self.defined = False
        self.scope = None  # the scope of the definition
        self.origin = None  # node of the typedef, or of a constant's enumeration

    @property
    def type(self):
        if self._type is None:
            self._type = self._resolve()
        return self._type

    @type.setter
    def type(self, kind):
        self._type = kind


class Scope:
    def __init__(self, parent=None):
        self.parent = parent
        self.names = {}
        self.tags = {}  # name -> types.Body or, for an enumeration, its node

    def find(self, name):
        at = self
        while at is not None and name not in at.names:
            at = at.parent
        return at and at.names[name]

    def find_tag(self, name):
        at = self
        while at is not None and name not in at.tags:
            at = at.parent
        return at and at.tags[name]

    def add(self, symbol):
        self.names[symbol.name] = symbol
        symbol.scope = self
        return symbol
