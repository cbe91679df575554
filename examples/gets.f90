! Fortran: a table that is only read. The info key (mode `always`) is all that Nearcache needs.
!   mpif90 -O2 gets.f90 -o gets
!   nearcache run --report - -- mpiexec -n 2 ./gets
program gets
  use mpi
  implicit none
  integer, parameter :: entries = 1000, reads = 20000
  integer :: rank, ranks, owner, info, win, error, i
  integer(kind=MPI_ADDRESS_KIND) :: at
  double precision :: mine(entries), got, total

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = [(rank * entries + i, i = 0, entries - 1)]
  call MPI_Info_create(info, error)
  call MPI_Info_set(info, 'nearcache_mode', 'always', error)
  at = 8 * entries
  call MPI_Win_create(mine, at, 8, info, MPI_COMM_WORLD, win, error)
  call MPI_Info_free(info, error)

  owner = mod(rank + 1, ranks)
  total = 0
  call MPI_Win_lock_all(0, win, error)
  do i = 1, reads
    at = mod(7919 * i, entries)
    call MPI_Get(got, 1, MPI_DOUBLE_PRECISION, owner, at, 1, MPI_DOUBLE_PRECISION, win, error)
    call MPI_Win_flush(owner, win, error)
    total = total + got
  end do
  call MPI_Win_unlock_all(win, error)
  print '(a, i0, a, f0.1)', 'mean of rank ', owner, ': ', total / reads
  call MPI_Win_free(win, error)
  call MPI_Finalize(error)
end program
