/* How the threads of a rank and its agent take turns at the network (src/rma/agent.h), to show that
 * no wake-up is lost. A thread that waits forever, or a message that nobody takes, is an end state
 * that Spin finds invalid, as nothing here has a time-out except the timer that arms the agent
 * again.
 *
 * Each of THREADS threads waits for one message, TURNS times, and the network delivers it at any
 * time; one more thread delivers some of them from within the rank (an operation on its own
 * window). A thread that has its message arms the agent, or leaves that to a timer, as the next
 * call is likely to come at once. Another thread is in a call of the host, which lets it help HELPS
 * times: it polls in place of the agent, which stays disarmed until that thread has returned, or
 * until the timer finds that it has not polled for long, as it may return without telling anybody.
 * The fabric may take messages from the network whenever it is called, to send or at the end of a
 * poll, and hold them until the next poll: such messages keep no descriptor readable. One connection
 * may be separate, with a descriptor of its own, which the agent watches apart from the others'. It
 * then goes on watching those while it is disarmed, until they wake it. Every other macro breaks a
 * rule. */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef TURNS
#define TURNS 1
#endif
#ifndef HELPS
#define HELPS 1
#endif
#ifndef SEPARATE      /* whether there is a separate connection */
#define SEPARATE 1
#endif

bool mutex;
#define LOCK atomic { !mutex; mutex = true }
#define UNLOCK mutex = false

byte network;          /* messages that nobody has taken; they make the descriptor readable */
bool others;           /* there is one on another connection than the separate one */
byte fetched;          /* messages that the fabric has taken from the network, not delivered yet */
bool fabric_armed;     /* its user may be asleep: what it fetches rings the doorbell */
byte under_way[THREADS], taken[THREADS];
bool bell;             /* the doorbell, signalled through the same descriptor */
bool armed = true;     /* the agent watches the descriptor of the separate connection */
bool all_armed = true; /* and that of the others and the doorbell */
#ifdef WATCHES_EDGES
bool news;             /* there is something that the agent was not told of */
#define NEWS(is) news = is
#else
#define NEWS(is) skip
#endif
bool polling, asleep;
bool leased;           /* the agent is disarmed while a thread in a host call helps */
bool timer, looked;    /* the timer runs; a thread has helped since it was set */
byte followers;
bool follows[THREADS], called[THREADS];
bool has_it[THREADS];  /* the thread was called for its message, not to poll */
byte wants[THREADS];   /* number of messages that it waits for */
byte done_threads;
bool ending;

#ifdef SLEEPS_ON_THE_SEPARATE_ONE_ALONE
#define READABLE (network > 0)
#else
#define READABLE (network > 0 || others || bell)
#endif
#if SEPARATE
#define ARM atomic { armed = true; all_armed = true; NEWS(false) }
#define WAKES (armed && network > 0 || all_armed && (others || bell))
#else
#define ARM atomic { armed = true; NEWS(false) }
#define WAKES (armed && READABLE)
#endif

#ifdef BELL_IS_NOT_KEPT
bool blocked;          /* the polling thread is in the system's poll, or on the way out of it */
#define BLOCK_UNTIL(condition) blocked = true; condition; blocked = false
#else
#define BLOCK_UNTIL(condition) condition
#endif

inline ring() {
#ifdef BELL_IS_NOT_KEPT
  if :: blocked -> bell = true :: else fi
#else
  bell = true
#endif
}

/* Calls the threads that have what they wait for. */
inline tell_followers() {
  d_step {
    byte n = 0;
    do
    :: n < THREADS ->
       if
       :: follows[n] && taken[n] >= wants[n] -> follows[n] = false; followers--; has_it[n] = true; called[n] = true
       :: else
       fi;
       n++
    :: else -> break
    od;
    n = 0
  }
}

/* Called by the thread that polled; if others follow, one of them is called to poll. */
inline leave() {
  tell_followers();
  if
#ifndef NOBODY_HEARS_THAT_THE_LEADER_LEFT
  :: followers > 0 ->
     d_step {
       byte f = 0;
       do :: !follows[f] -> f++ :: else -> break od;
       follows[f] = false; followers--; has_it[f] = false; called[f] = true;
       f = 0
     }
  :: atomic { followers == 0 -> polling = false };
#else
  :: polling = false;
#endif
     if
     :: followers == 0 ->                        /* the next call is likely to come at once */
        atomic {
          leased = true; looked = true;
#ifndef LENDS_WITHOUT_A_TIMER
          timer = true
#endif
        }
     :: true ->
#ifndef LEAVES_WITHOUT_A_LOOK
        rearm();
#endif
#ifndef LEAVES_WITHOUT_ARMING
#ifdef LEAVES_THE_OTHERS_UNWATCHED
        atomic { armed = true; NEWS(false) }
#else
        ARM
#endif
#else
        skip
#endif
     fi
  fi
}

inline tell_others() {
#ifndef OWN_OPERATIONS_RING_NOBODY
  if :: asleep -> ring() :: else fi;
#endif
#ifndef OWN_OPERATIONS_TELL_NOBODY
  tell_followers()
#endif
}

/* Calls of the fabric, under the mutex */
inline fetch() {
  if :: network > 0 -> atomic { fetched = fetched + network; network = 0 } :: true fi
}

inline send() {
  fetch();
#ifndef SENDS_WITHOUT_A_LOOK
  if :: fabric_armed && fetched > 0 -> fabric_armed = false; ring() :: else fi
#endif
}

/* Called by a thread that leaves the descriptor to others. */
inline rearm() {
  if :: fetched > 0 -> ring() :: else -> fabric_armed = true fi
}

