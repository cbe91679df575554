! Every kind of window and of synchronisation, and every kind of access, from Fortran: the values must be right. Each
! step reads, lets rank 1 (or a put of rank 0) change the memory, and reads again. Runs on two ranks in any mode
! but `always` for the steps that change memory behind the reader; with the argument `own` only rank 0 itself writes.
#include "binding.h"

program synchronise
  use, intrinsic :: iso_c_binding
  USE_BINDING
  implicit none
  INCLUDE_BINDING
  integer, parameter :: n = 16
  integer(kind=MPI_ADDRESS_KIND), parameter :: zero = 0, bytes = 4 * n
  integer, asynchronous, save :: memory(n), got, given
  integer :: rank, ierr, failures
  character(len=16) :: argument
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_Group) :: world, other
  STATUS(status)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR
  failures = 0
  call MPI_Comm_group(MPI_COMM_WORLD, world IERR
  call MPI_Group_incl(world, 1, [1 - rank], other IERR
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win IERR
  call get_command_argument(1, argument)
  if (argument /= 'own') then
    call fences
    call post_start
    call locks
  end if
  call own_writes
  call requests
  call bottom
  call MPI_Win_free(win IERR
  if (failures == 0 .and. rank == 0) print '(a)', merge('ok freed       ', 'FAILED not null', freed())
  call allocated
  call MPI_Group_free(other IERR
  call MPI_Group_free(world IERR
  call MPI_Finalize(ierr)
  if (failures > 0) stop 1

contains

  subroutine expect(name, value, wanted)
    character(len=*), intent(in) :: name
    integer, intent(in) :: value, wanted
    if (rank /= 0) return
    if (value == wanted) then
      print '(2a)', 'ok ', name
    else
      print '(3a,i0,a,i0)', 'FAILED ', name, ': got ', value, ', expected ', wanted
      failures = failures + 1
    end if
  end subroutine

  logical function freed()
#ifdef BINDING_MPI_F08
    freed = win%MPI_VAL == MPI_WIN_NULL%MPI_VAL
#else
    freed = win == MPI_WIN_NULL
#endif
  end function

  subroutine get_one()
    got = -1
    call MPI_Get(got, 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, win IERR
  end subroutine

  subroutine fences
    integer :: i
    do i = 1, 3
      memory(1) = 10 + i
      call MPI_Win_fence(0, win IERR
      if (rank == 0) call get_one
      call MPI_Win_fence(0, win IERR
      call expect('fence', got, 10 + i)
    end do
  end subroutine

  subroutine post_start
    integer :: i
    logical :: flag
    do i = 1, 3
      memory(1) = 20 + i
      if (rank == 0) then
        call MPI_Win_start(other, 0, win IERR
        call get_one
        call MPI_Win_complete(win IERR
      else
        call MPI_Win_post(other, 0, win IERR
        flag = .false.
        do while (i == 2 .and. .not. flag)
          call MPI_Win_test(win, flag IERR
        end do
        if (.not. flag) call MPI_Win_wait(win IERR
      end if
      call expect('start, complete', got, 20 + i)
    end do
  end subroutine

  subroutine locks
    integer :: i
    do i = 1, 3
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win IERR
      memory(1) = 30 + i
      call MPI_Win_unlock(rank, win IERR
      call MPI_Barrier(MPI_COMM_WORLD IERR
      if (rank == 0) then
        call MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win IERR
        call get_one
        if (i == 1) call MPI_Win_flush_local(1, win IERR
        if (i == 2) call MPI_Win_flush(1, win IERR
        call MPI_Win_unlock(1, win IERR
      end if
      call expect('lock, unlock', got, 30 + i)
      call MPI_Barrier(MPI_COMM_WORLD IERR
    end do
  end subroutine

  ! Rank 0 alone writes to rank 1, so this is allowed in every mode: its own writes must be seen.
  subroutine own_writes
    integer :: i
    call MPI_Barrier(MPI_COMM_WORLD IERR
    call MPI_Win_lock_all(0, win IERR
    if (rank == 0) then
      do i = 1, 3
        given = 40 + i
        call MPI_Put(given, 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, win IERR
        call MPI_Win_flush(1, win IERR
        call get_one
        call MPI_Win_flush_local_all(win IERR
        call expect('put', got, 40 + i)
      end do
      call accumulates
    end if
    call MPI_Win_flush_all(win IERR
    call MPI_Win_unlock_all(win IERR
    call MPI_Barrier(MPI_COMM_WORLD IERR
  end subroutine

  subroutine accumulates
    given = 7
    call MPI_Accumulate(given, 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, MPI_SUM, win IERR
    call MPI_Win_flush(1, win IERR
    call get_one
    call MPI_Win_flush(1, win IERR
    call expect('accumulate', got, 50)
    call MPI_Fetch_and_op(given, got, MPI_INTEGER, 1, zero, MPI_SUM, win IERR
    call MPI_Win_flush(1, win IERR
    call expect('fetch_and_op result', got, 50)
    call get_one
    call MPI_Win_flush(1, win IERR
    call expect('fetch_and_op', got, 57)
    call MPI_Get_accumulate(given, 1, MPI_INTEGER, got, 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, MPI_REPLACE, win IERR
    call MPI_Win_flush(1, win IERR
    call expect('get_accumulate result', got, 57)
    call MPI_Compare_and_swap(60, given, got, MPI_INTEGER, 1, zero, win IERR
    call MPI_Win_flush(1, win IERR
    call expect('compare_and_swap result', got, 7)
    call get_one
    call MPI_Win_flush(1, win IERR
    call expect('compare_and_swap', got, 60)
  end subroutine

  subroutine requests
    HANDLE(MPI_Request) :: request(2)
    STATUSES(statuses, 2)
    integer, asynchronous, save :: two(2)
    integer :: i
    logical :: flag
    call MPI_Win_lock_all(0, win IERR
    if (rank == 0) then
      given = 71
      call MPI_Rput(given, 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, win, request(1) IERR
      call MPI_Wait(request(1), status IERR
      call MPI_Win_flush(1, win IERR
      call MPI_Rget(two(1), 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, win, request(1) IERR
      call MPI_Wait(request(1), status IERR
      call expect('rget, wait', two(1), 71)
      two = -1
      call MPI_Rget(two(1), 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, win, request(1) IERR
      call MPI_Rget(two(2), 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, win, request(2) IERR
      call MPI_Waitall(2, request, statuses IERR
      call expect('rget, waitall', two(1) + two(2), 142)
      two = -1
      call MPI_Rget(two(1), 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, win, request(1) IERR
      flag = .false.
      do while (.not. flag)
        call MPI_Test(request(1), flag, status IERR
      end do
      call expect('rget, test', two(1), 71)
      ! What a query finds complete is the program's again, before the wait.
      call MPI_Rget(two(1), 1, MPI_INTEGER, 1, zero + 5, 1, MPI_INTEGER, win, request(1) IERR
      flag = .false.
      do while (.not. flag)
        call MPI_Request_get_status(request(1), flag, status IERR
      end do
      i = two(1)
      two(1) = -55
      call MPI_Wait(request(1), status IERR
      call MPI_Get(two(2), 1, MPI_INTEGER, 1, zero + 5, 1, MPI_INTEGER, win IERR
      call MPI_Win_flush(1, win IERR
      call expect('rget, request_get_status', two(2), i)
      call MPI_Raccumulate(given, 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, MPI_SUM, win, request(1) IERR
      call MPI_Waitall(1, request, statuses IERR
      call MPI_Win_flush(1, win IERR
      call MPI_Rget_accumulate(given, 1, MPI_INTEGER, two(2), 1, MPI_INTEGER, 1, zero, 1, MPI_INTEGER, MPI_SUM, win, &
                               request(1) IERR
      call MPI_Wait(request(1), status IERR
      call expect('rget_accumulate', two(2), 142)
    end if
    call MPI_Win_unlock_all(win IERR
    call MPI_Barrier(MPI_COMM_WORLD IERR
  end subroutine

  ! MPI_BOTTOM is an address of its own in Fortran; the datatype holds where the value goes.
  subroutine bottom
    integer(kind=MPI_ADDRESS_KIND) :: place(1)
    HANDLE(MPI_Datatype) :: absolute
    call MPI_Get_address(got, place(1) IERR
    call MPI_Type_create_hindexed(1, [1], place, MPI_INTEGER, absolute IERR
    call MPI_Type_commit(absolute IERR
    call MPI_Win_lock_all(0, win IERR
    got = -1
    if (rank == 0) call MPI_Get(MPI_BOTTOM, 1, absolute, 1, zero, 1, MPI_INTEGER, win IERR
    call MPI_Win_unlock_all(win IERR
    call expect('MPI_BOTTOM', got, 213)
    call MPI_Type_free(absolute IERR
    call MPI_Barrier(MPI_COMM_WORLD IERR
  end subroutine

  ! A window whose memory MPI makes, with a mode by info, and one without any memory yet.
  subroutine allocated
    type(c_ptr) :: base
    integer, pointer :: words(:)
    integer :: i
    HANDLE(MPI_Info) :: info
    call MPI_Info_create(info IERR
    call MPI_Info_set(info, 'nearcache_mode', 'always' IERR
#ifdef BINDING_MPIF_H
    call allocate_by_address(info, base)
#else
    call MPI_Win_allocate(bytes, 4, info, MPI_COMM_WORLD, base, win IERR
#endif
    call c_f_pointer(base, words, [n])
    words = 500 + rank
    call MPI_Barrier(MPI_COMM_WORLD IERR
    call MPI_Win_lock_all(0, win IERR
    do i = 1, 20
      if (rank == 0) call get_one
      call MPI_Win_flush_all(win IERR
      if (rank == 0) call expect('allocated, always', got, 501)
    end do
    call MPI_Win_unlock_all(win IERR
    call MPI_Win_free(win IERR
    call MPI_Info_free(info IERR
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win IERR
    call MPI_Win_attach(win, memory, bytes IERR
    call MPI_Win_detach(win, memory IERR
    call MPI_Win_free(win IERR
  end subroutine

#ifdef BINDING_MPIF_H
  subroutine allocate_by_address(info, base)
    integer, intent(in) :: info
    type(c_ptr), intent(out) :: base
    integer(kind=MPI_ADDRESS_KIND) :: address
    call MPI_Win_allocate(bytes, 4, info, MPI_COMM_WORLD, address, win, ierr)
    base = transfer(address, base)
  end subroutine
#endif

end program synchronise
