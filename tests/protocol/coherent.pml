/* The protocol of mode coherent, for Spin: a reader p, a writer w that puts, and the owner t of the
 * window, which stores. The property is the assertion in serve().
 *
 * Two counts represent the data: x, put by w, and y, stored by t; one entry of p's cache covers
 * both. Every write adds 1 to its count, so "not older than" is ">=".
 *
 * Happens-before: a release publishes what its caller knows to be written, on a board that every
 * acquire reads. This covers the worst case of all chains of messages: whatever p learns through
 * other ranks it could have learned from a message sent to it at that release, and knowing more only
 * demands more of the cache. t also publishes what it has seen of x in its own memory although w has
 * released nothing. A fence is different: it completes puts that its own caller released before.
 *
 * Every operation on the network takes effect at some time after it was issued: puts, the adds to
 * hidden words, the reads of a fetch.
 *
 * Sizes: PUTS, STORES, JOINS, GENERATIONS and FENCES bound the run; REGIONS is 1 or 2 (with 2, x is
 * in the first and y in the second); OTHERS adds two other readers. Every other macro is a mutation
 * that breaks one rule; test_protocol.py lists them with the sizes at which that shows. */

#ifndef REGIONS
#define REGIONS 1
#endif
#ifndef PUTS
#define PUTS 0
#endif
#ifndef STORES
#define STORES 0
#endif
#ifndef JOINS
#define JOINS 1
#endif
#ifndef GENERATIONS
#define GENERATIONS 2
#endif
#ifndef FENCES
#define FENCES 0
#endif
#ifndef OTHERS
#define OTHERS 0
#endif

/* Regions start volatile; where t does not store or does not look, that has no effect to check. */
#if STORES == 0 || defined(RELEASE_WITHOUT_LOOK)
#define WATCHED_FIRST 1
#else
#define WATCHED_FIRST 0
#endif

#define X 0              /* the region of x */
#define Y (REGIONS - 1)  /* the region of y */
#define W 0
#define T 1

/* t's memory, and the operations on it in flight. */
byte x, y;
byte issued;             /* puts of w; those above x have not taken effect */
bit is_protected[REGIONS] = WATCHED_FIRST;  /* a store clears it */

/* The hidden words, and the adds to them in flight. */
byte writers[REGIONS], closed[REGIONS];
byte own[REGIONS] = 1 + WATCHED_FIRST;
byte opening[REGIONS], closing[REGIONS];
byte joined[2], left[2], acked[2];
byte leaving[2];

/* What releases have published, and what each fence will publish. */
byte board_x, board_y;
byte fence_x[FENCES + 2], fence_y[FENCES + 2];
byte fences[3];          /* the number that each rank has entered: w, t, p */

/* p's entry. It is declared here because the network process reads for it. */
mtype = { absent, in_flight, present };
mtype entry = absent;
byte entry_x, entry_y;

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define ODD(version) ((version) % 2 == 1)
#define ALL_IN(n) (fences[0] >= (n) && fences[1] >= (n) && fences[2] >= (n))
#define FENCE_DONE(n) (ALL_IN(n) && x >= fence_x[n])

/* Applies the operations in flight, each at any time. */
active proctype network() {
end:
    do
    :: d_step { x < issued -> x++ }
    :: d_step { opening[X] > 0 -> opening[X]--; writers[X]++ }
#if REGIONS == 2
    :: d_step { opening[Y] > 0 -> opening[Y]--; writers[Y]++ }
    :: d_step { closing[Y] > 0 -> closing[Y]--; writers[Y]--; closed[Y]++ }
#endif
#ifdef CLOSE_KEEPS_THE_COUNT
    :: d_step { closing[X] > 0 -> closing[X]--; writers[X]-- }
#else
    :: d_step { closing[X] > 0 -> closing[X]--; writers[X]--; closed[X]++ }
#endif
    :: d_step { leaving[W] > 0 -> leaving[W]--; left[W]++ }
    :: d_step { leaving[T] > 0 -> leaving[T]--; left[T]++ }
    :: d_step { entry == in_flight -> entry_x = x; entry_y = y; entry = present }
    od
}

/* Two loads, with any steps between them: `left` first, or readers that come and go in between
 * would hide a reader. Where no reader leaves, one step suffices. */
