/* The lock of a window at one target (src/rma/lock_queue.h): near ranks take it by its word or wait
 * in its queue; the owner waits there on behalf of a far rank that has requested it
 * (src/rma/locks.h); and the rank that releases the lock grants it to the next. Ranks may die
 * anywhere; a rank that notices releases what they leave. A rank that dies between changing the
 * word and recording that leaves a lock that nobody can get any more: all that want it are told
 * (`lost`). A rank that waits forever is an end state that Spin finds invalid. Every other macro
 * breaks a rule. */
#ifndef NEAR
#define NEAR 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define OWNER NEAR
#define NONE 255
#define SHARED 1
#define EXCLUSIVE 2
#define UNSURE 3

/* The word */
bool exclusive, queue, lost;
byte holders;
#define FREE_FOR(type) (!lost && !exclusive && (type == SHARED || holders == 0))
#define TAKE(type) if :: type == SHARED -> holders++ :: else -> exclusive = true fi
#define DROP(type) if :: type == SHARED -> assert(holders > 0); holders-- :: else -> assert(exclusive); exclusive = false fi

byte tickets, last;              /* last: the ticket granted last */
byte ticket[NEAR + 1], wants[NEAR + 1];
byte holds[NEAR];
byte readers, writers;
bool dead[NEAR];
#ifdef NOBODY_ENDS
byte deaths = 1;
#else
byte deaths;
#endif

/* The holder of the mutex: near ranks by number, from 1 on, and processes that never die. */
byte mutex;
bool granting;
#define AGENT 100
#define OWNERS 101
#define FREE 0
#define LOCK(by) mutex == FREE || (mutex <= NEAR && dead[mutex - 1]); mutex = by  /* in a step with what follows */
#define UNLOCK mutex = FREE
#define MAY_END(by) if :: true :: atomic { by <= NEAR && deaths == 0 -> deaths++; dead[by - 1] = true; goto over } fi

chan to_owner = [2] of { mtype };
mtype = { ask, unlock, gone };
bool told;                       /* the owner has been told that it may have its turn */
bool far_granted, far_refused;

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

inline grant(who, by) {
  do
  ::
     atomic {
#ifndef GRANTS_WITHOUT_THE_MUTEX
       LOCK(by);
#endif
#ifndef NOBODY_KNOWS_WHO_GRANTED
       if :: granting -> lost = true :: else fi;
#endif
       first(who)
     };
     if
     :: atomic { who == NONE -> queue = false; UNLOCK }; break
     :: atomic { who != NONE && !FREE_FOR(wants[who]) -> granting = false; UNLOCK }; break
     :: who != NONE && FREE_FOR(wants[who]) ->
        atomic { granting = true; TAKE(wants[who]) };
        MAY_END(by);
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
        atomic {
          granting = false;
          if :: who < NEAR -> wants[who] = 0 :: else fi;
          UNLOCK
        };
        MAY_END(by);
#ifndef THE_OWNER_IS_NOT_TOLD
        if :: who == OWNER -> told = true :: else fi
#endif
     fi
  od;
  if :: lost && by != OWNERS -> told = true :: else fi;
  who = 0
}

inline enter(me, type, by) {
  atomic { LOCK(by); tickets++; ticket[me] = tickets; wants[me] = type };
  MAY_END(by);
#ifdef SAYS_SO_TOO_LATE
  UNLOCK;
#ifndef ENTERS_WITHOUT_A_LOOK
  grant(other, by);
#endif
  queue = true
#else
  atomic { queue = true; UNLOCK };
#ifndef ENTERS_WITHOUT_A_LOOK
  grant(other, by)
#endif
#endif
}

/* `was`: it had a ticket. */
inline leave(me, by, was) {
  atomic {
    LOCK(by);
    was = ticket[me] != 0;
    ticket[me] = 0;
    first(other);
    if :: other == NONE -> queue = false :: else fi;
    other = 0;
    UNLOCK
  }
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

inline release(type, seen, by) {
#ifdef GIVES_BACK_BEFORE_IT_IS_UNSURE
  MAY_END(by); /* otherwise it would be lost, as below */
#endif
#ifdef LOOKS_BEFORE_IT_GIVES_BACK
  seen = queue;
  atomic { DROP(type) };
#else
  atomic { DROP(type); seen = queue };
#endif
  MAY_END(by);
  if :: by <= NEAR -> holds[by - 1] = 0 :: else fi;
#ifndef GIVES_BACK_WITHOUT_A_LOOK
  if :: seen -> grant(other, by) :: else fi;
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
again:
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
     if :: type = SHARED :: type = EXCLUSIVE fi;
     atomic {
#ifndef TAKES_IT_AND_SAYS_SO_AFTERWARDS
       holds[me] = UNSURE;
#endif
       try_take(type, got)
     };
     MAY_END(me + 1);
     if :: got -> holds[me] = type :: else -> holds[me] = 0 fi;
     if
     :: !got ->
        enter(me, type, me + 1);
        if
        :: ticket[me] == 0
#ifndef NOBODY_LOOKS_WHETHER_IT_IS_LOST
        :: lost -> leave(me, me + 1, got); if :: got -> got = false; goto again :: else fi
#endif
        :: atomic { deaths == 0 -> deaths++; dead[me] = true; goto over }
        fi
     :: else
     fi;
     use(type);
     if
     :: true
     :: atomic { deaths == 0 -> deaths++; leave_use(type); dead[me] = true; goto over }
     fi;
     atomic {
       leave_use(type);
#ifdef GIVES_BACK_BEFORE_IT_IS_UNSURE
       holds[me] = 0
#else
       holds[me] = UNSURE
#endif
     };
     release(type, got, me + 1)
  od;
over:
  skip
}

/* Agents that watch processes; `who` is the first to notice. */
proctype Watches(byte who) {
  byte other = 0, held = 0;
  bool got = false;
end:
  dead[who];
#ifndef THE_DEAD_KEEP_THEIR_TICKET
  leave(who, AGENT, got);
#endif
#ifndef THE_DEAD_KEEP_THEIR_LOCK
  atomic { held = holds[who]; holds[who] = 0 };
  if
  :: held == UNSURE -> lost = true
  :: held != 0 && held != UNSURE -> atomic { DROP(held) }
  :: else
  fi;
#endif
  grant(other, AGENT);
#ifndef NOBODY_TELLS_THE_OWNER_FOR_THE_DEAD
  told = true;
#endif
over:
  skip
}

inline look_for_loss() {
  if
  :: waits && lost ->
     waits = false;
     leave(OWNER, OWNERS, got);
     if
     :: got -> got = false; far_refused = true
     :: else -> has = true; far_granted = true
     fi
  :: else
  fi
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
     :: else -> waits = true; enter(OWNER, wants[OWNER], OWNERS)
     fi;
     got = false;
     look_for_loss()
  :: atomic { told -> told = false };
     if :: waits && ticket[OWNER] == 0 -> waits = false; has = true; far_granted = true :: else fi;
     look_for_loss()
  :: to_owner ? unlock ->
     has = false;
     release(wants[OWNER], got, OWNERS)
  :: to_owner ? gone ->
     if
     :: has -> has = false; release(wants[OWNER], got, OWNERS)
     :: !has && waits ->
        waits = false;
        leave(OWNER, OWNERS, got);
#ifndef FORGETS_A_TURN_THAT_HAS_COME
        if :: !got -> release(wants[OWNER], got, OWNERS) :: else -> got = false fi;
#endif
        grant(other, OWNERS)
     :: else
     fi
  od;
over:
  skip
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
  :: far_refused
  :: atomic { deaths == 0 -> deaths++ };
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
