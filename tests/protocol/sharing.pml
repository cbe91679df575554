/* A cache that ranks of a node share (src/cache/shared): what is published of an entry and read
 * without a lock, and the clock that decides which ranks may be served it. In every run, a rank
 * that is served gets bytes of one version, of the key that it requested, and no older than what it
 * knew of when its floor was set.
 *
 * One target word of two halves is written by its owner, version after version; a rank that knows
 * of a version (by a message that the cache does not see) sets its floor and reads. FETCHERS ranks
 * fetch and publish into one slot of storage, under a lock; each also publishes something else
 * there, so that the storage repeatedly belongs to another key. Every step of a copy is a separate
 * step. A fetcher may die with the lock held (DEATHS); the next one starts afresh.
 *
 * Reordering by the processors is not modelled: the fences of published.h forbid it.
 *
 * Mutations, each of which some run must notice, are where their names stand. */

#ifndef FETCHERS
#define FETCHERS 2
#endif
#ifndef WRITES
#define WRITES 2
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef READS
#define READS 1
#endif

#define KEY 1   /* the word's */
#define OTHER 2 /* of storage used for something else */

byte target = 0;             /* the version that the owner has written */
byte clock = 1;
bit locked = 0, dead = 0;    /* the lock; its holder died */
byte deaths = 0;

/* the slot: the published part of it, and its storage */
byte sequence = 0;           /* odd: published */
byte said_key = 0, said_stamp = 0;
byte half[2] = 0;            /* versions; plus 100 if they are another key's */
bit in_use = 0;              /* as the engine knows; dropping an entry withdraws what is published */

inline take() {
  atomic { !locked -> locked = 1; }
  if
  :: atomic {
       dead ->
       dead = 0;
       in_use = 0;
#ifndef DEATH_KEEPS_ENTRY
       /* whatever the dead rank was about to do, nothing of it is trusted */
       if :: sequence % 2 == 1 -> sequence++ :: else fi
#endif
     }
  :: else
  fi
}

inline leave() { locked = 0; }

inline die() { dead = 1; deaths++; locked = 0; gone = 1; }

inline maybe_die() {
  if
  :: atomic { !gone && deaths < DEATHS -> die(); }
  :: skip
  fi
}

inline store(its_key, its_version, its_stamp) {
  take();
  if
  :: atomic { sequence % 2 == 1 && said_key == its_key && said_stamp >= its_stamp -> leave(); }
  :: else -> maybe_die();
#ifndef NO_RETIRE
     if :: !gone && in_use && sequence % 2 == 1 -> sequence++ :: else fi;
#endif
#ifdef PUBLISHES_BEFORE_COPY
     atomic { said_key = its_key; said_stamp = its_stamp; }
     if :: sequence % 2 == 0 -> sequence++ :: else fi;
#endif
     if
     :: gone
     :: else -> half[0] = its_version; maybe_die()
     fi;
     if
     :: gone
     :: else ->
        half[1] = its_version;
        said_key = its_key;
        said_stamp = its_stamp;
        if :: sequence % 2 == 0 -> sequence++ :: else fi;
        in_use = 1;
        leave();
     fi
  fi
}

proctype Fetcher() {
  byte before, fetched;
  bit gone = 0;
#ifdef STAMP_AFTER_FETCH
  fetched = target;
  before = clock;
#else
  before = clock;
  fetched = target;
#endif
  store(KEY, fetched, before);
  if
  :: gone
  :: else -> fetched = fetched + 100; store(OTHER, fetched, before);
  fi
}

proctype Owner() {
  byte writes = 0;
  do
  :: writes < WRITES -> target++; writes++
  :: else -> break
  od
}

/* Learns of what has been written, invalidates, and reads. */
proctype Reader() {
  byte known, floor, seen, key, stamp, copy0, copy1, reads = 0;
  known = target;
#ifdef FLOOR_WITHOUT_ADVANCE
  floor = clock;
#else
  atomic { clock++; floor = clock; }
#endif
  do
  :: reads == READS -> break
  :: else ->
     reads++;
     seen = sequence;
     key = said_key;
     stamp = said_stamp;
     if
     :: seen % 2 == 0
     :: else ->
        if
        :: key != KEY
#ifndef FLOOR_NOT_ASKED
        :: key == KEY && stamp < floor
        :: key == KEY && stamp >= floor ->
#else
        :: key == KEY ->
#endif
           copy0 = half[0];
           copy1 = half[1];
           if
#ifndef NO_LAST_LOOK
           :: sequence != seen
           :: sequence == seen ->
#else
           :: true ->
#endif
              assert(copy0 == copy1);
              assert(copy0 < 100);
              assert(copy0 >= known)
           fi
        fi
     fi
  od
}

init {
  byte fetchers = 0;
  atomic {
    run Owner();
    run Reader();
    do
    :: fetchers < FETCHERS -> run Fetcher(); fetchers++
    :: else -> break
    od
  }
}