#if JOINS > 1 || OTHERS
#ifdef JOINED_READ_BEFORE_LEFT
#define READ_FIRST(me) j = joined[me]
#define READ_SECOND(me) l = left[me]
#else
#define READ_FIRST(me) l = left[me]
#define READ_SECOND(me) j = joined[me]
#endif
#else
#define READ_FIRST(me) l = left[me]; j = joined[me]
#define READ_SECOND(me) skip
#endif

/* ---- the writer ---- */

/* Steps that only issue something are one with the load before them: it is on its way for any time anyhow. */

bit is_open[REGIONS];    /* by w */
bit unannounced;         /* w has issued a put without opening */

inline open_region(r) {
    if :: !is_open[r] -> is_open[r] = 1; opening[r]++ :: else fi
}

inline close_region(r) {
    if
#ifdef CLOSE_BEFORE_COMPLETE
    :: is_open[r] -> is_open[r] = 0; closing[r]++
#else
    :: is_open[r] && completed == issued -> is_open[r] = 0; closing[r]++
#endif
    :: true
    fi
}

#if REGIONS == 2
#define OPENS_ARRIVED (opening[X] == 0 && opening[Y] == 0)
#define OPEN_ALL open_region(X); open_region(Y)
#define MAY_CLOSE close_region(X); close_region(Y)
#else
#define OPENS_ARRIVED (opening[X] == 0)
#define OPEN_ALL open_region(X)
#define MAY_CLOSE close_region(X)
#endif

inline writer_look() {
    atomic { READ_FIRST(W) };
    atomic {
        READ_SECOND(W);
        if
        :: j != acked[W] ->
#ifdef ACK_BEFORE_OPEN
            acked[W] = j;
#endif
            if
#ifdef ACK_WITHOUT_OPEN
            :: true
#else
            :: unannounced -> OPEN_ALL; OPENS_ARRIVED
            :: else
#endif
            fi;
            acked[W] = j
        :: else
        fi;
        readers = (j != l);
        j = 0;
        l = 0
    }
}

active proctype writer() {
    byte l, j, completed;
    bit readers;
end:
    do
    :: issued < PUTS ->
        writer_look();
        atomic {
            if
            :: readers ->
                open_region(X);
#ifndef OPEN_WITHOUT_FLUSH
                opening[X] == 0
#endif
            :: else -> unannounced = (unannounced || !is_open[X])
            fi;
            issued++;
            readers = 0
        }
    :: completed < issued ->  /* flush */
        writer_look();
        d_step { x == issued -> completed = issued; readers = 0 }
    :: PUTS > 0 ->            /* send */
        writer_look();
        atomic { MAY_CLOSE; board_x = MAX(board_x, completed); readers = 0 }
    :: fences[W] < FENCES ->
        writer_look();
        atomic { MAY_CLOSE; fence_x[fences[W] + 1] = issued; fences[W]++; readers = 0 };
end_fence:
        d_step { FENCE_DONE(fences[W]) -> completed = issued }
    :: PUTS == 0 && acked[W] != joined[W] ->  /* it only has to notice readers */
        writer_look();
        readers = 0
    od
}

/* ---- the owner ---- */

/* A thread of t that stores at any time, also while another one looks. */
active proctype stores() {
end:
    do
    :: d_step { y < STORES -> y++; is_protected[Y] = 0 }
    od
}

inline watch(r) {
    if
    :: ODD(own[r]) && own[r] < 2 * STORES + 2 ->
#ifdef PUBLISH_BEFORE_PROTECT
        own[r]++;
        is_protected[r] = 1
#else
        is_protected[r] = 1;
        own[r]++
#endif
    :: ODD(own[r])            /* stays volatile */
    :: !ODD(own[r]) ->
#ifdef PROTECT_NOT_ATOMIC
        stored = !is_protected[r];
        is_protected[r] = 1;
#else
        d_step { stored = !is_protected[r]; is_protected[r] = 1 };
#endif
        if
        :: stored -> own[r] = own[r] + 2
        :: stored -> own[r]++
        :: else
        fi;
        stored = 0
    fi
}

