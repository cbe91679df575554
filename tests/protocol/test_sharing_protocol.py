"""A cache that ranks of a node share: who is served gets whole bytes of its key, and none older than it may (sharing.pml); without any of the rules some run breaks."""

import re
from pathlib import Path

import pytest

MODEL = Path(__file__).resolve().parent / "sharing.pml"
SIZES = ("FETCHERS", "WRITES", "DEATHS", "READS")
RUNS = {
    "two_fetch": "",
    "one_reads_twice": "READS=2 FETCHERS=1",
    "one_dies": "DEATHS=1",
}
LONG_RUNS = {"two_read_twice": "READS=2 WRITES=1"}
OLD, TORN, ANOTHER = "copy0>=known", "copy0==copy1", "copy0<100"
# The rule that each breaks is where its name stands in the model.
MUTATIONS = {
    "DEATH_KEEPS_ENTRY": ("DEATHS=1", (TORN, ANOTHER)),
    "FLOOR_NOT_ASKED": ("", (OLD,)),
    "FLOOR_WITHOUT_ADVANCE": ("", (OLD,)),
    "NO_LAST_LOOK": ("", (TORN, ANOTHER)),
    "NO_RETIRE": ("", (TORN, ANOTHER)),
    "PUBLISHES_BEFORE_COPY": ("", (TORN, ANOTHER)),
    "STAMP_AFTER_FETCH": ("", (OLD,)),
}


@pytest.mark.parametrize("sizes", RUNS.values(), ids=RUNS)
def test_nobody_is_served_what_it_must_not(verify, sizes):
    text = verify(MODEL, sizes)
    assert "errors: 0" in text, text


@pytest.mark.long
@pytest.mark.parametrize("sizes", LONG_RUNS.values(), ids=LONG_RUNS)
def test_nobody_is_served_what_it_must_not_in_larger_runs(verify, sizes):
    text = verify(MODEL, sizes)
    assert "errors: 0" in text, text


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_without_this_rule_somebody_is(verify, mutation):
    sizes, wrong = MUTATIONS[mutation]
    text = verify(MODEL, sizes, mutation)
    assert any(f"assertion violated ({each})" in text for each in wrong), text


def test_every_mutation_of_the_model_is_tried():
    found = set(re.findall(r"#ifn?def (\w+)", MODEL.read_text(encoding="utf-8")))
    assert found - set(SIZES) == set(MUTATIONS)
