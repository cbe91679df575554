/* Locks of two targets of a window (src/rma/lock_queue.h, src/rma/locks.h). Readers lock both, in
 * either order, and keep the first while they wait for the second, as epochs that lock all ranks do
 * (which wait for the lock of their own rank first); writers lock one. If all waited in turn, two readers could each wait behind a writer that waits
 * for the other reader. So a shared lock of a rank that has another one overtakes. What a rank does
 * with a queue is one step here; that it may be, and that ranks may die, lock.pml shows. A rank is
 * near a target or far from it. The owner of a target waits in its queue for the first far rank in
 * line. A rank that waits forever is an end state that Spin finds invalid. Every macro but the sizes
 * breaks a rule. */
#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#define RANKS (READERS + WRITERS)
#define OWNER RANKS
#define NONE 255
#define SHARED 1
#define EXCLUSIVE 2
#define TYPE_OF(rank) (rank < READERS -> SHARED : EXCLUSIVE)

bool is_far[RANKS];              /* from both targets */

typedef Target {
  bool exclusive;
  byte holders, tickets, ticket[RANKS + 1], wants[RANKS + 1], waiting, line[RANKS + 1];
  bool overtakes[RANKS + 1], in_line_overtakes[RANKS], granted[RANKS]
};
Target at[2];
byte has[RANKS];                 /* locks that a rank has, or has asked for */

#define FREE_FOR(t, type) (!at[t].exclusive && (type == SHARED || at[t].holders == 0))

inline take(t, type) {
  if :: type == SHARED -> at[t].holders++ :: else -> at[t].exclusive = true fi;
  assert(!at[t].exclusive || at[t].holders == 0)
}

/* The lowest ticket, or the lowest of those that overtake. */
inline first(t, who, overtaking) {
  w = 0; who = NONE;
  do
  :: w <= OWNER ->
     if
     :: at[t].ticket[w] != 0 && (!overtaking || at[t].overtakes[w]) && (who == NONE || at[t].ticket[w] < at[t].ticket[who]) -> who = w
     :: else
     fi;
     w++
  :: else -> break
  od;
  w = 0
}

inline grant(t) {
  do
  :: true ->
     first(t, who, false);
     if
     :: who != NONE && !FREE_FOR(t, at[t].wants[who]) ->
        first(t, who, true);
        if :: who != NONE && !FREE_FOR(t, SHARED) -> who = NONE :: else fi
     :: else
     fi;
     if
     :: who == NONE -> break
     :: else ->
        take(t, at[t].wants[who]);
        at[t].ticket[who] = 0;
        if :: who != OWNER -> at[t].granted[who] = true :: else fi
     fi
  od;
  who = 0
}

inline enter(t, me, type, passes) {
  at[t].tickets++;
  at[t].ticket[me] = at[t].tickets;
  at[t].wants[me] = type;
  at[t].overtakes[me] = passes
}

inline enter_first(t) {
  if
  :: at[t].waiting > 0 ->
     enter(t, OWNER, TYPE_OF(at[t].line[0]), at[t].in_line_overtakes[at[t].line[0]])
  :: else
  fi
}

/* The owner hands on what it has been given for the first one in line. */
inline take_turn(t) {
  w = at[t].line[0];
  at[t].granted[w] = true;
  assert(at[t].wants[OWNER] == TYPE_OF(w));
  at[t].waiting--;
  for (i : 0 .. at[t].waiting) { if :: i < at[t].waiting -> at[t].line[i] = at[t].line[i + 1] :: else -> at[t].line[i] = 0 fi };
  i = 0; w = 0;
  enter_first(t);
  grant(t)
}

inline skip_those_who_overtake(t) {
  do
  :: place < at[t].waiting && at[t].in_line_overtakes[at[t].line[place]] -> place++
  :: else -> break
  od
}

