# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic traces for `bench/run policies`, of patterns that our own programs lack: the gets of
one rank, in the format of docs/trace.md.

They are the same in every run: each has a random number generator with its own seed.
"""

import bisect
import random
import struct

GET, SYNC, WINDOW, END = 0, 1, 3, 7
SELECT, CREATED, UNCACHED, FLUSH = 0, 1, 0, 5
MODE_ALWAYS, WINDOW_ID, RANKS = 2, 1, 4
GETS_IN_A_BLOCK = 10000


def patterns(quick):
    """Return (name, gets) of every pattern; gets are (key, bytes), keys count from 0."""
    part = 4 if quick else 1
    return [
        ("SpMV", spmv(6000 // part, 8)),
        ("SpMV, each column once", spmv_columns(6000 // part, 12)),
        ("cycle", cycle(6000 // part, 20)),
        ("R-MAT, begun", rmat(13 if quick else 15, 0.1)),
        ("Zipf and a scan", zipf_and_scan(160000 // part, 8000 // part)),
        ("Zipf that drifts", zipf_that_drifts(160000 // part, 8000 // part)),
        ("epochs of permutations", permutations(6000 // part, 20)),
    ]


def matrix(rows, seed):
    """Return the columns of each row, in cache lines of x: one on the diagonal, four anywhere."""
    draw = random.Random(seed)
    return [[row] + [draw.randrange(rows) for _ in range(4)] for row in range(rows)]


def spmv(rows, iterations):
    """Return gets in which every row gathers its operands, the same in every iteration."""
    columns = [line for row in matrix(rows, 1) for line in row]
    return [(line, 64) for _ in range(iterations) for line in columns]


def spmv_columns(rows, iterations):
    """Like spmv(), for some of the rows, which reach most columns; each column is fetched once per
    iteration."""
    columns = list(dict.fromkeys(line for row in matrix(rows, 2)[: rows // 3] for line in row))
    return [(line, 64) for _ in range(iterations) for line in columns]


def cycle(keys, rounds):
    return [(key, 200) for _ in range(rounds) for key in range(keys)]


def permutations(keys, epochs):
    """Return minibatches of a training set: each epoch visits each sample once, in an order of its
    own."""
    draw, order, gets = random.Random(3), list(range(keys)), []
    for _ in range(epochs):
        draw.shuffle(order)
        gets += [(key, 256 + 64 * (key % 5)) for key in order]
    return gets


def rmat(scale, begun):
    """Return adjacency lists of neighbours of a graph's first vertices: most lists are fetched for
    the first time."""
    draw, vertices = random.Random(4), 1 << scale
    neighbours = [set() for _ in range(vertices)]
    names = list(range(vertices))
    draw.shuffle(names)
    for _ in range(8 * vertices):
        row = column = 0
        for _ in range(scale):
            at = draw.random()
            row, column = 2 * row + (at >= 0.76), 2 * column + (0.57 <= at < 0.76 or at >= 0.95)
        neighbours[names[row]].add(names[column])
        neighbours[names[column]].add(names[row])
    return [
        (other, 4 * len(neighbours[other]))
        for vertex in range(int(vertices * begun))
        for other in sorted(neighbours[vertex])
    ]


class Zipf:
    """Draws ranks 0, 1, ... with probabilities proportional to 1/(rank + 1)^exponent."""

    def __init__(self, ranks, exponent, seed):
        self.draw, self.sums, total = random.Random(seed), [], 0.0
        for rank in range(ranks):
            total += (rank + 1) ** -exponent
            self.sums.append(total)

    def __call__(self):
        return bisect.bisect(self.sums, self.draw.random() * self.sums[-1])


def size_of(key):
    return 64 << key * 2654435761 % 6


def zipf_and_scan(gets, keys):
    """Return gets three quarters of which are of popular keys, the others of a stream that never
    repeats."""
    zipf, found = Zipf(keys, 0.9, 5), []
    for at in range(gets):
        found.append((keys + at, 512) if at % 4 == 3 else (zipf() * 7919 % keys, 512))
    return found


def zipf_that_drifts(gets, keys):
    """Return gets whose popular keys move on by one key every 25 gets."""
    zipf = Zipf(keys, 0.9, 6)
    return [((key := (zipf() + at // 25) * 7919 % keys), size_of(key)) for at in range(gets)]


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def record(kind, detail, *fields):
    return bytes([kind | detail << 3]) + b"".join(map(varint, fields))


def zigzag(value):
    return value * 2 if value >= 0 else -value * 2 - 1


def write(path, gets):
    """Write a trace of rank 0 of 4 that gets from rank 1, with a flush after each get."""
    program = b"pattern"
    texts = b"".join(struct.pack("<I", len(text)) + text for text in (b"", program, b"", b""))
    place = {}  # offset of each key, in the order of first use
    flush, select = record(SYNC, FLUSH, 2), record(WINDOW, SELECT, WINDOW_ID)
    with open(path, "wb") as file:
        file.write(
            b"NCTRACE\n" + struct.pack("<IIIIQ", 1, 32 + len(texts), 0, RANKS, 10**18) + texts
        )
        block(file, [record(WINDOW, CREATED, WINDOW_ID, 0, RANKS, 1 << 20, 1, MODE_ALWAYS, 0)])
        for first in range(0, len(gets), GETS_IN_A_BLOCK):
            records, last = [select], (0, 0)
            for key, size in gets[first : first + GETS_IN_A_BLOCK]:
                at = place.setdefault(key, 8192 * len(place))
                records += [
                    record(GET, UNCACHED, zigzag(1 - last[0]), zigzag(at - last[1]), size),
                    flush,
                ]
                last = (1, at)
            block(file, records)
        block(file, [record(END, 0, 0, len(gets), 0)])


def block(file, records):
    body = b"".join(records)
    file.write(struct.pack("<IIIIQQ", 0x4B42434E, len(body), len(records), 0, 0, 0) + body)
