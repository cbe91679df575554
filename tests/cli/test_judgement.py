"""What `nearcache advise` makes of numbers, which are made up."""

import pytest
from nearcache import tables
from nearcache.advise import judgement, measure, text


def rule(hits=0, stale=0, size=100, **more):
    return {
        "hits": hits,
        "hit_bytes": hits * size,
        "stale": stale,
        "invalidations": 0,
        "example": None,
        **more,
    }


def evidence(
    latency=10000.0,
    gets=100000,
    hits=90000,
    seconds=2.0,
    run_seconds=0.0,
    stale=0,
    user_stale=0,
    writes=0,
    dropped=0,
    ranks=1,
    epoch_hits=0,
    least=None,
    cost_from="trace",
    own_gets=0,
    left_alone=(),
    obstacles=(),
    quiet_hits=0,
    user_hits=None,
    coherent_hits=None,
    validations=0,
    incoherent=(),
    hosts=("a",),
    shared=(),
    now="coherent",
    served=0,
):
    window = {
        "id": 1,
        "name": "",
        "mode": now,
        "ranks": ranks,
        "traced_ranks": 1,
        "gets": gets,
        "bytes": gets * 100,
        "own_gets": own_gets,
        "puts": writes,
        "stores": 0,
        "writes_while_read": writes,
        "transparent": rule(),
        "user": rule(hits if user_hits is None else user_hits, user_stale),
        "always": rule(hits, stale),
    }
    measured = {"latency_ns": latency, "ns_per_byte": 0.1}
    cost = {
        **measured,
        "hit": {"latency_ns": 50.0, "ns_per_byte": 0.15},
        "from": cost_from,
        "samples": 10,
        "measured": measured,
        "least": {**measured, "latency_ns": least or latency},
    }
    if cost_from == "assumed":
        cost.update(samples=0, measured=None, least=None)
    share = hits / max(1, gets)
    points = [
        {
            "storage_bytes": size,
            "cost_saved": share * saved,
            "hit_ratio": share * saved,
            "byte_hit_ratio": share * saved,
        }
        for size, saved in ((100000, 0.2), (500000, 0.7), (900000, 0.97), (2000000, 1.0))
    ]
    curve = {
        "id": 1,
        "ranks": 1,
        "gets": gets,
        "bytes": gets * 100,
        "distinct_keys": gets - hits,
        "distinct_bytes": 100 * (gets - hits),
        "stored_bytes": 112 * (gets - hits),
        "points": points,
    }
    trace = {"ranks": ranks, "dropped": dropped, "cut_short": False, "program": "p", "modelled": ""}
    window["traced_ranks"] = curve["ranks"] = len(hosts)
    coherent = coherent_hits is not None and {
        "hits_kept": max(0, coherent_hits - quiet_hits),
        "validations": validations,
    }

    def within(count, **more):
        return {
            "rows": [
                {
                    "windows": [
                        {
                            "id": 1,
                            "hits_full": count,
                            "hits_pending": 0,
                            "hits_partial": 0,
                            "hit_bytes": count * 100,
                            **more,
                        }
                    ]
                }
            ]
        }

    return measure.Evidence(
        safety={
            "cost": cost,
            "traces": [{**trace, "rank": rank, "host": host} for rank, host in enumerate(hosts)],
            "windows": [window],
        },
        summary={
            "span": {"first_ns": 0, "last_ns": int(seconds * 1e9)},
            "windows": [
                {"id": 1, "gets": gets, "outcomes": {"full": served, "direct": gets - served}}
            ],
        },
        run_seconds=run_seconds,
        curve={"windows": [curve]},
        transparent=within(epoch_hits),
        quiet=within(max(epoch_hits, quiet_hits)),
        coherent=coherent and within(coherent_hits, **coherent),
        incoherent=dict(incoherent),
        obstacles=dict(obstacles),
        left_alone=list(left_alone),
        shared={
            mode: {
                "rows": [
                    within(count, hits_of_others=count // 2, validations=0)["rows"][0]
                    for count in counts
                ]
            }
            for mode, counts in dict(shared).items()
        },
    )


def test_saving_is_a_share_of_the_whole_run_not_of_the_traced_part():
    # The program reads its input for a long time before it creates its window.
    whole, traced = (
        judgement.judge(evidence(run_seconds=each, quiet_hits=90000)) for each in (40.0, 0.0)
    )
    assert whole.helps and whole.wall_seconds == 40 and traced.wall_seconds == 2
    assert whole.saved_seconds == traced.saved_seconds
    assert "(2%)" in text.render(whole)


def test_one_cache_for_a_node_is_advised_where_it_saves_more():
    # Each of two ranks reads once what the other one reads, too; so it does with a quarter of the room.
    given = {"gets": 200000, "hits": 0, "ranks": 2, "hosts": ("a", "a")}
    advice = judgement.judge(evidence(**given, shared={"always": (98000, 98000, 98000, 1000)}))
    (window,) = advice.windows
    assert (window.mode, window.helps, advice.verdict) == ("always", True, "helps")
    assert window.shared.helps and window.shared.hits_of_others == 49000
    assert window.saved_seconds == pytest.approx(98000 * (10010 - 80 - 15 - 10) * 1e-9 / 2)
    assert window.storage_bytes == 4 << 20  # of 10 MB a rank a quarter
    assert advice.settings["share"] == "node"
    words = text.render(advice, ["mpiexec", "-n", "2", "./p"])
    assert "nearcache run --mode always --storage 4M --index 65536 --share node -- mpiexec" in words
    assert 'MPI_Info_set(info, "nearcache_share", "node")' in words
    assert "50% of 98,000 hits are on data read by another of up to 2 ranks" in " ".join(
        words.split()
    )
    assert "its gets rarely repeat" in words


def test_one_cache_for_a_node_is_not_advised_where_it_saves_no_more():
    shared = {"always": (90100,) * 4}
    advice = judgement.judge(evidence(ranks=2, hosts=("a", "a"), shared=shared))
    assert advice.helps and "share" not in advice.settings
    assert not advice.windows[0].shared.helps and "share" not in text.render(advice)


def test_what_ranks_read_first_at_different_times_must_not_be_written_between():
    # No rank alone would have been served old data in mode always; one that has what another one read earlier might.
    given = {"hits": 40000, "writes": 3, "ranks": 2, "hosts": ("a", "a")}
    shared = {"always": (95000,) * 4}
    advice = judgement.judge(evidence(**given, shared=shared))
    assert advice.windows[0].mode == "always" and advice.windows[0].shared is None
    # nor may they share one by themselves
    assert advice.settings["share"] == "off"
    assert 'MPI_Info_set(info, "nearcache_share", "off")' in text.render(advice)
    quiet = {**shared, "transparent": (95000,)}
    (window,) = judgement.judge(evidence(**given, quiet_hits=32000, shared=quiet)).windows
    assert (window.mode, window.shared) == ("always", None)


def test_what_others_of_a_node_read_counts_in_the_mode_that_asks_no_promise():
    given = {"hits": 40000, "writes": 3, "stale": 5, "user_stale": 1}
    shared = {"coherent": (80000,), "always": (95000,) * 4}
    advice = judgement.judge(
        evidence(**given, quiet_hits=40000, ranks=2, hosts=("a", "a"), shared=shared)
    )
    (window,) = advice.windows
    assert (window.mode, window.shared.mode) == ("coherent", "coherent")
    assert advice.settings["share"] == "node" and "mode" not in advice.settings


def test_storage_is_the_least_that_saves_nearly_all():
    window = judgement.judge(evidence()).windows[0]
    assert window.storage_bytes == 1 << 20  # 900,000 bytes save 97% of what any storage could
    assert window.index_entries == 16384  # 10,000 keys, and a quarter more


def test_saved_time_is_that_of_hits_less_their_own_cost():
    advice = judgement.judge(evidence())
    assert advice.saved_seconds == pytest.approx(90000 * (10010 - 80 - 15) * 1e-9)
    assert advice.get_seconds == pytest.approx(100000 * 10010 * 1e-9)


def test_gets_cannot_have_taken_longer_than_the_run():
    advice = judgement.judge(evidence(latency=1e6))
    assert advice.get_seconds == pytest.approx(2.0)
    assert advice.saved_seconds < 2.0
    # The text states the measured cost, of which that is no sum.
    assert "their measured cost, too high as on a busy machine, counts 2%" in text.render(
        advice, width=200
    )
    assert "measured cost" not in text.render(judgement.judge(evidence()), width=200)


def test_what_the_run_has_served_is_no_time_of_its_gets():
    """The run is cached as the program always is: its time is not that of a run without a cache."""
    advice = judgement.judge(evidence(served=90000, seconds=0.2))
    gets, hits = 100000 * 10010e-9, 90000 * (80 + 15) * 1e-9
    assert advice.get_seconds == pytest.approx(gets) and advice.run_seconds == 0.2
    assert advice.wall_seconds == pytest.approx(0.2 + 0.9 * gets - hits)
    assert advice.saved_seconds == pytest.approx(90000 * (10010 - 80 - 15) * 1e-9)
    said = text.render(advice, width=200)
    assert "0.89 s of 1.09 s per rank (82%)" in said and "measured cost" not in said
    assert (
        "1.09 s without a cache (this run, in which 90% of the gets were served by one, took"
        in said
    )
    assert "without a cache" not in text.render(judgement.judge(evidence()), width=200)
    # hits that a table says took longer than the whole run
    assert judgement.judge(evidence(latency=30.0, served=100000, seconds=0.001)).wall_seconds > 0
    there = evidence(served=90000, seconds=0.2)
    there.safety["cost"].update({"from": "model", "latency_ns": 20000.0, "ns_per_byte": 0.1})
    wall = 0.2 + 100000 * 20010e-9 - 10000 * 10010e-9 - hits
    assert judgement.judge(there).wall_seconds == pytest.approx(wall)


def test_gets_as_cheap_as_hits_are_left_alone():
    advice = judgement.judge(evidence(latency=60.0))
    assert not advice.helps
    assert "hardly more than a hit" in text.render(advice)


def test_a_small_part_of_a_long_run_is_not_worth_it():
    advice = judgement.judge(evidence(seconds=1000.0))
    assert not advice.helps and "would save only" in text.render(advice)


def test_repeats_within_an_epoch_that_save_too_little_are_not_said_to_come_too_late():
    advice = judgement.judge(
        evidence(seconds=1000.0, writes=3, stale=5, user_stale=1, epoch_hits=90000)
    )
    assert not advice.helps and "would save only" in text.render(advice)
    advice = judgement.judge(evidence(writes=3, stale=5, user_stale=1))
    assert not advice.helps and "only after a synchronisation" in text.render(advice)


def test_quiet_phases_take_the_place_of_invalidations_and_serve_where_no_promise_holds():
    for stale in (0, 5):
        (window,) = judgement.judge(
            evidence(writes=3, stale=5, user_stale=stale, quiet_hits=85000)
        ).windows
        assert (window.mode, window.helps) == ("coherent", True)
        assert window.saved_seconds == pytest.approx(85000 * (10010 - 80 - 15) * 1e-9)
    (window,) = judgement.judge(evidence(writes=3, stale=5, quiet_hits=50000)).windows
    assert window.mode == "user", "it saves nearly twice as much"


def test_where_the_default_does_as_well_there_is_nothing_to_set():
    advice = judgement.judge(evidence(gets=4000, hits=3600, coherent_hits=3590, latency=1e5))
    (window,) = advice.windows
    assert (window.mode, window.helps, advice.settings) == ("coherent", True, {})
    said = text.render(advice, ["mpiexec", "-n", "2", "./p"], width=300)
    assert "window 1: mode coherent, the default, saves about" in said
    assert "No options needed:  nearcache run -- mpiexec -n 2 ./p\n" in said
    assert "--mode" not in said and "MPI_Info_set" not in said and "Windows differ" not in said
    chosen = judgement.judge(
        evidence(gets=4000, hits=3600, coherent_hits=3590, latency=1e5, now="off")
    )
    assert chosen.settings == {"mode": "coherent"}, "the program or the environment chose another"


def test_the_default_is_that_of_the_table(tables_text):
    table = tables.parse(tables_text)
    assert table.option("mode").default == judgement.DEFAULT
    assert table.option("storage").default == text.size(judgement.DEFAULT_STORAGE)
    assert table.option("index").default == str(judgement.DEFAULT_INDEX)


def test_transparent_is_advised_only_where_it_saves_clearly_more_than_the_default():
    given = {"writes": 3, "stale": 5, "user_stale": 1, "quiet_hits": 60000}
    (window,) = judgement.judge(evidence(**given, coherent_hits=60000, validations=5000)).windows
    assert window.mode == "coherent"
    (window,) = judgement.judge(evidence(**given, coherent_hits=60000, validations=30000)).windows
    assert window.mode == "transparent" and "30,000 reads of versions cost" in window.reasons[0]
    assert window.saved_seconds == pytest.approx(60000 * (10010 - 80 - 15) * 1e-9)


def test_missing_traces_vouch_for_no_promise_and_are_no_reason_to_leave_the_default():
    advice = judgement.judge(evidence(ranks=2, epoch_hits=80000, coherent_hits=10))
    (window,) = advice.windows
    assert (window.mode, window.helps) == ("coherent", True) and "mode" not in advice.settings
    assert "no mode that needs a promise can be recommended" in window.reasons[-1]
    assert "transparent" not in text.render(advice)


def test_coherent_takes_the_place_of_a_promise_that_saves_little_more():
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, coherent_hits=80000, validations=1000)
    ).windows
    assert (window.mode, window.helps, window.invalidations) == ("coherent", True, 0)
    assert window.saved_seconds == pytest.approx(
        80000 * (10010 - 80 - 15) * 1e-9 - 1000 * (10000 + 102.4) * 1e-9
    )
    assert (
        "needs no promise" in window.reasons[0]
        and "`user`, which needs a promise, would save 14% more" in window.reasons[1]
    )
    assert window.storage_bytes and not window.curve
    (window,) = judgement.judge(evidence(writes=3, stale=5, coherent_hits=70000)).windows
    assert window.mode == "user", "coherent saves 78% of that"
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, coherent_hits=80000, validations=20000)
    ).windows
    assert window.mode == "user", "validations cost hits"


