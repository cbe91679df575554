# SPDX-License-Identifier: BSD-3-Clause
"""A script for gdb (`source`) that shows pointers-to-shared by thread, phase and address, and reads
shared objects.

(gdb) source .../nearcache/upcc/gdb_pointers.py        # upcc --gdb-script prints the path
(gdb) print p                                          # <thread 2, phase 3, address 0x4010>
(gdb) print $upc_at(p, "double")                       # what p points to
(gdb) print $upc_element(a, 5, "int", 4)               # a[5] of shared [4] int a[...]

Data reachable by loads and stores, including the thread's own, are read from memory, also in a core
file. For data of other threads, the program's own runtime is called (ncupc_debug_read). It returns
what the program itself would read; on some networks, the other thread must not be stopped.

Annotations are quoted where gdb's own Python may be too old for them.
"""

from typing import Any

import gdb  # type: ignore[import-untyped]

POINTER = "ncupc_ptr"
ADDRESS_BITS, THREAD_BITS = 34, 10  # bits of a packed pointer, as in upc_runtime_pointer.h


def is_pointer(kind: Any) -> bool:
    """Return whether a type is that of pointers to shared, or a typedef of it."""
    while kind.code == gdb.TYPE_CODE_TYPEDEF:
        if kind.name == POINTER:
            return True
        kind = kind.target()
    return False


def parts(value: Any) -> "tuple[int, ...]":
    """Return (thread, phase, address) of a pointer to shared."""
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        return tuple(int(value[name]) for name in ("thread", "phase", "address"))
    bits = int(value) & (1 << 64) - 1
    address = bits & (1 << ADDRESS_BITS) - 1
    thread = bits >> ADDRESS_BITS & (1 << THREAD_BITS) - 1
    return thread, bits >> ADDRESS_BITS + THREAD_BITS, address


class Pointer:
    """Pretty-printer for pointers-to-shared."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def to_string(self) -> str:
        thread, phase, address = parts(self.value)
        if address == 0:
            return "<NULL>"
        return f"<thread {thread}, phase {phase}, address {address:#x}>"


def printer_of(value: Any) -> "Pointer | None":
    return Pointer(value) if is_pointer(value.type) else None


def type_of(name: Any) -> Any:
    """Return a type by its name, which may be that of a pointer."""
    name = name.string() if isinstance(name, gdb.Value) else name
    stars = len(name) - len(name.rstrip("* "))
    kind = gdb.lookup_type(name.rstrip("* "))
    for _ in range(name[len(name) - stars :].count("*")):
        kind = kind.pointer()
    return kind


def is_struct(pointer: Any) -> bool:
    return pointer.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT


def arena_of(thread: int, of_structs: bool) -> int:
    """Return the address of a thread's memory; 0 if it is out of reach.

    The runtime has an array of pointers or, with pointers of the struct form, a pointer to one.
    """
    array = "*(char ***)&ncupc_near" if of_structs else "(char **)&ncupc_near"
    return int(gdb.parse_and_eval(f"({array})[{thread}]"))


def object_at(thread: int, address: int, kind: Any, pointer: Any = None) -> Any:
    """Return a thread's object at an address in its memory. pointer: passed to the runtime for an
    object out of reach."""
    arena = arena_of(thread, pointer is not None and is_struct(pointer))
    if arena:
        place = gdb.Value(arena + address)
    else:
        function = gdb.parse_and_eval("(const void *(*)(ncupc_ptr, unsigned long))ncupc_debug_read")
        place = function(pointer, kind.sizeof)
    if int(place) == 0:
        raise gdb.GdbError("more than 64 KiB cannot be read from another thread")
    return place.cast(kind.pointer()).dereference()


def checked(pointer: Any) -> "tuple[int, int, int]":
    """Return the parts of a pointer. Raises an error if it is null."""
    if not is_pointer(pointer.type):
        raise gdb.GdbError(f"a {pointer.type} is not a pointer to shared")
    thread, phase, address = parts(pointer)
    if address == 0:
        raise gdb.GdbError("there is no shared object: a null pointer")
    return thread, phase, address


def moved(pointer: Any, thread: int, phase: int, address: int) -> Any:
    """Return a pointer to shared with other parts."""
    if not is_struct(pointer):
        bits = phase << ADDRESS_BITS + THREAD_BITS | thread << ADDRESS_BITS | address
        return gdb.Value(bits).cast(pointer.type)
    fields = b"".join(
        number.to_bytes(size, "little") for number, size in ((address, 8), (thread, 4), (phase, 4))
    )
    return gdb.Value(fields, pointer.type)


def element(pointer: Any, index: int, size: int, block: int) -> "tuple[int, int, int]":
    """Return (thread, phase, address) of the element `index` elements further on (UPC 1.3,
    6.4.2)."""
    thread, phase, address = checked(pointer)
    if block == 0:
        return thread, phase, address + index * size
    threads = int(gdb.parse_and_eval("*(int *)&ncupc_threads"))
    blocks, new_phase = divmod(phase + index, block)
    rows, new_thread = divmod(thread + blocks, threads)
    return new_thread, new_phase, address + (rows * block + new_phase - phase) * size


class At(gdb.Function):
    """$upc_at(pointer, "type"): what a pointer to shared points to."""

    def __init__(self) -> None:
        super().__init__("upc_at")

    def invoke(self, pointer: Any, name: Any) -> Any:
        thread, _, address = checked(pointer)
        return object_at(thread, address, type_of(name), pointer)


class Element(gdb.Function):
    """$upc_element(array, index, "type", block): an element of a shared array. The block size is 1
    where the declaration has none, and 0 for []."""

    def __init__(self) -> None:
        super().__init__("upc_element")

    def invoke(self, array: Any, index: Any, name: Any, block: Any = 1) -> Any:
        kind = type_of(name)
        thread, phase, address = element(array, int(index), kind.sizeof, int(block))
        return object_at(thread, address, kind, moved(array, thread, phase, address))


gdb.pretty_printers.append(printer_of)
At()
Element()
