/* The lock of a window at one target (src/rma/lock_queue.h): near ranks take it by its word or wait in its queue, the owner waits there for a far rank that has asked it
 * (src/rma/locks.h), and whoever gives the lock back grants it to the next. Ranks may end while they wait or hold it; what they leave is given back by who notices. (Not between
 * two instructions: while one holds the mutex, which is taken over, or has taken the word and not said so yet.) A rank that waits for good is an end of a run that Spin finds
 * invalid. Every other macro breaks a rule. */
#ifndef NEAR
#define NEAR 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define OWNER NEAR
#define NONE 255
#define SHARED 1
#define EXCLUSIVE 2

/* The word */
bool exclusive, queue;
byte holders;
#define FREE_FOR(type) (!exclusive && (type == SHARED || holders == 0))
#define TAKE(type) if :: type == SHARED -> holders++ :: else -> exclusive = true fi
#define DROP(type) if :: type == SHARED -> assert(holders > 0); holders-- :: else -> assert(exclusive); exclusive = false fi

bool mutex;
#define LOCK atomic { !mutex; mutex = true }
#define UNLOCK mutex = false

byte tickets, last;              /* the one that was granted last */
byte ticket[NEAR + 1], wants[NEAR + 1];
byte holds[NEAR];
byte readers, writers;
bool dead[NEAR], buried[NEAR];
byte deaths;
chan to_owner = [4] of { mtype };
mtype = { ask, unlock, turn, gone };
bool far_granted, far_dead;

inline first(who) {
  d_step {
    byte w = 0, best = 0;
    who = NONE;
    do
    :: w <= NEAR ->
       if
#ifdef GRANTS_THE_NEWEST
       :: ticket[w] != 0 && (who == NONE || ticket[w] > best) -> who = w; best = ticket[w]
#else
       :: ticket[w] != 0 && (who == NONE || ticket[w] < best) -> who = w; best = ticket[w]
#endif
       :: else
       fi;
       w++
    :: else -> break
    od;
    w = 0; best = 0
  }
}

inline grant(who) {
  do
  ::
#ifndef GRANTS_WITHOUT_THE_MUTEX
     LOCK;
#endif
     first(who);
     if
     :: who == NONE -> queue = false; UNLOCK; break
     :: who != NONE && !FREE_FOR(wants[who]) -> UNLOCK; break
     :: who != NONE && FREE_FOR(wants[who]) ->
        atomic { TAKE(wants[who]) };
        atomic { assert(ticket[who] > last); last = ticket[who] };
#ifndef HOLDS_AFTER_THE_TICKET
        if :: who < NEAR -> holds[who] = wants[who] :: else fi;
#endif
#ifdef TAKES_THE_TICKET_WITHOUT_THE_MUTEX
        UNLOCK;
#endif
        ticket[who] = 0;
#ifdef HOLDS_AFTER_THE_TICKET
        if :: who < NEAR -> holds[who] = wants[who] :: else fi;
#endif
#ifdef FORGETS_THE_OTHERS
        queue = false;
#else
        { byte next; first(next); if :: next == NONE -> queue = false :: else fi; next = 0 };
#endif
        UNLOCK;
#ifndef THE_OWNER_IS_NOT_TOLD
        if :: who == OWNER -> to_owner ! turn :: else fi
#endif
     fi
  od;
  who = 0
}

inline enter(me) {
  LOCK;
  tickets++;
  ticket[me] = tickets;
#ifdef SAYS_SO_TOO_LATE
  UNLOCK;
#ifndef ENTERS_WITHOUT_A_LOOK
  grant(other);
#endif
  queue = true
#else
  queue = true;
  UNLOCK;
#ifndef ENTERS_WITHOUT_A_LOOK
  grant(other)
#endif
#endif
}