def test_coherent_is_advised_where_no_promise_holds():
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, user_stale=1, coherent_hits=60000)
    ).windows
    assert (window.mode, window.helps) == ("coherent", True)
    assert "would have returned old data" in window.reasons[-1]
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, user_hits=20000, quiet_hits=20000, coherent_hits=60000)
    ).windows
    assert window.mode == "coherent", "it saves more than invalidations leave"


def test_a_promise_is_advised_only_where_it_saves_clearly_more_than_the_default():
    (window,) = judgement.judge(evidence(coherent_hits=81000)).windows
    assert window.mode == "coherent"
    assert any("`always`, which needs a promise, would save 11%" in r for r in window.reasons)
    (window,) = judgement.judge(evidence(coherent_hits=72000)).windows
    assert window.mode == "always"
    assert "`coherent`, which needs no promise, would save 80% of that" in window.reasons[-1]


def test_coherent_is_not_advised_on_half_the_evidence_and_what_held_it_back_is_told():
    (window,) = judgement.judge(evidence(dropped=1, coherent_hits=60000)).windows
    assert window.mode == "off"
    (window,) = judgement.judge(evidence(writes=3, stale=5, coherent_hits=0)).windows
    assert window.mode == "user"
    (window,) = judgement.judge(
        evidence(
            writes=3, stale=5, coherent_hits=80000, incoherent={1: "option watch_stores is off"}
        )
    ).windows
    assert window.mode == "coherent" and window.reasons[1].endswith(
        "kept nothing of it, or of some rank's part: option watch_stores is off"
    )


