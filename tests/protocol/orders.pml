/* Locks that ranks hold at the same time (src/mpi/rma/engine_window_locks.cpp). A lock is requested
 * with the first operation under it, in whatever order the program uses its locks. Two ranks lock 0
 * and then 1, which no host that acquires locks at once turns into a deadlock. All locks are
 * exclusive; either of those that wait for one may get it. A rank that waits forever is an end state
 * that Spin finds invalid. Every macro breaks a rule. */
#define LOCKS 2
#define RANKS 2
#define NO_LOCK 255

mtype = { none, wanted, requested, held };
mtype state[RANKS * LOCKS] = none;
byte last[RANKS] = NO_LOCK;    /* the last lock that a rank has asked for and may not hold yet */
bool taken[LOCKS];

#define ITS(lock) state[me * LOCKS + lock]

inline request(lock) {
  atomic { if :: ITS(lock) == wanted -> ITS(lock) = requested :: else fi }
}

inline lock_target(lock) {
#ifndef GOES_ON_WITHOUT_ITS_LAST_LOCK
  if
  :: last[me] != NO_LOCK ->
     request(last[me]);
#ifndef REQUESTS_WITHOUT_WAITING
     ITS(last[me]) == held
#endif
  :: else
  fi;
#endif
  atomic { ITS(lock) = wanted; last[me] = lock }
}

inline unlock_target(lock) {
  if
  :: atomic { ITS(lock) == wanted -> ITS(lock) = none }
  :: atomic { ITS(lock) == held -> ITS(lock) = none; taken[lock] = false }
  fi;
  atomic { if :: last[me] == lock -> last[me] = NO_LOCK :: else fi }
}

proctype LocksTwo(byte me) {
  lock_target(0);
  if :: true -> request(0) :: true fi;
  lock_target(1);
  if
  :: true -> request(0); request(1)
  :: true -> request(1); request(0)
  fi;
  if
  :: true -> unlock_target(0); unlock_target(1)
  :: true -> unlock_target(1); unlock_target(0)
  fi
}

#define GRANT(rank, lock) \
  atomic { state[rank * LOCKS + lock] == requested && !taken[lock] -> \
           state[rank * LOCKS + lock] = held; taken[lock] = true }

proctype Targets() {
end:
  do
  :: GRANT(0, 0) :: GRANT(0, 1) :: GRANT(1, 0) :: GRANT(1, 1)
  od
}

init {
  atomic {
    run Targets();
    run LocksTwo(0);
    run LocksTwo(1)
  }
}
