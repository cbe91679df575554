# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py: the info key goes to the window, and `nearcache run` finds out which MPI mpi4py loads.
nearcache run --report - -- mpiexec -n 2 python3 gets.py
"""

import numpy
from mpi4py import MPI

ENTRIES, READS = 1000, 20000
world = MPI.COMM_WORLD
owner = (world.rank + 1) % world.size

info = MPI.Info.Create({"nearcache_mode": "always"})
win = MPI.Win.Allocate(ENTRIES * 8, 8, info, world)
numpy.frombuffer(win.tomemory(), dtype="d")[:] = world.rank * ENTRIES + numpy.arange(ENTRIES)
world.Barrier()  # from here on nobody writes

total, value = 0.0, numpy.empty(1)
win.Lock_all()
for i in range(READS):
    win.Get([value, MPI.DOUBLE], owner, (i * 7919 % ENTRIES, 1, MPI.DOUBLE))
    win.Flush(owner)
    total += value[0]
win.Unlock_all()
print(f"mean of rank {owner}: {total / READS:.1f}")
win.Free()
