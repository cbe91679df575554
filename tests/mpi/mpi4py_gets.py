"""An mpi4py program that gets the same words again and again; rank 0 prints `ok mpi4py`."""

import sys

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, peer = comm.rank, 1 - comm.rank
info = MPI.Info.Create()
info.Set("nearcache_mode", "always")
memory = numpy.arange(1000, dtype=numpy.int64) + 10000 * rank
win = MPI.Win.Create(memory, 8, info, comm)
wrong = 0
win.Lock_all()
for _turn in range(3):
    for at in range(0, 1000, 10):
        got = numpy.full(10, -1, dtype=numpy.int64)
        win.Get(got, peer, target=(at, 10, MPI.INT64_T))
        win.Flush(peer)
        wrong += int((got != numpy.arange(at, at + 10) + 10000 * peer).sum())
strided = MPI.INT64_T.Create_vector(5, 1, 3).Commit()
for _turn in range(2):
    got = numpy.full(5, -1, dtype=numpy.int64)
    win.Rget([got, 5, MPI.INT64_T], peer, target=(7, 1, strided)).Wait()
    wrong += int((got != numpy.arange(7, 22, 3) + 10000 * peer).sum())
win.Unlock_all()
strided.Free()
win.Free()
if rank == 0:
    print("ok mpi4py" if wrong == 0 else f"FAILED mpi4py: {wrong} words", flush=True)
sys.exit(wrong > 0)
