! A program of mpi_f08 that has a session only, with several threads in view: gets of a window of its ranks.
program session_only
  use mpi_f08
  use iso_c_binding
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: group
  type(MPI_Comm) :: comm
  type(MPI_Win) :: win
  type(MPI_Info) :: info
  type(c_ptr) :: base
  integer, pointer :: words(:)
  integer :: got, rank, turn
  integer(kind=MPI_ADDRESS_KIND) :: bytes = 400, place = 5

  call MPI_Info_create(info)
  call MPI_Info_set(info, 'thread_level', 'MPI_THREAD_MULTIPLE')
  call MPI_Session_init(info, MPI_ERRORS_RETURN, session)
  call MPI_Info_free(info)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group)
  call MPI_Comm_create_from_group(group, 'fortran', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, comm, base, win)
  call c_f_pointer(base, words, [100])
  words = 100 + rank
  call MPI_Barrier(comm)
  call MPI_Win_lock_all(0, win)
  do turn = 1, 10
    call MPI_Get(got, 1, MPI_INTEGER, 1, place, 1, MPI_INTEGER, win)
    call MPI_Win_flush(1, win)
  end do
  call MPI_Win_unlock_all(win)
  if (got == 101) print '(a)', 'ok session'
  call MPI_Win_free(win)
  call MPI_Comm_free(comm)
  call MPI_Group_free(group)
  call MPI_Session_finalize(session)
end program
