"""Traces of gets, written by hand (docs/trace.md) for tests of the command."""

import struct

GET, SYNC, WRITE, WINDOW, COST, OWNER_WRITE, TIME, END = range(8)
SELECT, CREATED = 0, 1
FLUSH, INVALIDATE = 5, 14
MODES = {"off": 0, "transparent": 1, "always": 2, "user": 3, "coherent": 4}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def zigzag(value):
    return value * 2 if value >= 0 else -value * 2 - 1


def record(kind, detail, *fields):
    return bytes([kind | detail << 3]) + b"".join(map(varint, fields))


class Trace:
    def __init__(
        self,
        rank=0,
        ranks=2,
        mode="always",
        host=b"node",
        api=b"",
        program=b"program",
        name=b"rows",
        window=5,
        group=None,
    ):
        """`window`: its id; `group`: the rank and the ranks in it, if they are not those of the
        world."""
        texts = b"".join(
            struct.pack("<I", len(text)) + text
            for text in (host, program, b"MPI", b"", *([api] if api else []))
        )
        header = (2 if api else 1, 32 + len(texts), rank, ranks, 10**18)
        self.head = b"NCTRACE\n" + struct.pack("<IIIIQ", *header) + texts
        # id, rank, ranks, own bytes, unit, mode, bytes of the name, name
        self.records = [
            record(
                WINDOW,
                CREATED,
                window,
                *(group or (rank, ranks)),
                *(1 << 20, 1, MODES[mode], len(name)),
            )
            + name,
            record(WINDOW, SELECT, window),
        ]
        self.last = (0, 0)

    def get(self, target, displacement, size):
        self.records.append(
            record(GET, 4, zigzag(target - self.last[0]), zigzag(displacement - self.last[1]), size)
        )
        self.last = (target, displacement)
        return self

    def put(self, target, displacement, size):
        self.records.append(
            record(
                WRITE, 0, zigzag(target - self.last[0]), zigzag(displacement - self.last[1]), size
            )
        )
        self.last = (target, displacement)
        return self

    def flush(self, target):
        self.records.append(record(SYNC, FLUSH, target + 1))
        return self

    def invalidate(self):
        self.records.append(record(SYNC, INVALIDATE, 0))
        return self

    def later(self, ns):
        """What follows comes so much later than the last time."""
        self.records.append(record(TIME, 0, ns))
        return self

    def cost(self, size, ns):
        self.records.append(record(COST, 0, size, ns))
        return self

    def bytes(self):
        body = b"".join(self.records) + record(END, 0, 0, 0, 0)
        return (
            self.head
            + struct.pack("<IIIIQQ", 0x4B42434E, len(body), len(self.records) + 1, 0, 0, 0)
            + body
        )

    def write(self, path):
        path.write_bytes(self.bytes())
        return path


def rounds(rank, target, keys, times, mode="always", **more):
    """`keys` gets of 100 bytes, asked for `times` times, one round after the other."""
    trace = Trace(rank=rank, mode=mode, **more)
    for _ in range(times):
        for key in range(keys):
            trace.get(target, key * 128, 100).flush(target)
    return trace