/* A request that has come to the owner. */
inline ask(t, me, type, passes) {
  if
  :: (passes && FREE_FOR(t, SHARED)) || (!passes && at[t].waiting == 0 && nobody_waits && FREE_FOR(t, type)) ->
     take(t, type);
     at[t].granted[me] = true
  :: else ->
     at[t].in_line_overtakes[me] = passes;
     place = at[t].waiting;
     if
     :: passes ->
        place = 0;
        skip_those_who_overtake(t);
#ifndef STAYS_IN_THE_QUEUE
        if
        :: at[t].waiting > 0 && place == 0 ->
           /* the first one leaves the queue, unless its turn has come */
#ifndef PASSES_ONE_WHOSE_TURN_HAS_COME
           if :: at[t].ticket[OWNER] == 0 -> place = 1; skip_those_who_overtake(t) :: else fi;
#endif
           if :: place == 0 -> at[t].ticket[OWNER] = 0 :: else fi
        :: else
        fi
#endif
     :: else
     fi;
     i = at[t].waiting;
     do :: i > place -> at[t].line[i] = at[t].line[i - 1]; i-- :: else -> break od;
     i = 0;
     at[t].line[place] = me;
     at[t].waiting++;
#ifdef STAYS_IN_THE_QUEUE
     if :: place == 0 && at[t].waiting == 1 -> enter_first(t) :: else fi;
#else
     if :: place == 0 -> enter_first(t) :: else fi;
#endif
     place = 0;
     grant(t)
  fi
}

inline lock(t, me, type) {
  d_step {
#ifdef NOBODY_OVERTAKES
    passes = false;
#else
#ifdef EVERYBODY_OVERTAKES
    passes = type == SHARED;
#else
    passes = type == SHARED && has[me] > 0;
#endif
#endif
    first(t, who, false);
    nobody_waits = who == NONE;
    has[me]++;
    if
    :: is_far[me] -> ask(t, me, type, passes)
    :: !is_far[me] && nobody_waits && FREE_FOR(t, type) -> take(t, type); at[t].granted[me] = true
    :: else -> enter(t, me, type, passes); grant(t)
    fi;
    /* Who has no other lock does not keep a writer out that has come before. */
    if
    :: at[t].granted[me] && has[me] == 1 ->
       for (w : 0 .. OWNER) { assert(at[t].ticket[w] == 0 || at[t].wants[w] != EXCLUSIVE) };
       w = 0
    :: else
    fi;
    who = 0; nobody_waits = false; passes = false
  }
}

inline unlock(t, me, type) {
  d_step {
    if :: type == SHARED -> at[t].holders-- :: else -> at[t].exclusive = false fi;
    at[t].granted[me] = false;
    has[me]--;
    grant(t)
  }
}

#define LOCALS \
  byte who = 0, w = 0, i = 0, place = 0; \
  bool passes = false, nobody_waits = false

proctype Reader(byte me) {
  LOCALS;
  byte one = 0;
  if :: one = 0 :: one = 1 fi;
  lock(one, me, SHARED);
#ifndef GOES_ON_WITHOUT_ITS_FIRST_LOCK
  at[one].granted[me];
#endif
  lock(1 - one, me, SHARED);
  at[0].granted[me] && at[1].granted[me];
  unlock(one, me, SHARED);
  unlock(1 - one, me, SHARED)
}

proctype Writer(byte me) {
  LOCALS;
  byte one = 0;
  if :: one = 0 :: one = 1 fi;
  lock(one, me, EXCLUSIVE);
  at[one].granted[me];
  unlock(one, me, EXCLUSIVE)
}

proctype Owner(byte t) {
  LOCALS;
end:
  do
  :: d_step { at[t].waiting > 0 && at[t].ticket[OWNER] == 0 -> take_turn(t) }
  od
}

init {
  atomic {
    byte rank = 0;
    run Owner(0);
    run Owner(1);
    do
    :: rank < RANKS ->
       if :: is_far[rank] = false :: is_far[rank] = true fi;
       if :: rank < READERS -> run Reader(rank) :: else -> run Writer(rank) fi;
       rank++
    :: else -> break
    od
  }
}
