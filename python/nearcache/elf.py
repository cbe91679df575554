"""Reads what the loader reads of an ELF file: interpreter, needed libraries, run paths. Nothing is executed."""

import os
import stat
import struct
from dataclasses import dataclass, field
from pathlib import Path

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 5, 14, 15, 29


@dataclass
class Elf:
    path: Path
    machine: int = 0
    bits: int = 64
    interpreter: str = ""
    needed: list = field(default_factory=list)
    soname: str = ""
    rpath: list = field(default_factory=list)
    runpath: list = field(default_factory=list)
    dynamic: bool = False


def is_elf(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def ignores_preload(path):
    """Why the loader would ignore LD_PRELOAD for this program whatever it links, or None."""
    mode = os.stat(path).st_mode
    if mode & (stat.S_ISUID | stat.S_ISGID):
        return "it is setuid or setgid"
    try:
        if os.getxattr(path, "security.capability"):
            return "it has file capabilities"
    except (OSError, AttributeError):
        pass
    return None


def _text(data, offset):
    return data[offset : data.index(b"\0", offset)].decode(errors="replace")


def _segments(data, bits, order):
    """(type, file offset, address, size in the file) of each program header."""
    if bits == 64:
        (start,) = struct.unpack_from(order + "Q", data, 32)
        size, count = struct.unpack_from(order + "HH", data, 54)
    else:
        (start,) = struct.unpack_from(order + "I", data, 28)
        size, count = struct.unpack_from(order + "HH", data, 42)
    for index in range(count):
        at = start + index * size
        if bits == 64:
            kind, _flags, offset, address, _physical, length = struct.unpack_from(
                order + "IIQQQQ", data, at
            )
        else:
            kind, offset, address, _physical, length = struct.unpack_from(order + "IIIII", data, at)
        yield kind, offset, address, length


def read(path):
    """The Elf of a file; ValueError if it is none."""
    data = Path(path).read_bytes()
    if data[:4] != b"\x7fELF":
        raise ValueError(f"{path} is not an ELF file")
    try:
        bits = 64 if data[4] == 2 else 32
        order = "<" if data[5] == 1 else ">"
        elf = Elf(Path(path), machine=struct.unpack_from(order + "H", data, 18)[0], bits=bits)
        segments = list(_segments(data, bits, order))
        for kind, offset, _address, length in segments:
            if kind == PT_INTERP:
                elf.interpreter = data[offset : offset + length].rstrip(b"\0").decode()
            elif kind == PT_DYNAMIC:
                elf.dynamic = True
                _read_dynamic(elf, data, order, segments, offset, length)
    except (struct.error, IndexError, ValueError, StopIteration) as error:
        raise ValueError(f"{path} is a damaged ELF file: {error}") from None
    return elf


def _read_dynamic(elf, data, order, segments, offset, length):
    entry = order + ("qQ" if elf.bits == 64 else "iI")
    step = struct.calcsize(entry)
    entries = [
        struct.unpack_from(entry, data, at)
        for at in range(offset, offset + length - step + 1, step)
    ]
    entries = entries[
        : [tag for tag, _ in entries].index(0) if 0 in [tag for tag, _ in entries] else None
    ]
    address = dict(entries).get(DT_STRTAB)
    if address is None:
        return
    strings = next(
        at + address - start
        for kind, at, start, size in segments
        if kind == PT_LOAD and start <= address < start + size
    )
    for tag, value in entries:
        if tag == DT_NEEDED:
            elf.needed.append(_text(data, strings + value))
        elif tag == DT_SONAME:
            elf.soname = _text(data, strings + value)
        elif tag in (DT_RPATH, DT_RUNPATH):
            paths = [part for part in _text(data, strings + value).split(":") if part]
            (elf.rpath if tag == DT_RPATH else elf.runpath).extend(paths)