inline try_take(type, got) {
  atomic {
    if
#ifdef PASSES_THOSE_WHO_WAIT
    :: FREE_FOR(type) -> assert(!queue); TAKE(type); got = true
    :: else -> got = false
#else
    :: !queue && FREE_FOR(type) -> TAKE(type); got = true
    :: queue || !FREE_FOR(type) -> got = false
#endif
    fi
  }
}

inline release(type, seen) {
#ifdef LOOKS_BEFORE_IT_GIVES_BACK
  seen = queue;
  atomic { DROP(type) };
#else
  atomic { DROP(type); seen = queue };
#endif
#ifndef GIVES_BACK_WITHOUT_A_LOOK
  if :: seen -> grant(other) :: else fi;
#endif
  seen = false
}

inline use(type) {
  atomic { if :: type == SHARED -> readers++ :: else -> writers++ fi; assert(writers == 0 || (writers == 1 && readers == 0)) };
}
inline leave_use(type) {
  if :: type == SHARED -> readers-- :: else -> writers-- fi
}

proctype Near(byte me) {
  byte round = 0, type = 0, other = 0;
  bool got = false;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
     if :: type = SHARED :: type = EXCLUSIVE fi;
     wants[me] = type;
     atomic { try_take(type, got); if :: got -> holds[me] = type :: else fi };
     if
     :: !got ->
        enter(me);
        if
        :: ticket[me] == 0
        :: atomic { deaths == 0 -> deaths++; dead[me] = true; goto over }
        fi
     :: else
     fi;
     use(type);
     if
     :: true
     :: atomic { deaths == 0 -> deaths++; leave_use(type); dead[me] = true; goto over }
     fi;
     atomic { leave_use(type); holds[me] = 0 };
     release(type, got)
  od;
over:
  skip
}

/* Agents that watch processes: the first to notice. */
proctype Watches(byte who) {
  byte other = 0, held = 0;
  bool got = false;
end:
  dead[who];
#ifndef THE_DEAD_KEEP_THEIR_TICKET
  LOCK;
  ticket[who] = 0;
  first(other);
  if :: other == NONE -> queue = false :: else fi;
  UNLOCK;
#endif
#ifndef THE_DEAD_KEEP_THEIR_LOCK
  atomic { held = holds[who]; holds[who] = 0 };
  if :: held != 0 -> atomic { DROP(held) } :: else fi;
#endif
  grant(other);
  buried[who] = true
}

proctype Owner() {
  byte other = 0;
  bool got = false, waits = false, has = false;
end:
  do
  :: to_owner ? ask ->
     try_take(wants[OWNER], got);
     if
     :: got -> has = true; far_granted = true
     :: else -> waits = true; enter(OWNER)
     fi;
     got = false
  :: to_owner ? turn ->
     if :: waits && ticket[OWNER] == 0 -> waits = false; has = true; far_granted = true :: else fi
  :: to_owner ? unlock ->
     has = false;
     release(wants[OWNER], got)
  :: to_owner ? gone ->
     if
     :: has -> has = false; release(wants[OWNER], got)
     :: !has && waits ->
        waits = false;
        LOCK;
        got = ticket[OWNER] != 0;
        ticket[OWNER] = 0;
        first(other);
        if :: other == NONE -> queue = false :: else fi;
        UNLOCK;
#ifndef FORGETS_A_TURN_THAT_HAS_COME
        if :: !got -> release(wants[OWNER], got) :: else -> got = false fi;
#endif
        grant(other)
     :: else
     fi
  od
}

proctype Far() {
  byte type = 0;
  if :: type = SHARED :: type = EXCLUSIVE fi;
  wants[OWNER] = type;
  to_owner ! ask;
  if
  :: atomic { far_granted -> far_granted = false };
     use(type);
     atomic { leave_use(type) };
     to_owner ! unlock
  :: atomic { deaths == 0 -> deaths++; far_dead = true };
     to_owner ! gone
  fi
}

init {
  atomic {
    byte i = 0;
    run Owner();
    run Far();
    do :: i < NEAR -> run Near(i); run Watches(i); i++ :: else -> break od
  }
}