def test_more_room_than_the_default_has_is_set_for_the_whole_program():
    advice = judgement.judge(evidence(writes=3, stale=5, coherent_hits=80000))
    said = text.render(advice, width=200)
    assert advice.settings == {"storage": 1 << 20, "index": 16384}
    assert "nearcache run --storage 1M --index 16384 -- " in said
    assert 'MPI_Info_set(info, "nearcache_storage", "1M")' in said and "nearcache_mode" not in said
    assert "promises that the program makes" not in said and "nearcache_invalidate" not in said


def test_without_a_measured_cost_there_is_no_verdict_but_by_counts():
    advice = judgement.judge(evidence(cost_from="assumed"))
    said = text.render(advice, width=300)
    assert (advice.verdict, advice.helps, advice.windows[0].undecided) == ("unknown", False, True)
    assert (
        said.startswith("No verdict")
        and "--model L,G" in said
        and "it depends (100,000 gets, 90% repeats)" in said
    )
    assert "ns/B" not in said
    advice = judgement.judge(evidence(cost_from="assumed", hits=10))
    assert advice.verdict == "no" and "rarely repeat" in text.render(advice)


def test_the_verdict_is_the_same_when_other_work_makes_gets_and_the_run_longer():
    """Three times as long a run, mean gets nine times: the quickest ones are what they were."""
    for quiet, helps in ((10000.0, True), (60.0, False)):
        idle = judgement.judge(evidence(latency=quiet))
        busy = judgement.judge(evidence(latency=9 * quiet, least=quiet, seconds=6.0))
        assert idle.helps == busy.helps == helps
        assert idle.windows[0].mode == busy.windows[0].mode