/* Takes everything that has arrived, under the mutex; `any` tells whether there was something. */
inline poll(any) {
  d_step {
    byte p = 0;
    any = network + fetched > 0 || others;
    fetched = 0;
    others = false;
    fabric_armed = false;
    do :: p < THREADS -> taken[p] = taken[p] + under_way[p]; under_way[p] = 0; p++ :: else -> break od;
    p = 0;
    network = 0;
    bell = false;
    NEWS(false)
  };
  fetch()
}

proctype Agent() {
  bool any;
end:
  do
  :: atomic {
#ifdef WATCHES_EDGES
       WAKES && news || timer || ending; news = false
#else
       WAKES || timer || ending
#endif
     };
     LOCK;
     /* The timer may have expired. */
     if
     :: timer && (leased || polling) && looked -> looked = false
     :: timer ->
        atomic { timer = false; looked = false };
#ifndef THE_TIMER_ARMS_NOTHING
        if :: leased && !polling -> rearm(); ARM :: else fi;
#endif
        leased = false
     :: true
     fi;
#if SEPARATE
     if :: (others || bell) && (polling || leased) -> all_armed = false :: else fi;
#endif
     if
     :: ending -> UNLOCK; break
     :: !ending && polling -> UNLOCK
     :: else ->
        do
        :: poll(any);
           if
           :: atomic { fetched == 0 -> fabric_armed = true }; break
           :: else ->
#if TURNS < 2                                     /* else there are more states than memory */
              UNLOCK; LOCK;                       /* to who wants it */
#ifndef POLLS_ON_BESIDE_A_LEADER
              if :: polling || ending -> break :: else fi
#endif
#else
              skip
#endif
           fi
        od;
        UNLOCK
     fi
  od
}

proctype Waits(byte me) {
  bool any, leads;
  byte turn = 1;
  do
  :: turn <= TURNS ->
     LOCK;
     if
     :: taken[me] >= turn
     :: taken[me] < turn ->
        if
        :: !polling ->                           /* lead */
           polling = true;
           if :: send(); armed = false :: armed = false; send() fi;
           atomic { leased = false; leads = true }
        :: polling ->                            /* follow */
           send();
           if :: asleep -> ring() :: else fi;
           atomic { wants[me] = turn; followers++; follows[me] = true; UNLOCK };
           atomic { called[me] -> called[me] = false; wants[me] = 0 };
           atomic { LOCK; leads = !has_it[me]; has_it[me] = false }
        fi;
        do
        :: !leads || taken[me] >= turn -> break
        :: else ->
           poll(any);
           if
           :: atomic { any -> any = false };
#ifndef LEADER_TELLS_NOBODY
              tell_followers()
#else
              skip
#endif
#ifndef SLEEPS_WITHOUT_A_LOOK
           :: !any && fetched > 0
           :: !any && fetched == 0 ->
#else
           :: !any ->
#endif
              atomic {
                fabric_armed = true;
                asleep = true;
#if SEPARATE
                all_armed = false;
#endif
                UNLOCK
              };
              BLOCK_UNTIL(READABLE);
              atomic { LOCK; asleep = false }
           fi
        od;
        if :: leads -> leave(); leads = false :: else fi
     fi;
     atomic { assert(taken[me] >= turn); UNLOCK; turn++ }
  :: else -> break
  od;
  atomic { done_threads++ }
}

/* A thread in a host call: what the call lets it do, and what it does when the call is over. */
proctype Helps() {
  bool any;
  byte turn = 0;
  do
  :: turn < HELPS ->
     turn++;
     if
     :: atomic { !mutex -> mutex = true };
#ifdef HELPS_IN_THE_LEADERS_PLACE
        if
        :: !ending ->
#else
        if
        :: !ending && !polling ->
#endif
           do :: poll(any); if :: any :: true -> break fi od; any = false;       /* or before there is no more */
           if
           :: armed = false; leased = true; looked = true;          /* there was much to do */
#ifndef LEASES_WITHOUT_A_TIMER
              timer = true
#endif
           :: leased = false; rearm(); ARM
           fi
        :: else
        fi;
        UNLOCK
     :: mutex
     fi
  :: break                              /* it has returned, and nobody tells */
  :: LOCK;
     if :: leased && !polling -> rearm(); ARM :: else fi;
     leased = false;
     UNLOCK;
     break
  od
}

/* Sends while another thread polls, and waits for nothing. */
proctype Sends() {
  LOCK;
  if :: polling -> send() :: else fi;
  UNLOCK
}

/* Delivers to every thread what it waits for, through the network or by an operation on the own
 * window, and once a request of another rank, for which no thread waits. Thread 0 may get nothing
 * before the others have finished. */
#define BRINGS(k) brought[k] < TURNS && (k > 0 || !last || done_threads == THREADS - 1) -> brought[k]++; \
    if :: atomic { under_way[k]++; network++; NEWS(true) } :: LOCK; taken[k]++; tell_others(); UNLOCK fi

proctype World() {
  byte brought[THREADS];
  bool last, asked;
  if :: last = true :: last = false fi;
  do
  :: BRINGS(0)
  :: BRINGS(1)
#if THREADS > 2
  :: BRINGS(2)
#endif
  :: !asked -> asked = true; atomic { if :: network++ :: SEPARATE -> others = true fi; NEWS(true) }
  :: asked && done_threads == THREADS -> break
  od;
  network + fetched == 0 && !others;  /* some thread has taken all of it */
  atomic { LOCK; ending = true; UNLOCK }
}

init {
  atomic {
    byte i = 0;
    run Agent();
    run World();
    run Sends();
#if HELPS > 0
    run Helps();
#endif
    do :: i < THREADS -> run Waits(i); i++ :: else -> break od
  }
}