/* Called before a release, which publishes what was stored before it began. */
inline owner_look() {
    atomic { seen_x = x; seen_y = y; READ_FIRST(T) };
    atomic { READ_SECOND(T); acked[T] = j; readers = (j != l); j = 0; l = 0 };
#ifdef LOOK_AFTER_RELEASE
    board_y = MAX(board_y, seen_y);
#endif
#if STORES && !defined(RELEASE_WITHOUT_LOOK)
    if
    :: readers ->
        watch(Y);
#if REGIONS == 2
        watch(X)
#endif
    :: else
    fi
#endif
}

active proctype owner() {
    byte l, j, seen_x, seen_y;
    bit stored, readers;
end:
    do
    :: owner_look();          /* send */
        d_step { board_x = MAX(board_x, seen_x); board_y = MAX(board_y, seen_y); seen_x = 0; seen_y = 0; readers = 0 }
    :: fences[T] < FENCES ->
        owner_look();
        d_step { fence_y[fences[T] + 1] = seen_y; fences[T]++; seen_x = 0; seen_y = 0; readers = 0 };
end_fence:
        FENCE_DONE(fences[T])
    od
}

/* ---- the reader ---- */

mtype = { inactive, waiting, keeping };
mtype state = inactive;

byte generation, stamp;
bit kept;                /* the entry was fetched after every rank had acknowledged */
bit fetched;             /* something was fetched in this generation */
bit validated;           /* in this generation */
byte known_x, known_y;   /* the values that p knows to be written */

bit known[REGIONS];
byte known_writers[REGIONS], known_closed[REGIONS], known_own[REGIONS];
byte low[REGIONS];       /* the floors */

#if REGIONS == 2 && !defined(REGION_OF_ONE_END)
#define ABOVE_FLOORS (stamp >= low[X] && stamp >= low[Y])
#else
#define ABOVE_FLOORS (stamp >= low[X])
#endif

#ifdef KEPT_OVER_DEACTIVATION
#define KEPT 1
#else
#define KEPT kept
#endif

#define SERVED_OLD (state == keeping && KEPT && validated && ABOVE_FLOORS)

#ifdef KEEPS_OPEN_REGION
#define NOBODY_WRITES(r) 1
#else
#define NOBODY_WRITES(r) (got_writers[r] == 0)
#endif
#ifdef KEEPS_VOLATILE_REGION
#define WATCHED(r) 1
#else
#define WATCHED(r) (!ODD(got_own[r]))
#endif
#define USABLE(r) (NOBODY_WRITES(r) && WATCHED(r))
#define UNCHANGED(r) (known[r] && known_writers[r] == got_writers[r] && known_closed[r] == got_closed[r] && known_own[r] == got_own[r])

#ifdef FLOOR_TOO_LOW
#define NEW_FLOOR generation
#else
#ifdef VERSION_READ_AFTER_FETCH
#define NEW_FLOOR (entry != absent -> stamp : generation)
#else
#define NEW_FLOOR (fetched -> generation + 1 : generation)
#endif
#endif

inline judge(r) {
    if
    :: USABLE(r) && UNCHANGED(r)
    :: else ->
        low[r] = NEW_FLOOR;
        known[r] = USABLE(r);
        known_writers[r] = (known[r] -> got_writers[r] : 0);
        known_closed[r] = (known[r] -> got_closed[r] : 0);
        known_own[r] = (known[r] -> got_own[r] : 0)
    fi;
    got_writers[r] = 0;
    got_closed[r] = 0;
    got_own[r] = 0
}

/* One get: each word is read at its own time, and both may change in between. */
#if PUTS && STORES
#define READ_WORDS(r) atomic { got_writers[r] = writers[r]; got_closed[r] = closed[r] }; got_own[r] = own[r]
#else
#define READ_WORDS(r) d_step { got_writers[r] = writers[r]; got_closed[r] = closed[r]; got_own[r] = own[r] }
#endif

inline validate() {
    READ_WORDS(X);
#if REGIONS == 2
    READ_WORDS(Y);
#endif
    d_step {
        judge(X);
#if REGIONS == 2
        judge(Y);
#endif
        validated = 1
    }
}

/* The effects of a generation's end. An entry that may not be kept is forgotten; one that is in
 * flight is not served when it arrives. */
