! What calls of requests and windows return, in Fortran's terms: indices from one, logicals, statuses, null requests, values of attributes. Two
! ranks. With the argument `modelled` requests of one-sided operations must take at least the model's 20 ms.
#include "binding.h"

program results
  use, intrinsic :: iso_c_binding
  USE_BINDING
  implicit none
  INCLUDE_BINDING
  integer, parameter :: n = 16
  integer(kind=MPI_ADDRESS_KIND), parameter :: zero = 0, bytes = 4 * n
  integer, asynchronous, save, target :: memory(n), got(2), sent(2)
  integer :: rank, ierr, failures
  character(len=16) :: argument
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_Request) :: request(2)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR
  failures = 0
  memory = rank
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win IERR
  call get_command_argument(1, argument)
  if (argument == 'modelled') then
    call modelled_requests
  else
    call any
    call some
    call all
    call ignored
    call attributes
    call group_and_errors
    call shared
  end if
  call MPI_Win_free(win IERR
  call MPI_Finalize(ierr)
  if (failures > 0) stop 1

contains

  subroutine expect(name, good)
    character(len=*), intent(in) :: name
    logical, intent(in) :: good
    if (good) then
      if (rank == 0) print '(2a)', 'ok ', name
    else
      print '(a,i0,2a)', 'FAILED rank ', rank, ' ', name
      failures = failures + 1
    end if
  end subroutine

  ! Two messages from this rank itself, with tags 1 and 2: each is there when its send has returned.
  subroutine receive_two
    integer :: i
    do i = 1, 2
      call MPI_Irecv(got(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, request(i) IERR
    end do
  end subroutine

  subroutine send(tag)
    integer, intent(in) :: tag
    sent(tag) = 100 * rank + tag
    call MPI_Send(sent(tag), 1, MPI_INTEGER, rank, tag, MPI_COMM_WORLD IERR
  end subroutine

  subroutine any
    STATUS(status)
    integer :: i, index
    logical :: flag
    do i = 2, 1, -1
      if (i == 2) call receive_two
      call send(i)
      call MPI_Waitany(2, request, index, status IERR
      call expect('waitany: index', index == i)
      call expect('waitany: status', TAG_OF(status) == i)
      call expect('waitany: null', request(i) == MPI_REQUEST_NULL)
    end do
    call expect('waitany: all are null', all_null())
    call receive_two
    call send(2)
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(2, request, index, flag, status IERR
    end do
    call expect('testany', index == 2 .and. TAG_OF(status) == 2 .and. .not. all_null())
    call MPI_Testany(1, request, index, flag, status IERR
    call expect('testany of one that is under way', .not. flag)
    call send(1)
    call MPI_Wait(request(1), status IERR
    call expect('wait', TAG_OF(status) == 1 .and. all_null())
  end subroutine

  logical function all_null()
    all_null = request(1) == MPI_REQUEST_NULL .and. request(2) == MPI_REQUEST_NULL
  end function

  subroutine some
    STATUSES(statuses, 2)
    integer :: count, indices(2), i, found, tags
    call receive_two
    call send(1)
    call send(2)
    found = 0
    tags = 0
    do while (found < 2)
      indices = -1
      call MPI_Waitsome(2, request, count, indices, statuses IERR
      do i = 1, count
        tags = tags + merge(indices(i), 100, TAG_OF_NTH(statuses, i) == indices(i))
      end do
      found = found + count
    end do
    call expect('waitsome', tags == 3 .and. all_null())
    call MPI_Testsome(2, request, count, indices, statuses IERR
    call expect('testsome of none', count == MPI_UNDEFINED)
  end subroutine

  subroutine all
    STATUS(status)
    STATUSES(statuses, 2)
    logical :: flag
    call receive_two
    call send(1)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(request(1), flag, status IERR
    end do
    call expect('request_get_status', TAG_OF(status) == 1 .and. .not. request(1) == MPI_REQUEST_NULL)
    call MPI_Testall(2, request, flag, statuses IERR
    call expect('testall of what is under way', .not. flag .and. .not. all_null())
    call send(2)
    call MPI_Waitall(2, request, statuses IERR
    call expect('waitall', all_null() .and. got(1) == 100 * rank + 1 .and. got(2) == 100 * rank + 2)
    call MPI_Barrier(MPI_COMM_WORLD IERR
  end subroutine

  ! Statuses that nobody wants are not written to.
  subroutine ignored
    integer :: index, count, indices(2)
    logical :: flag
    call receive_two
    call send(1)
    call send(2)
    call MPI_Waitany(2, request, index, MPI_STATUS_IGNORE IERR
    call MPI_Wait(request(3 - index), MPI_STATUS_IGNORE IERR
    call expect('status ignored', all_null())
    call receive_two
    call send(1)
    call send(2)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE IERR
    call MPI_Testall(2, request, flag, MPI_STATUSES_IGNORE IERR
    call MPI_Waitsome(2, request, count, indices, MPI_STATUSES_IGNORE IERR
    call expect('statuses ignored', all_null() .and. flag .and. count == MPI_UNDEFINED)
  end subroutine

  subroutine attributes
    integer(kind=MPI_ADDRESS_KIND) :: attribute
    integer :: keyval
    logical :: flag
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag IERR
    call expect('size', flag .and. attribute == bytes)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, flag IERR
    call expect('unit', flag .and. attribute == 4)
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, attribute, flag IERR
    call expect('flavour', flag .and. attribute == MPI_WIN_FLAVOR_CREATE)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, attribute, flag IERR
    call expect('base', flag .and. attribute == transfer(c_loc(memory), attribute))
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, zero IERR
    call MPI_Win_get_attr(win, keyval, attribute, flag IERR
    call expect('an attribute that is not set', .not. flag)
    attribute = 4711
    call MPI_Win_set_attr(win, keyval, attribute IERR
    attribute = 0
    call MPI_Win_get_attr(win, keyval, attribute, flag IERR
    call expect('an attribute of the program', flag .and. attribute == 4711)
    call MPI_Win_delete_attr(win, keyval IERR
  end subroutine

  subroutine group_and_errors
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Errhandler) :: handler
    HANDLE(MPI_Info) :: info
    integer :: size
    call MPI_Win_get_group(win, group IERR
    call MPI_Group_size(group, size IERR
    call expect('group', size == 2)
    call MPI_Group_free(group IERR
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN IERR
    call MPI_Win_get_errhandler(win, handler IERR
    call expect('error handler', handler == MPI_ERRORS_RETURN)
    call MPI_Win_get_info(win, info IERR
    call expect('info', .not. info == MPI_INFO_NULL)
    call MPI_Info_free(info IERR
  end subroutine

  subroutine shared
    HANDLE(MPI_Win) :: ours
    type(c_ptr) :: mine, theirs
    integer(kind=MPI_ADDRESS_KIND) :: size
    integer :: unit
    integer, pointer :: words(:)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, mine, ours IERR
    call c_f_pointer(mine, words, [n])
    words = 50 + rank
    call MPI_Win_fence(0, ours IERR
    call MPI_Win_shared_query(ours, 1 - rank, size, unit, theirs IERR
    call c_f_pointer(theirs, words, [n])
    call expect('shared_query', size == bytes .and. unit == 4 .and. words(n) == 51 - rank)
    call MPI_Win_fence(0, ours IERR
    call MPI_Win_free(ours IERR
  end subroutine

  subroutine modelled_requests
    double precision :: before
    integer :: way, index, count, indices(1)
    logical :: flag
    call MPI_Win_lock_all(0, win IERR
    do way = 1, 5
      before = MPI_Wtime()
      call MPI_Rget(got(1), 1, MPI_INTEGER, 1 - rank, zero, 1, MPI_INTEGER, win, request(1) IERR
      flag = .false.
      select case (way)
      case (1)
        call MPI_Wait(request(1), MPI_STATUS_IGNORE IERR
      case (2)
        call MPI_Waitall(1, request, MPI_STATUSES_IGNORE IERR
      case (3)
        call MPI_Waitsome(1, request, count, indices, MPI_STATUSES_IGNORE IERR
      case (4)
        do while (.not. flag)
          call MPI_Test(request(1), flag, MPI_STATUS_IGNORE IERR
        end do
      case (5)
        do while (.not. flag)
          call MPI_Testany(1, request, index, flag, MPI_STATUS_IGNORE IERR
        end do
      end select
      call expect('modelled request', MPI_Wtime() - before >= 0.02)
    end do
    call MPI_Win_unlock_all(win IERR
  end subroutine
end program
