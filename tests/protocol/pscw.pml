/* Post, start, complete and wait (src/rma/window.h). Tokens are counted: posts at the origin by
 * target, completes at the target in total. Two targets expose their memory to two origins ROUNDS
 * times. Batches of a pair arrive in order; those of different pairs may not. Every other macro
 * breaks a rule. */
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define ORIGINS 2
#define TARGETS 2
#define DATA 1
#define COMPLETE 2

chan to_target[4] = [3] of { byte };   /* by target and origin: target * ORIGINS + origin */
chan to_origin[4] = [3] of { bit };    /* posts */
bool exposed[TARGETS];
byte completed[TARGETS];
byte posts[4];
byte executed[4];

/* The agents take what has arrived, one batch at a time. */
#define DATA_ARRIVES(pair) atomic { nempty(to_target[pair]) -> to_target[pair] ? message; \
    if :: message == DATA -> assert(exposed[pair / ORIGINS]); executed[pair]++ :: else -> completed[pair / ORIGINS]++ fi }
#define POST_ARRIVES(pair) atomic { to_origin[pair] ? 0 -> posts[pair]++ }

proctype Network() {
  byte message;
end:
  do
  :: DATA_ARRIVES(0) :: DATA_ARRIVES(1) :: DATA_ARRIVES(2) :: DATA_ARRIVES(3)
  :: POST_ARRIVES(0) :: POST_ARRIVES(1) :: POST_ARRIVES(2) :: POST_ARRIVES(3)
  od
}

proctype Target(byte me) {
  byte round = 0;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
     round++;
     exposed[me] = true;
     to_origin[me * ORIGINS] ! 0;
     to_origin[me * ORIGINS + 1] ! 0;
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
#ifndef STARTS_WITHOUT_POSTS
#ifdef STARTS_WITH_ONE_POST
     posts[me] >= 1 || posts[ORIGINS + me] >= 1;
#else
     posts[me] >= 1 && posts[ORIGINS + me] >= 1;
#endif
#ifndef POSTS_ARE_KEPT
     d_step { posts[me] = posts[me] - 1; posts[ORIGINS + me] = posts[ORIGINS + me] - 1 };
#endif
#endif
     if
#ifdef COMPLETES_OVERTAKE_DATA
     :: to_target[me] ! COMPLETE; to_target[me] ! DATA; to_target[ORIGINS + me] ! DATA; to_target[ORIGINS + me] ! COMPLETE
#endif
     :: to_target[me] ! DATA; to_target[ORIGINS + me] ! DATA; to_target[me] ! COMPLETE; to_target[ORIGINS + me] ! COMPLETE
     fi
  od
}

init {
  atomic { run Network(); run Target(0); run Target(1); run Origin(0); run Origin(1) }
}
