! Another rank changes the data between two gets, and rank 0 learns of it by a call of the Fortran binding: the second
! get must see the new value. Nothing but that call lies between the gets, so a cache that does not see it serves
! the first one's data. Runs on two ranks, mode `transparent`.
#include "binding.h"

program learn
  USE_BINDING
  implicit none
  INCLUDE_BINDING
  integer, parameter :: cases = 17
  character(len=12), parameter :: names(cases) = [character(len=12) :: 'barrier', 'recv', 'wait', 'waitall', 'waitany', &
    'waitsome', 'test', 'testall', 'testany', 'testsome', 'probe', 'iprobe', 'bcast', 'allreduce', 'sendrecv', 'ssend', &
    'status']
  integer, asynchronous, save :: memory(16), first, second, word
  integer :: rank, ierr, i, failures
  HANDLE(MPI_Win) :: win

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR
  failures = 0
  memory = 0
  call MPI_Win_create(memory, 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win IERR
  call MPI_Win_lock_all(0, win IERR
  do i = 1, cases
    memory(1) = 1000 * i
    call MPI_Win_sync(win IERR
    call MPI_Barrier(MPI_COMM_WORLD IERR
    if (rank == 0) then
      call reader(names(i), i)
    else
      call writer(names(i), i)
    end if
    call MPI_Win_flush_all(win IERR
    call MPI_Barrier(MPI_COMM_WORLD IERR
  end do
  call MPI_Win_unlock_all(win IERR
  call MPI_Win_free(win IERR
  call MPI_Finalize(ierr)
  if (failures > 0) stop 1

contains

  ! Rank 0: a get, the word to rank 1 to change its memory, the call under test, and the second get.
  subroutine reader(name, i)
    character(len=*), intent(in) :: name
    integer, intent(in) :: i
    integer :: code
    STATUS(status)
    first = -1
    second = -1
    call MPI_Get(first, 1, MPI_INTEGER, 1, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win IERR
    call MPI_Send(i, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD IERR
    call learn_by(name)
    call MPI_Get(second, 1, MPI_INTEGER, 1, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win IERR
    call MPI_Win_flush(1, win IERR
    ! What was only looked at is received now: before the second get it would have been an acquire too.
    if (name == 'probe' .or. name == 'iprobe') call MPI_Recv(word, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, status IERR
    code = 1000 * i + 1
    if (second == code) then
      print '(2a)', 'ok ', trim(name)
    else
      print '(3a,i0,a,i0)', 'FAILED ', trim(name), ': got ', second, ', expected ', code
      failures = failures + 1
    end if
  end subroutine

  subroutine writer(name, i)
    character(len=*), intent(in) :: name
    integer, intent(in) :: i
    STATUS(status)
    integer :: sum
    call MPI_Recv(word, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, status IERR
    memory(1) = 1000 * i + 1
    call MPI_Win_sync(win IERR
    select case (name)
    case ('barrier')
      call MPI_Barrier(MPI_COMM_WORLD IERR
    case ('bcast')
      call MPI_Bcast(word, 1, MPI_INTEGER, 1, MPI_COMM_WORLD IERR
    case ('allreduce')
      call MPI_Allreduce(i, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR
    case ('ssend')
      call MPI_Recv(word, 1, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, status IERR
    case default
      call MPI_Send(i, 1, MPI_INTEGER, 0, 8, MPI_COMM_WORLD IERR
    end select
    if (name == 'sendrecv') call MPI_Recv(word, 1, MPI_INTEGER, 0, 9, MPI_COMM_WORLD, status IERR
  end subroutine

  subroutine learn_by(name)
    character(len=*), intent(in) :: name
    STATUS(status)
    STATUSES(statuses, 1)
    HANDLE(MPI_Request) :: requests(1)
    integer :: sum, index, count, indices(1)
    logical :: flag
    flag = .false.
    count = 0
    if (name(1:4) == 'wait' .or. name(1:4) == 'test' .or. name == 'status') &
      call MPI_Irecv(word, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, requests(1) IERR
    select case (name)
    case ('barrier')
      call MPI_Barrier(MPI_COMM_WORLD IERR
    case ('recv')
      call MPI_Recv(word, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, status IERR
    case ('wait')
      call MPI_Wait(requests(1), status IERR
    case ('waitall')
      call MPI_Waitall(1, requests, statuses IERR
    case ('waitany')
      call MPI_Waitany(1, requests, index, status IERR
    case ('waitsome')
      call MPI_Waitsome(1, requests, count, indices, statuses IERR
    case ('test')
      do while (.not. flag)
        call MPI_Test(requests(1), flag, status IERR
      end do
    case ('testall')
      do while (.not. flag)
        call MPI_Testall(1, requests, flag, statuses IERR
      end do
    case ('testany')
      do while (.not. flag)
        call MPI_Testany(1, requests, index, flag, status IERR
      end do
    case ('testsome')
      do while (count < 1)
        call MPI_Testsome(1, requests, count, indices, statuses IERR
      end do
    case ('probe')
      call MPI_Probe(1, 8, MPI_COMM_WORLD, status IERR
    case ('iprobe')
      do while (.not. flag)
        call MPI_Iprobe(1, 8, MPI_COMM_WORLD, flag, status IERR
      end do
    case ('status')
      do while (.not. flag)
        call MPI_Request_get_status(requests(1), flag, status IERR
      end do
    case ('bcast')
      call MPI_Bcast(word, 1, MPI_INTEGER, 1, MPI_COMM_WORLD IERR
    case ('allreduce')
      call MPI_Allreduce(0, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR
    case ('sendrecv')
      call MPI_Sendrecv(0, 1, MPI_INTEGER, 1, 9, word, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, status IERR
    case ('ssend')
      call MPI_Ssend(0, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD IERR
    end select
    if (name == 'status') call MPI_Request_free(requests(1) IERR
  end subroutine

end program learn