def test_both_bounds_are_said_where_they_differ():
    said = text.render(judgement.judge(evidence(latency=15000.0, least=5000.0)), width=200)
    assert said.startswith("Caching would help: 0.44 s to 1.34 s of 2.00 s")
    assert "15,000 ns + 0.10 ns/B (measured; the quickest 5,000 ns" in said
    said = text.render(judgement.judge(evidence()))
    assert said.startswith("Caching would help: about 0.89 s of 2.00 s")


def test_one_rank_is_one_rank():
    assert ", 1 rank, " in text.render(judgement.judge(evidence()))
    assert ", 2 ranks, " in text.render(judgement.judge(evidence(ranks=2)))


def test_a_given_cost_takes_the_place_of_the_measured_one_in_the_time_of_the_run():
    there = evidence(latency=1000.0, seconds=2.0)
    there.safety["cost"].update({"from": "model", "latency_ns": 20000.0, "ns_per_byte": 0.1})
    advice = judgement.judge(there)
    assert advice.wall_seconds == pytest.approx(2.0 + 100000 * (20010 - 1010) * 1e-9)
    assert (
        advice.saved_seconds
        == advice.saved_seconds_least
        == pytest.approx(90000 * (20010 - 80 - 15) * 1e-9)
    )
    assert "(given)" in text.render(advice)