inline next_generation() {
    generation++;
    fetched = 0;
    validated = 0;
    if
    :: entry == present && !KEPT -> entry = absent; entry_x = 0; entry_y = 0; stamp = 0
    :: else
    fi
}

inline serve() {
#ifdef HITS  /* not a rule: the verifier must find that it is broken */
    assert(stamp == generation || known_x < PUTS || known_y < STORES || closed[X] < (PUTS > 0) || own[Y] < 2 + 2 * (STORES > 0));
#endif
    assert(entry_x >= known_x && entry_y >= known_y);
    stamp = generation
}

active proctype reader() {
    byte needed[2], joins;
    byte got_writers[REGIONS], got_closed[REGIONS], got_own[REGIONS];
#ifdef GENERATION_COUNTED_EARLY
    bit receiving;
#endif
#ifdef STAMP_AT_COMPLETION
    bit fetched_ahead;
#endif
end:
    do
    :: state == inactive && joins < JOINS ->
        d_step { joins++; joined[W]++; needed[W] = joined[W] };
        d_step { joined[T]++; needed[T] = joined[T] };
        state = waiting  /* until every rank knows of p; before, some may write without opening */
#ifdef ACTIVATION_WITHOUT_ACK
    :: d_step { state == waiting -> state = keeping; needed[W] = 0; needed[T] = 0 }
#else
    :: d_step { state == waiting && acked[W] >= needed[W] && acked[T] >= needed[T] -> state = keeping; needed[W] = 0; needed[T] = 0 }
#endif
    :: d_step { state != inactive && joins < JOINS ->  /* the last one may as well stay */
        state = inactive; kept = 0; leaving[W]++; leaving[T]++; needed[W] = 0; needed[T] = 0 }

    /* Acquire */
#ifdef GENERATION_COUNTED_EARLY
    :: d_step { generation < GENERATIONS && !receiving -> receiving = 1; next_generation() }
    :: d_step { receiving -> receiving = 0; known_x = MAX(known_x, board_x); known_y = MAX(known_y, board_y) }
#else
    :: d_step { generation < GENERATIONS -> next_generation(); known_x = MAX(known_x, board_x); known_y = MAX(known_y, board_y) }
#endif
    :: fences[2] < FENCES && generation < GENERATIONS ->
        fences[2]++;
#ifdef VALIDATION_OVERTAKES_FENCE
        /* A fence or start may return before all ranks have arrived. Gets then wait for them; a
         * validation that does not wait reads too early. */
        d_step { next_generation() };
        if
        :: state == keeping && entry == present ->
            validate();
            if
            :: SERVED_OLD ->
                FENCE_DONE(fences[2]);
                assert(entry_x >= fence_x[fences[2]] && entry_y >= fence_y[fences[2]])
            :: else
            fi
        :: true
        fi;
#endif
end_fence:
        d_step { FENCE_DONE(fences[2]) ->
#ifndef VALIDATION_OVERTAKES_FENCE
            next_generation();
#endif
            known_x = MAX(known_x, fence_x[fences[2]]); known_y = MAX(known_y, fence_y[fences[2]]) }

    /* Possible whenever another entry is requested, once per generation: what was served in it has
     * its stamp, too, and is not among the fetched. */
#ifdef VALIDATED_TWICE
    :: state == keeping -> validate()
#else
    :: state == keeping && !validated -> validate()
#endif
    /* Requested, fetched ahead, or fetched again after an eviction. */
    :: d_step { entry != in_flight -> entry = in_flight; entry_x = 0; entry_y = 0; stamp = generation; kept = (state == keeping); fetched = 1 }
#ifdef STAMP_AT_COMPLETION
    :: d_step { entry == present && fetched_ahead -> fetched_ahead = 0; stamp = generation }
    :: d_step { entry == in_flight -> fetched_ahead = 1 }
#endif
    :: d_step { entry == present && (stamp == generation || SERVED_OLD) -> serve() }
    od
}

#if OTHERS
/* Two other readers, as t sees them: one has joined, the other joins, both leave. */
active proctype others() {
    joined[T]++;
    joined[T]++;
    left[T]++;
    left[T]++
}
#endif
