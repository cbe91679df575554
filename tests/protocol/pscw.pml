/* Post, start, complete and wait between nodes (src/rma/window_epochs.cpp). An origin does not wait
 * for posts: what it sends in an epoch begins with START, and waits at the target for its post.
 * Completes are counted at the target in total. Two targets expose their memory to two origins
 * ROUNDS times. Batches of a pair arrive in order; those of different pairs may not. Every other
 * macro breaks a rule. */
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define ORIGINS 2
#define TARGETS 2
#define DATA 1
#define COMPLETE 2
#define START 3

chan to_target[4] = [3] of { byte };   /* by target and origin: target * ORIGINS + origin */
bool exposed[TARGETS];
byte completed[TARGETS];
byte posted[4];                        /* not used by a start yet */
byte executed[4];

#ifdef STARTS_DO_NOT_WAIT
#define MAY_START(pair) true
#else
#ifdef ANY_POST_WILL_DO
#define MAY_START(pair) (posted[pair] > 0 || posted[pair ^ 1] > 0)
#else
#define MAY_START(pair) (posted[pair] > 0)
#endif
#endif
#ifdef POSTS_ARE_KEPT
#define USE_UP(pair) skip
#else
#define USE_UP(pair) if :: posted[pair] > 0 -> posted[pair]-- :: else fi
#endif
/* The target's agent, or its thread when it posts, takes the first message if it may. */
#define ARRIVES(pair) atomic { \
    nempty(to_target[pair]) && (!(to_target[pair] ? [START]) || MAY_START(pair)) -> \
    to_target[pair] ? message; \
    if \
    :: message == DATA -> assert(exposed[pair / ORIGINS]); executed[pair]++ \
    :: message == COMPLETE -> completed[pair / ORIGINS]++ \
    :: else -> USE_UP(pair) \
    fi }

proctype Network() {
  byte message;
end:
  do
  :: ARRIVES(0) :: ARRIVES(1) :: ARRIVES(2) :: ARRIVES(3)
  od
}

proctype Target(byte me) {
  byte round = 0;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
     exposed[me] = true;
     posted[me * ORIGINS]++;
     posted[me * ORIGINS + 1]++;
#ifdef WAITS_FOR_ONE_ORIGIN
     completed[me] >= 1;
     completed[me] = completed[me] - 1;
#else
     completed[me] >= ORIGINS;
#ifndef COMPLETES_ARE_KEPT
     completed[me] = completed[me] - ORIGINS;
#endif
#endif
     assert(executed[me * ORIGINS] == round && executed[me * ORIGINS + 1] == round);
     exposed[me] = false
  od
}

proctype Origin(byte me) {
  byte round = 0;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
     if
#ifdef COMPLETES_OVERTAKE_DATA
     :: to_target[me] ! START; to_target[me] ! COMPLETE; to_target[me] ! DATA;
        to_target[ORIGINS + me] ! START; to_target[ORIGINS + me] ! DATA; to_target[ORIGINS + me] ! COMPLETE
#endif
     :: to_target[me] ! START; to_target[me] ! DATA;
        to_target[ORIGINS + me] ! START; to_target[ORIGINS + me] ! DATA;
        to_target[me] ! COMPLETE; to_target[ORIGINS + me] ! COMPLETE
     fi
  od
}

init {
  atomic { run Network(); run Target(0); run Target(1); run Origin(0); run Origin(1) }
}