def test_repeats_within_an_epoch_are_said_to_need_no_promise_where_they_save_something():
    said = "needs no promise to serve them"
    advice = judgement.judge(evidence(latency=70.0, epoch_hits=0))
    assert said not in text.render(advice, width=300)
    advice = judgement.judge(evidence(epoch_hits=90000))
    assert advice.windows[0].mode == "coherent" and said in text.render(advice, width=300)


def test_own_gets_are_told_apart_and_windows_without_others_share_a_line():
    assert "(100,000 gets, 90% repeats; 7 of own memory not counted)" in text.render(
        judgement.judge(evidence(own_gets=7)), width=200
    )
    found = evidence()
    for number in (2, 3):
        found.safety["windows"].append(
            {
                **found.safety["windows"][0],
                "id": number,
                "gets": 0,
                "bytes": 0,
                "own_gets": number,
                "always": rule(),
                "user": rule(),
            }
        )
    said = text.render(judgement.judge(found), width=200)
    assert "windows 2, 3: no rank read another rank's memory (5 gets of own memory)\n" in said
    assert "window 2:" not in said


def test_a_window_that_cannot_be_cached_is_not_recommended():
    advice = judgement.judge(evidence(obstacles={1: "a shared-memory window"}))
    assert advice.verdict == "no" and "it cannot be cached: a shared-memory window" in text.render(
        advice
    )


def test_why_windows_were_left_alone_is_said():
    assert "Windows that Nearcache left alone: it is of another tool.\n" in text.render(
        judgement.judge(evidence(left_alone=["it is of another tool"]))
    )


@pytest.mark.parametrize(
    "case, mode",
    [
        ({"writes": 3}, "always"),
        ({"writes": 3, "stale": 5}, "user"),
        ({"writes": 3, "stale": 5, "user_stale": 1}, None),
        ({"dropped": 1}, None),
        ({"ranks": 2}, None),
    ],
)
def test_no_mode_is_recommended_that_would_serve_old_data_or_that_nobody_can_vouch_for(case, mode):
    window = judgement.judge(evidence(**case)).windows[0]
    assert window.mode == (mode or "off")
    assert window.helps == (mode is not None)
