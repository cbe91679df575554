"""The RMA engine: its agent loses no wake-up (agent.pml), epochs of post, start, complete and wait match (pscw.pml), and locks of a node exclude and are handed over in turn, also by
the dead (lock.pml), those that have another lock overtake (overtaking.pml), locks that are held at the same time are taken in order (orders.pml), and ranks that share memory wake each other (inbox.pml); without any of their rules some run breaks."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
THREE_READERS = "READERS=3"
RUNS = {
    "two_threads": ("agent", ""),
    "two_threads_that_wait_twice": ("agent", "TURNS=2 HELPS=0 SEPARATE=0"),
    "two_epochs": ("pscw", ""),
    "three_epochs": ("pscw", "ROUNDS=3"),
    "locks": ("lock", ""),
    "inbox": ("inbox", ""),
    "locks_of_two_targets": ("overtaking", ""),
    "orders_of_locks": ("orders", ""),
}
LONG_RUNS = {
    "three_threads": ("agent", "THREADS=3 HELPS=0 SEPARATE=0"),
    "a_thread_that_helps_twice": ("agent", "HELPS=2 SEPARATE=0"),
    "inbox_of_many": ("inbox", "MESSAGES=3 COMES=2"),
    "locks_taken_twice": ("lock", "ROUNDS=2 NOBODY_ENDS=1"),
    "three_readers": ("overtaking", THREE_READERS),
}
WAITS_FOR_GOOD, WRONG_EPOCH = "invalid end state", "assertion violated"
WRONG_TURN = WRONG_EPOCH
MUTATIONS = {
    "BELL_IS_NOT_KEPT": ("agent", WAITS_FOR_GOOD),
    "HELPS_IN_THE_LEADERS_PLACE": ("agent", WAITS_FOR_GOOD),
    "LEADER_TELLS_NOBODY": ("agent", WAITS_FOR_GOOD),
    "LEASES_WITHOUT_A_TIMER": ("agent", WAITS_FOR_GOOD),
    "LEAVES_THE_OTHERS_UNWATCHED": ("agent", WAITS_FOR_GOOD),
    "LEAVES_WITHOUT_ARMING": ("agent", WAITS_FOR_GOOD),
    "LENDS_WITHOUT_A_TIMER": ("agent", WAITS_FOR_GOOD),
    "NOBODY_HEARS_THAT_THE_LEADER_LEFT": ("agent", WAITS_FOR_GOOD),
    "OWN_OPERATIONS_RING_NOBODY": ("agent", WAITS_FOR_GOOD),
    "OWN_OPERATIONS_TELL_NOBODY": ("agent", WAITS_FOR_GOOD),
    "LEAVES_WITHOUT_A_LOOK": ("agent", WAITS_FOR_GOOD),
    "POLLS_ON_BESIDE_A_LEADER": ("agent", WAITS_FOR_GOOD),
    "SENDS_WITHOUT_A_LOOK": ("agent", WAITS_FOR_GOOD),
    "SLEEPS_ON_THE_SEPARATE_ONE_ALONE": ("agent", WAITS_FOR_GOOD),
    "SLEEPS_WITHOUT_A_LOOK": ("agent", WAITS_FOR_GOOD),
    "THE_TIMER_ARMS_NOTHING": ("agent", WAITS_FOR_GOOD),
    "WATCHES_EDGES": ("agent", WAITS_FOR_GOOD),
    "COMPLETES_ARE_KEPT": ("pscw", WRONG_EPOCH),
    "COMPLETES_OVERTAKE_DATA": ("pscw", WRONG_EPOCH),
    "POSTS_ARE_KEPT": ("pscw", WRONG_EPOCH),
    "ANY_POST_WILL_DO": ("pscw", WRONG_EPOCH),
    "STARTS_DO_NOT_WAIT": ("pscw", WRONG_EPOCH),
    "WAITS_FOR_ONE_ORIGIN": ("pscw", WRONG_EPOCH),
    "ENTERS_WITHOUT_A_LOOK": ("lock", WAITS_FOR_GOOD),
    "FORGETS_A_TURN_THAT_HAS_COME": ("lock", WAITS_FOR_GOOD),
    "FORGETS_THE_OTHERS": ("lock", WAITS_FOR_GOOD),
    "GIVES_BACK_BEFORE_IT_IS_UNSURE": ("lock", WAITS_FOR_GOOD),
    "GIVES_BACK_WITHOUT_A_LOOK": ("lock", WAITS_FOR_GOOD),
    "GRANTS_THE_NEWEST": ("lock", WRONG_TURN),
    "GRANTS_WITHOUT_THE_MUTEX": ("lock", WRONG_TURN),
    "HOLDS_AFTER_THE_TICKET": ("lock", WRONG_TURN),
    "LOOKS_BEFORE_IT_GIVES_BACK": ("lock", WAITS_FOR_GOOD),
    "NOBODY_KNOWS_WHO_GRANTED": ("lock", WAITS_FOR_GOOD),
    "NOBODY_LOOKS_WHETHER_IT_IS_LOST": ("lock", WAITS_FOR_GOOD),
    "NOBODY_TELLS_THE_OWNER_FOR_THE_DEAD": ("lock", WAITS_FOR_GOOD),
    "PASSES_THOSE_WHO_WAIT": ("lock", WRONG_TURN),
    "SAYS_SO_TOO_LATE": ("lock", WAITS_FOR_GOOD),
    "TAKES_IT_AND_SAYS_SO_AFTERWARDS": ("lock", WAITS_FOR_GOOD),
    "TAKES_THE_TICKET_WITHOUT_THE_MUTEX": ("lock", WRONG_TURN),
    "THE_DEAD_KEEP_THEIR_LOCK": ("lock", WAITS_FOR_GOOD),
    "THE_DEAD_KEEP_THEIR_TICKET": ("lock", WAITS_FOR_GOOD),
    "THE_OWNER_IS_NOT_TOLD": ("lock", WAITS_FOR_GOOD),
    "EVERYBODY_OVERTAKES": ("overtaking", WRONG_TURN),
    "GOES_ON_WITHOUT_ITS_FIRST_LOCK": ("overtaking", WAITS_FOR_GOOD, THREE_READERS),
    "NOBODY_OVERTAKES": ("overtaking", WAITS_FOR_GOOD),
    "PASSES_ONE_WHOSE_TURN_HAS_COME": ("overtaking", WAITS_FOR_GOOD),
    "STAYS_IN_THE_QUEUE": ("overtaking", WRONG_TURN),
    "GOES_ON_WITHOUT_ITS_LAST_LOCK": ("orders", WAITS_FOR_GOOD),
    "REQUESTS_WITHOUT_WAITING": ("orders", WAITS_FOR_GOOD),
    "GIVES_NO_ROOM_BEFORE_IT_SLEEPS": ("inbox", WAITS_FOR_GOOD),
    "LEAVES_WITHOUT_RINGING": ("inbox", WAITS_FOR_GOOD),
    "LOOKS_BEFORE_IT_WRITES": ("inbox", WAITS_FOR_GOOD),
    "RINGS_AND_LEAVES_THE_WATCH": ("inbox", WRONG_EPOCH),
    "SLEEPS_WITHOUT_A_LOOK_AT_THE_RINGS": ("inbox", WAITS_FOR_GOOD),
    "SLEEPS_WITHOUT_A_LOOK_FOR_ROOM": ("inbox", WAITS_FOR_GOOD),
    "SLEEPS_WITHOUT_RINGING": ("inbox", WAITS_FOR_GOOD),
    "WANTS_ROOM_BEFORE_IT_SLEEPS": ("inbox", WAITS_FOR_GOOD),
}


def model(name):
    return HERE / f"{name}.pml"


def cases(runs, *marks):
    return [pytest.param(*run, id=name, marks=marks) for name, run in runs.items()]


@pytest.mark.parametrize("name, sizes", [*cases(RUNS), *cases(LONG_RUNS, pytest.mark.long)])
def test_every_run_ends_as_it_should(verify, name, sizes):
    text = verify(model(name), sizes)
    assert "errors: 0" in text and "Search not completed" not in text, text


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_broken_rule_is_noticed(verify, mutation):
    name, symptom, *sizes = MUTATIONS[mutation]
    assert f"pan:1: {symptom}" in verify(model(name), " ".join(sizes), mutation)


@pytest.mark.parametrize(
    "name, sizes",
    [
        ("agent", {"THREADS", "TURNS", "HELPS", "SEPARATE"}),
        ("pscw", {"ROUNDS"}),
        ("lock", {"NEAR", "ROUNDS", "NOBODY_ENDS"}),
        ("inbox", {"SENDERS", "MESSAGES", "COMES"}),
        ("overtaking", {"READERS", "WRITERS"}),
        ("orders", set()),
    ],
)
def test_every_rule_that_a_model_can_break_is_broken_here(name, sizes):
    found = set(
        re.findall(r"(?:#ifn?def |defined\()(\w+)", model(name).read_text(encoding="utf-8"))
    )
    assert found - sizes == {mutation for mutation, (of, *_) in MUTATIONS.items() if of == name}
