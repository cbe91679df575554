"""The protocol of mode coherent holds in every run of its model (coherent.pml), and each of its rules is needed: without it some run breaks."""

import re
from pathlib import Path

import pytest

MODEL = Path(__file__).resolve().parent / "coherent.pml"
STALE = "assertion violated ((entry_x>="
SIZES = ("REGIONS", "PUTS", "STORES", "JOINS", "GENERATIONS", "FENCES", "OTHERS")

# What races with what; all of it at once would be too much for one run.
RUNS = {
    "puts": "PUTS=2",
    "many_generations": "PUTS=1 GENERATIONS=3",
    "stores": "STORES=2",
    "a_fence_completes_puts": "PUTS=1 FENCES=1",
    "a_fence_publishes_stores": "STORES=1 FENCES=1",
    "the_reader_leaves_and_returns_to_puts": "PUTS=1 JOINS=2 GENERATIONS=1",
    "the_reader_leaves_and_returns_to_stores": "STORES=1 JOINS=2",
    "other_readers_come_and_go": "STORES=1 OTHERS=1",
    "two_regions_put": "PUTS=1 REGIONS=2",
    "two_regions_stored": "STORES=1 REGIONS=2",
}
# Millions of states more.
LONG_RUNS = {
    "puts_and_stores": "PUTS=1 STORES=1 GENERATIONS=1",
    "the_reader_leaves_and_returns_to_puts_in_many_generations": "PUTS=1 JOINS=2",
}
# The rule that each breaks is where its name stands in the model.
MUTATIONS = {
    "ACK_BEFORE_OPEN": "PUTS=1",
    "ACK_WITHOUT_OPEN": "PUTS=1",
    "ACTIVATION_WITHOUT_ACK": "PUTS=1",
    "CLOSE_BEFORE_COMPLETE": "PUTS=1",
    "CLOSE_KEEPS_THE_COUNT": "PUTS=1",
    "FLOOR_TOO_LOW": "PUTS=1",
    "GENERATION_COUNTED_EARLY": "PUTS=1",
    "JOINED_READ_BEFORE_LEFT": "STORES=1 OTHERS=1",
    "KEEPS_OPEN_REGION": "PUTS=1",
    "KEEPS_VOLATILE_REGION": "STORES=1",
    "KEPT_OVER_DEACTIVATION": "STORES=1 JOINS=2",
    "LOOK_AFTER_RELEASE": "STORES=1",
    "OPEN_WITHOUT_FLUSH": "PUTS=1",
    "PROTECT_NOT_ATOMIC": "STORES=1",
    "PUBLISH_BEFORE_PROTECT": "STORES=1",
    "REGION_OF_ONE_END": "STORES=1 REGIONS=2",
    "RELEASE_WITHOUT_LOOK": "STORES=1",
    "STAMP_AT_COMPLETION": "PUTS=1",
    "VALIDATED_TWICE": "PUTS=1",
    "VALIDATION_OVERTAKES_FENCE": "STORES=1 FENCES=1",
    "VERSION_READ_AFTER_FETCH": "PUTS=1",
}


def cases(runs, *marks):
    return [pytest.param(sizes, id=name, marks=marks) for name, sizes in runs.items()]


@pytest.mark.parametrize("sizes", [*cases(RUNS), *cases(LONG_RUNS, pytest.mark.long)])
def test_no_read_returns_less_than_was_written_before_it(verify, sizes):
    text = verify(MODEL, sizes)
    assert "errors: 0" in text and "Search not completed" not in text, text


@pytest.mark.parametrize("sizes", cases(RUNS))
def test_the_cache_serves_old_entries_after_writes_that_were_announced(verify, sizes):
    text = verify(MODEL, sizes, "HITS")
    assert "assertion violated" in text and STALE not in text, text


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_broken_rule_is_noticed(verify, mutation):
    assert STALE in verify(MODEL, MUTATIONS[mutation], mutation)


def test_every_rule_that_the_model_can_break_is_broken_here():
    found = set(re.findall(r"(?:#ifn?def |defined\()(\w+)", MODEL.read_text(encoding="utf-8")))
    assert found - {*SIZES, "HITS"} == set(MUTATIONS)
