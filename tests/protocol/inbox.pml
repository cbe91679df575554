/* The doorbell of ranks that share memory (src/net/node_fabric.h): a receiver that may sleep
 * whenever it has looked once more, and SENDERS with MESSAGES each for it, in a ring with room for
 * one. A message that nobody takes, and a sender that waits for room forever, are end states that
 * Spin finds invalid. The receiver may doze: a sender may then delay its ring until the receiver
 * leaves. The receiver comes back by itself COMES times. Every other macro breaks a rule. */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef COMES
#define COMES 1
#endif
#define LOOKS 0
#define DOZES 1
#define SLEEPS 2

byte watch, bell, due;                       /* the receiver's */
bool armed;
byte written[SENDERS], taken[SENDERS];
bool wants_room[SENDERS];
byte watch_of[SENDERS], bell_of[SENDERS];    /* a sender's own, while it waits for room */
byte done;

#define FULL(i) (written[i] - taken[i] == 1)
#define EMPTY(i) (written[i] == taken[i])

/* The process that clears the watch rings, and no other. */
inline wake() {
#ifdef RINGS_AND_LEAVES_THE_WATCH
  if :: watch != LOOKS -> bell++ :: else fi
#else
  if
  :: atomic { watch != LOOKS -> watch = LOOKS; waking = true }
  :: watch == LOOKS -> waking = false
  fi;
  if :: waking -> bell++; waking = false :: else fi
#endif
}

inline wake_sender(i) {
  if
  :: atomic { watch_of[i] != LOOKS -> watch_of[i] = LOOKS }; bell_of[i]++
  :: watch_of[i] == LOOKS
  fi
}

proctype Sender(byte me) {
  byte sent;
  bool unheard, waking;
  do
  :: sent < MESSAGES ->
     if
     :: FULL(me) ->
#ifdef WANTS_ROOM_BEFORE_IT_SLEEPS
        wants_room[me] = true;
#endif
        /* Messages that it holds for others are sent before it sleeps. */
#ifndef SLEEPS_WITHOUT_RINGING
        if :: unheard && !EMPTY(me) -> wake() :: else fi;
#endif
        unheard = false;
        watch_of[me] = SLEEPS;
#ifndef WANTS_ROOM_BEFORE_IT_SLEEPS
        wants_room[me] = true;
#endif
        if
#ifndef SLEEPS_WITHOUT_A_LOOK_FOR_ROOM
        :: !FULL(me) -> skip
        :: FULL(me) -> bell_of[me] > 0
#else
        :: bell_of[me] > 0
#endif
        fi;
        if
        :: atomic { watch_of[me] != LOOKS -> watch_of[me] = LOOKS }
        :: watch_of[me] == LOOKS -> bell_of[me] > 0; bell_of[me]--
        fi
     :: else ->
#ifdef LOOKS_BEFORE_IT_WRITES
        byte seen = watch;
        written[me]++;
#else
        written[me]++;
        byte seen = watch;
#endif
        sent++;
        if
        :: seen == LOOKS
        :: seen == DOZES -> unheard = true
        :: seen == SLEEPS -> wake()
        fi
     fi
  :: else -> break
  od;
#ifndef LEAVES_WITHOUT_RINGING
  if :: unheard && !EMPTY(me) -> wake() :: else fi;
#endif
  done++
}

inline disarm() {
  if
  :: armed ->
     armed = false;
     atomic {
       if :: watch == LOOKS -> due++ :: else fi;
       watch = LOOKS
     }
  :: else
  fi
}

inline poll() {
  disarm();
  /* as many as there are, of those still to come */
  atomic {
    if
    :: due > 0 -> if :: bell >= due -> bell = bell - due; due = 0 :: else -> due = due - bell; bell = 0 fi
    :: else
    fi
  };
  i = 0;
  do
  :: i < SENDERS ->
     if :: !EMPTY(i) -> taken[i]++ :: EMPTY(i) fi;
     /* It may not see the request yet. */
     if
     :: atomic { wants_room[i] -> wants_room[i] = false }; wake_sender(i)
     :: true
     fi;
     i++
  :: else -> break
  od
}

#define NOTHING_TO_TAKE (EMPTY(0) && (SENDERS < 2 || EMPTY(SENDERS - 1)))

proctype Receiver() {
  byte i, come;
  bool there;
  do
  :: poll();
     if
     :: true                                     /* it goes on to look */
#ifdef SLEEPS_WITHOUT_A_LOOK_AT_THE_RINGS
     :: atomic { armed = true; if :: watch = DOZES :: watch = SLEEPS fi };
#else
     :: armed = true;
        if :: watch = DOZES :: watch = SLEEPS fi;
#endif
        there = false;
        i = 0;
        do
        :: i < SENDERS ->
#ifndef SLEEPS_WITHOUT_A_LOOK_AT_THE_RINGS
           if :: !EMPTY(i) -> there = true :: else fi;
#endif
#ifndef GIVES_NO_ROOM_BEFORE_IT_SLEEPS
           if
           :: atomic { wants_room[i] -> wants_room[i] = false }; wake_sender(i)
           :: !wants_room[i]
           fi;
#endif
           i++
        :: else -> break
        od;
        if
        :: there
        :: else ->
           atomic { assert(!(watch != LOOKS && due == 0 && bell > 0)) };   /* a ring that nobody hears */
           if
           :: bell > 0
           :: come < COMES -> come++
           :: done == SENDERS && NOTHING_TO_TAKE && bell == 0 -> break
           fi
        fi
     fi
  od
}

init {
  atomic {
    byte k = 0;
    run Receiver();
    do :: k < SENDERS -> run Sender(k); k++ :: else -> break od
  }
}
