"""`nearcache report FILE --html OUT` without a browser: what is refused and how, and what the page consists of."""

import json
import os
import re
from pathlib import Path

import pytest
from support import make_report_example

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE / "report_example_v2.json"


def written(tmp_path, document):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    return path


def test_example_is_what_its_script_writes():
    assert EXAMPLE.read_text() == make_report_example.text(make_report_example.make())


@pytest.mark.parametrize("ranks", [1, 8, 128])
def test_example_agrees_with_itself(ranks):
    document = make_report_example.make(ranks)
    totals, details = document["totals"], document["details"]
    assert sum(totals[name] for name in make_report_example.ACCESS) == totals["gets"]
    assert details["timeline"]["points"][-1]["gets"] == totals["gets"]
    assert details["reuse"]["classes"]
    for part in ("sizes", "targets"):
        assert sum(row["gets"] for row in details[part]) == totals["gets"]
        assert all(row["hits"] <= row["gets"] for row in details[part])
    assert all(
        row["times"] * row["keys"] <= row["gets"] < 2 * row["times"] * row["keys"]
        for row in details["reuse"]["classes"]
    )


def test_page_is_made_as_often_as_it_is_asked_for():
    from nearcache import html

    document = json.loads(EXAMPLE.read_text())
    assert html.page(document) == html.page(document)


def test_failed_write_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch):
    from nearcache import files
    from nearcache.errors import NearcacheError

    path = tmp_path / "page.html"
    files.write_whole(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    for name in (path, tmp_path / "new.html"):
        with pytest.raises(NearcacheError, match=f"cannot write {name}: No space left on device"):
            files.write_whole(name, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == [
        "page.html"
    ] and path.read_bytes() == b"old"


def test_page_goes_to_standard_output_and_needs_nothing_from_elsewhere(nearcache):
    done = nearcache("report", "-", "--html", "-", stdin=EXAMPLE.read_text())
    assert done.stdout.startswith("<!DOCTYPE html>") and done.stdout.rstrip().endswith("</html>")
    assert not re.search(r"""(src|href)=["'](?!data:|#)|url\(|@import|https?:""", done.stdout)
    assert "default-src 'none'" in done.stdout


@pytest.mark.parametrize(
    "changes",
    [
        {"totals": []},
        {"totals": {"gets": "many"}},
        {"verdict": {}},
        {"windows": [{}]},
        {"windows": 3},
        {"details": [1]},
        {"wall_seconds": {"min": 1, "mean": None, "max": 2}},
        {"per_rank": [{"rank": 0}]},
        {"details": {"timeline": {"slot_ns": 1000000, "points": [7]}}},
        {"details": {"sizes": [{"bytes": -8, "gets": 1, "hits": 1}]}},
        {"details": {"sizes": [{"bytes": 8, "gets": float("nan"), "hits": 1}]}},
        {"details": {"targets": [{"rank": 0}]}},
        {"details": {"adaptations": [{"rank": 0, "window": 0, "ns": 1, "index_entries": 2}]}},
        {
            "details": {
                "sizes": [
                    {"bytes": 1, "gets": 1, "hits": 1},
                    {"bytes": 10**400, "gets": 1, "hits": 1},
                ]
            }
        },
        {"api": "OpenSHMEM", "details": {"objects": [{"name": "table", "gets": 1}]}},
        {"api": "OpenSHMEM", "details": {"acquires": [{"call": 7, "calls": "many"}]}},
        {"details": {"reuse": {"classes": [{"times": 3, "keys": 1, "gets": 3}]}}},
    ],
)
def test_damaged_reports_are_refused(nearcache, tmp_path, changes):
    out = tmp_path / "out.html"
    done = nearcache(
        "report", written(tmp_path, {**make_report_example.make(2), **changes}), "--html", out
    )
    assert done.returncode == 2 and "damaged" in done.stderr and "Traceback" not in done.stderr
    assert not out.exists()


def test_a_report_without_what_the_page_names_is_refused(nearcache, tmp_path):
    document = make_report_example.make(2)
    del document["nearcache"]
    done = nearcache("report", written(tmp_path, document), "--html", tmp_path / "out.html")
    assert done.returncode == 2 and "damaged" in done.stderr and "Traceback" not in done.stderr


def test_other_files_are_refused(nearcache, tmp_path):
    out = tmp_path / "out.html"
    for report, message in (
        (tmp_path / "missing", "No such file"),
        (written(tmp_path, {"format": "other"}), "is not a Nearcache report"),
    ):
        done = nearcache("report", report, "--html", out)
        assert done.returncode == 2 and message in done.stderr and not out.exists()


def test_page_that_cannot_be_written_is_told(nearcache, tmp_path):
    done = nearcache("report", EXAMPLE, "--html", tmp_path / "no" / "out.html")
    assert done.returncode == 2 and "cannot write" in done.stderr and "No such file" in done.stderr


def test_report_is_not_overwritten_by_its_page(nearcache, tmp_path):
    report = written(tmp_path, make_report_example.make(2))
    done = nearcache("report", report, "--html", report)
    assert done.returncode == 2 and "is the report itself" in done.stderr
    assert json.loads(report.read_text())["format"] == "nearcache-report"


def test_missing_jinja2_is_told(nearcache, tmp_path):
    (tmp_path / "jinja2.py").write_text("raise ImportError('not here')\n")
    root = HERE.parents[1] / "python"
    done = nearcache(
        "report", EXAMPLE, "--html", tmp_path / "out.html", env={"PYTHONPATH": f"{tmp_path}:{root}"}
    )
    assert done.returncode == 2 and "python3-jinja2" in done.stderr


def test_texts_that_are_no_unicode_do_not_stop_it(nearcache, tmp_path):
    document = make_report_example.make(2)
    document["program"] = "caf\udce9"  # as Python reads a file name that is not UTF-8
    done = nearcache("report", written(tmp_path, document), "--html", tmp_path / "out.html")
    assert done.returncode == 0, done.stderr


def test_options_are_compared_by_value(nearcache, tmp_path, fake_home):
    document = make_report_example.make(2)
    document["options"] = {
        "storage": "1048576",
        "progress_time": "4000",
        "sparsity_threshold": "0.1",
        "adaptive": "true",
        "index": "512",
        "policy": "lru",
    }
    page = nearcache("report", written(tmp_path, document), "--html", "-").stdout
    section = page[page.index('<h2 id="options">') : page.index('<h2 id="time">')]
    assert re.findall(r'<th scope="row" class="text">(\w+)</th>', section) == ["index", "policy"]


def test_without_the_library_all_options_are_shown(nearcache, tmp_path):
    done = nearcache("report", EXAMPLE, "--html", "-", env={"NEARCACHE_HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "table of defaults is not installed here" in done.stdout and ">1048576<" in done.stdout


def test_axes_take_any_size():
    from nearcache.html import scale

    for top in (0, 1, 3, 7, 10, 99, 1e3, 123456, 2.5e6, 1e12, 1 << 62):
        for ticks in (scale.ticks(top), scale.ticks_of_bytes(top)):
            values = [value for value, _ in ticks]
            assert values[0] == 0 and values[-1] >= top and 2 <= len(values) <= 7, (top, ticks)
            assert len({text for _, text in ticks}) == len(ticks), ticks
    for span in (1, 5e6, 1e9, 3e9, 4e11, 1e13):
        assert 2 <= len(scale.ticks_of_time(span, 60)) <= 7


@pytest.mark.parametrize(
    "lost, headline, tile, text",
    [
        (4 * 10**9, " times slower than uncached (", "lost per rank", "a loss: "),
        (0, "The cache did not help.", "saved per rank", "no gain: "),
    ],
)
def test_a_loss_is_shown_as_a_loss(nearcache, tmp_path, lost, headline, tile, text):
    """Two ranks that saved 1 s together and lost `lost` ns elsewhere."""
    document = make_report_example.make(2)
    document["totals"].update(saved_ns=10**9, lost_ns=lost)
    document["verdict"] = {
        "helped": False,
        "saved_seconds": (10**9 - lost) / 2e9,
        "text": "what the library says",
    }
    path = written(tmp_path, document)
    page = nearcache("report", path, "--html", "-").stdout
    assert headline in page and tile in page and ("1.5 s" if lost else "500 ms") in page
    said = nearcache("report", path).stdout
    assert text + "what the library says" in said
    assert f"{(10**9 - lost) / 2e9:.3f} s (estimated)" in said


@pytest.mark.parametrize(
    "helped, saved, wall, told",
    [
        (True, 1.95, 1.95, "About 2.0 times faster than uncached (3.9 s, estimated)."),
        (True, 8.92, 1.0, "About 9.9 times faster than uncached (9.92 s, estimated)."),
        (True, 402.5, 1.0, "About 404 times faster than uncached (404 s, estimated)."),
        (
            True,
            0.04,
            2.0,
            "The cache helped: less than 5% faster than uncached (2.04 s, estimated).",
        ),
        (False, -1.0, 2.0, "About 2.0 times slower than uncached (1 s, estimated)."),
        (False, -3.0, 2.0, "The cache cost time."),
        (False, 0.001, 2.0, "The cache did not help."),
        (True, 1.0, 0.0, "The cache helped."),
    ],
)
def test_the_page_leads_with_a_factor(helped, saved, wall, told):
    from nearcache.html import verdict

    document = make_report_example.make(2)
    document["verdict"].update(helped=helped, saved_seconds=saved)
    document["wall_seconds"]["mean"] = wall
    assert verdict.headline(document) == told


def test_old_data_stands_before_any_gain():
    from nearcache.html import verdict

    document = make_report_example.make(2)
    document["totals"]["hits_old"] = 1
    assert verdict.headline(document).startswith("The program breaks the cache's contract")


def adapting(ranks):
    """A report of many ranks that adapt at different times, to sizes of their own."""
    document = make_report_example.make(ranks)
    document["details"]["adaptations"] = [
        {
            "rank": rank,
            "window": 0,
            "ns": 10**6 * (1 + rank + 300 * step),
            "index_entries": 4096 << step,
            "storage_bytes": (1 << 20) << (step + rank % 3),
        }
        for rank in range(ranks)
        for step in range(3)
    ]
    return document


@pytest.mark.parametrize("ranks, drawn", [(2, 2), (512, 1)])
def test_many_ranks_are_a_band_and_a_median(ranks, drawn):
    from nearcache import html

    page = html.page(adapting(ranks))
    storage = page[page.index('<figure class="card" id="tuned-storage"') :]
    storage = storage[: storage.index("</svg>")]
    assert storage.count('class="steps"') == (drawn if ranks == 2 else 0)
    assert storage.count('class="band-of-ranks"') == (ranks > 2)
    assert storage.count('class="dot"') == (6 if ranks == 2 else 0)


def test_every_part_is_in_the_contents_and_settings_come_first():
    from nearcache import html

    page = html.page(json.loads(EXAMPLE.read_text()))
    bar = page[page.index('<nav aria-label="Contents">') : page.index("</nav>")]
    named = re.findall(r'href="#([a-z-]+)"', bar)
    assert named[0] == "options" and len(named) >= 8
    assert (
        re.findall(r'<section aria-labelledby="([a-z-]+)">', page[page.index("</nav>") :]) == named
    )


@pytest.mark.parametrize(
    "text, kind, shown",
    [
        ("1048576", "bytes", "1.0 MiB"),
        ("1024", "power", "1.0 KiB"),
        ("4000", "time", "4 us"),
        ("1048576", "count", "1048576"),
        ("1900,0.17", "model", "1900,0.17"),
    ],
)
def test_settings_are_in_units(text, kind, shown):
    from nearcache.html import settings

    assert settings.in_units(text, kind) == shown


@pytest.mark.parametrize("api", ["MPI", "OpenSHMEM"])
def test_storage_over_time_tells_the_largest_where_windows_were_freed_at_the_end(api):
    from nearcache.html import timeline

    document = json.loads(EXAMPLE.read_text())
    document["api"] = api
    points = document["details"]["timeline"]["points"]
    for point in points:
        point.update(storage_bytes=1 << 20, stored_bytes=1 << 18)
    points[1].update(storage_bytes=8 << 20, stored_bytes=1 << 19)
    points[-1].update(storage_bytes=0, stored_bytes=0)
    figure = timeline.section(document).figures[-1]
    assert [value for _, _, value in figure.legend] == ["8.0 MiB", "512.0 KiB"]
    assert all(label.endswith(", at most") for _, label, _ in figure.legend)
    assert "At most 8.0 MiB, and at most 512.0 KiB " in str(figure.drawings)


@pytest.mark.parametrize(
    "storage, stored, told, not_told",
    [
        (2 << 20, 0.9, "Try: `nearcache run --storage 2M -- COMMAND`", "more would not help"),
        (2 << 20, 0.1, "though 90.0% of it stayed free", "Try:"),
        (64 << 30, 0.9, "more may help.", "Try:"),  # the most that is allowed, on two ranks
    ],
)
def test_more_storage_is_advised_only_where_it_is_full(storage, stored, told, not_told):
    from nearcache.html import verdict

    document = make_report_example.make(2)
    document["details"] = None
    document["windows"] = document["windows"][:1]
    document["windows"][0].update(bypass=None)
    for counters in (document["totals"], document["windows"][0]["counters"]):
        counters.update(storage_bytes=storage, stored_bytes=int(stored * storage), conflicting=0)
    document["totals"].update(capacity=document["totals"]["gets"] // 5)
    said = " ".join(verdict.advice(document))
    assert told in said and not_told not in said


@pytest.mark.parametrize(
    "option, level, twice", [("storage", 5 << 20, "16M"), ("index", 5000, 16384)]
)
@pytest.mark.parametrize("ranks", [8, 2], ids=["on all ranks", "on two ranks"])
def test_idle_windows_do_not_make_the_size_to_try_smaller(option, level, twice, ranks):
    """The full windows had 5 MiB a rank, and 1 MiB was advised."""
    from nearcache.html import verdict

    document = make_report_example.make(8)
    document["details"] = None
    totals = document["totals"]
    totals.update(conflicting=totals["gets"] // 5, capacity=totals["gets"] // 5)
    name = "storage_bytes" if option == "storage" else "index_entries"
    for window in document["windows"][:2]:
        window["ranks"] = ranks
        window["counters"].update({name: level * ranks, "stored_bytes": 5 * ranks << 20})
        window["counters"]["storage_bytes"] = 5 * ranks << 20
    idle = dict.fromkeys(totals, 0)
    idle.update(storage_bytes=8 << 20, index_entries=8 * 4096, failing=1)
    document["windows"] += [
        {**document["windows"][0], "id": 10 + i, "ranks": 8, "counters": idle} for i in range(20)
    ]
    for counter in ("storage_bytes", "stored_bytes", "index_entries"):
        totals[counter] = sum(window["counters"][counter] for window in document["windows"])
    said = " ".join(verdict.advice(document))
    assert f"nearcache run --{option} {twice} --" in said, said


def spread_over(ranks, most=1):
    """The example on that many ranks whose gets go to all of them, the first of which gets `most` times as many."""
    document = {**json.loads(EXAMPLE.read_text()), "ranks": ranks}
    rows = [
        {"rank": i, "gets": 100 * (1 if i else most), "hits": 0, "bytes": 1, "bytes_from_cache": 0}
        for i in range(ranks)
    ]
    document["totals"].update(gets=sum(row["gets"] for row in rows) + 70, own_gets=70)
    document["details"]["targets"] = rows[:256]
    return document


@pytest.mark.parametrize(
    "ranks, most, told",
    [
        (256, 1, "The gets are spread evenly over 256 targets."),
        (512, 1, "The gets are spread evenly over more than 256 targets."),
        (256, 257, "Rank 0 receives the most gets: 50.2%; the mean over the 256 targets is 0.4%."),
        (512, 489, "Rank 0 receives the most gets: 48.9%; there are more than 256 targets."),
    ],
)
def test_targets_that_are_not_listed_are_not_forgotten(ranks, most, told):
    from nearcache.html import ranks as page

    document = spread_over(ranks, most)
    part = page.targets(document)
    assert part.words[0] == told
    cut = ["Only the 256 targets with the most gets are listed."]
    assert part.words[1:] == (cut if ranks > 256 else [])
    shares = {row[0]: row[2] for row in part.tables[0].rows}
    others = document["totals"]["gets"] - 70
    assert shares["1"] == f"{100 * 100 / others:.1f}%"


def test_commands_can_be_copied_and_names_stay_escaped():
    """A line used to break within `--mode off`, and its dashes with it."""
    from nearcache.html import verdict, whole_page

    line = verdict.caution(make_report_example.make(2))[0]
    assert "<code>--mode off</code>" in whole_page.with_code(line)
    assert whole_page.with_code("`<b>` & `") == "<code>&lt;b&gt;</code> &amp; `"


def test_nothing_is_advised_of_what_there_never_was():
    from nearcache.html import verdict

    document = make_report_example.make(2)
    document.update(details=None, windows=[])
    document["totals"].update(storage_bytes=0, stored_bytes=0, index_entries=0)
    document["totals"].update(failing=document["totals"]["gets"] // 2)
    assert not [line for line in verdict.advice(document) if "Try:" in line]


@pytest.mark.parametrize("ranks, size", [(1, "1 rank"), (8, "8 ranks"), (2048, "2,048 ranks")])
def test_title_and_heading_count_the_ranks(ranks, size):
    from nearcache import html

    page = html.page({**json.loads(EXAMPLE.read_text()), "ranks": ranks})
    assert f"<title>Nearcache: lcc, {size}</title>" in page and f"<span>on {size}</span>" in page


def test_access_types_are_explained_at_their_chart():
    from nearcache import html

    page = html.page(json.loads(EXAMPLE.read_text()))
    chart = page[page.index('<figure class="card" id="accesses"') :]
    about = chart[: chart.index("</figcaption>")]
    assert "“hit, pending” = joined a get that was still in flight" in about


def with_shared_caches(ranks=4):
    """The example as a run with `share=node` would write it: a third of the full hits on what another rank had fetched."""
    document = make_report_example.make(ranks)
    rows = [document["totals"], *(rank["counters"] for rank in document["per_rank"])]
    for row in [*rows, *document["details"]["timeline"]["points"]]:
        row["hits_shared"] = row["hits_full"] // 3
    shared = [rank["counters"]["hits_shared"] for rank in document["per_rank"]]
    document["totals"]["hits_shared"] = sum(shared)
    document["spread"]["hits_shared"] = {
        "min": min(shared),
        "mean": sum(shared) / ranks,
        "max": max(shared),
    }
    first, second, *_ = document["windows"]
    first["sharing"] = {"ranks": 4, "caches": 2}
    second.update(sharing={"ranks": 3, "caches": 1}, unshared="too many ranks of the node share it")
    return document


def test_hits_on_what_another_rank_fetched_are_a_class_of_their_own(nearcache, tmp_path):
    from nearcache import html

    document = with_shared_caches()
    totals = document["totals"]
    own = totals["hits_full"] - totals["hits_shared"]
    page = html.page(document)
    chart = page[page.index('<figure class="card" id="accesses"') :]
    chart = chart[: chart.index("</figure>")]
    drawn = re.findall(r'class="fill (\w+)"/>', chart[chart.index('<div class="drawing') :])
    assert drawn[: len(drawn) // 2][:3] == ["hits_own", "hits_shared", "hits_pending"], drawn
    assert (
        "“hit, another rank&#39;s” = served data that another rank of the node had fetched" in chart
    )
    slots = [
        list(map(int, row))
        for row in re.findall(
            r'<tr><th scope="row" class="text">[^<]*</th>' + r'<td class="number">(\d+)</td>' * 3,
            chart.replace(",", ""),
        )
    ]
    assert sum(slot[1] for slot in slots) == pytest.approx(own, rel=0.01)
    assert sum(slot[2] for slot in slots) == pytest.approx(totals["hits_shared"], rel=0.01)
    text = nearcache("report", written(tmp_path, document), "--width", "300").stdout
    for said in (page, text):
        assert f"{own:,}" in said and f"{totals['hits_shared']:,}" in said
        assert "4 ranks in 2 node caches" in said
        assert "3 ranks in 1 node cache; others: too many ranks of the node share it" in said


def test_a_run_without_shared_caches_has_no_word_of_them(nearcache, tmp_path):
    text = nearcache("report", EXAMPLE).stdout
    page = nearcache("report", EXAMPLE, "--html", "-").stdout
    for said in (text, page):
        assert "another rank" not in said and "shared by" not in said


def test_hit_ratio_over_time_counts_hits_of_what_others_fetched():
    from nearcache import report_counts
    from nearcache.html import timeline

    document = with_shared_caches()
    points = document["details"]["timeline"]["points"]
    slots = timeline.slots_of(points, report_counts.access_types(document))
    plain = timeline.slots_of(points, report_counts.ACCESS_TYPES)
    assert [report_counts.hit_rate(slot) for slot in slots] == [
        report_counts.hit_rate(slot) for slot in plain
    ]
    assert all(slot["hits_own"] + slot["hits_shared"] == slot["hits_full"] for slot in slots)


def test_reports_of_shared_and_private_caches_are_compared_by_class(nearcache, tmp_path):
    document = with_shared_caches(8)
    done = nearcache("compare", EXAMPLE, written(tmp_path, document))
    assert done.returncode == 0, done.stderr
    assert (
        "hit, another rank" in done.stdout
        and f"{document['totals']['hits_shared']:,}" in done.stdout
    )


def test_page_tells_how_the_program_was_started():
    from nearcache.html import whole_page

    document = make_report_example.make(64)
    rows = dict(whole_page.facts(document))
    assert rows["command"] == "./lcc --rmat 20 --progress"
    assert (rows["started"], rows["job"]) == ("2026-11-23 06:00:00 UTC", "4711.0")
    assert (rows["host"], rows["threads"]) == ("node7, one of 2 nodes", "single")
    for name in ("command", "started", "job", "threads", "nodes"):
        del document[name]  # a report of before
    rows = dict(whole_page.facts(document))
    assert rows["host"] == "node7" and not {"command", "started", "job"} & set(rows)


def test_page_of_an_openshmem_program_has_what_that_of_mpi_has():
    from nearcache import html

    document = make_report_example.make_openshmem()
    page = html.page(document)
    for title in ("Over time", "Symmetric objects", "Acquires", "Targets", "Spread over PEs"):
        assert f">{title}</h2>" in page, title
    assert "Adaptations" not in page and "Not in this report" not in page
    text = re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    rows = document["details"]["objects"]
    assert "Acquires dropped 33.0 MiB of 66.4 MiB fetched, 93.9% of it after" in text
    assert "row_offsets" in text and f"{rows[0]['gets']:,}" in text
    assert f"The other {len(rows) - 16} objects" in text
    dropped = re.search(r"shmem_wait_until\s+2,400\s+2.0 MiB\s+6.1%\s+874 B", text)
    assert dropped, "calls, bytes dropped, their share, and the mean of a call"
    assert text.index("shmem_barrier_all") < text.index("shmem_wait_until")
    assert not re.search(r"\branks?\b", text), "an OpenSHMEM program has PEs"


def test_page_of_an_openshmem_program_without_details_says_so():
    from nearcache import html

    page = html.page({**make_report_example.make_openshmem(2), "details": None})
    missing = re.search("Not in this report:</b>([^<]*)", page)[1]
    for part in ("gets over time", "sizes of gets", "gets by symmetric object", "acquires by call"):
        assert part in missing
    assert "reuse" not in missing and "adaptations" not in missing


def test_page_of_an_openshmem_program_that_asked_for_nothing_misses_nothing():
    from nearcache import html

    document = make_report_example.make_openshmem(2)
    page = html.page(
        {**document, "details": {**document["details"], "objects": [], "acquires": []}}
    )
    assert "Not in this report" not in page
    assert (
        "accessed no symmetric object" in page and "No call of the program was an acquire" in page
    )


def test_gets_of_own_memory_are_in_no_hit_figure():
    from nearcache.html import verdict

    document = json.loads(EXAMPLE.read_text())
    totals = {name: 0 for name in document["totals"]}
    document["totals"] = {**totals, "gets": 100, "own_gets": 60, "bypassed": 60, "hits_full": 30}
    said = verdict.sentences(document)
    assert said[1].startswith(
        "Of 40 gets of other ranks' memory (60 of a rank's own are not counted) 75.0% were hits"
    )
    assert ("75.0%", "hit ratio", "30 of 40 gets of other ranks' memory") in verdict.tiles(document)
    document["totals"]["own_gets"] = 100
    assert verdict.sentences(document)[1].startswith("All 100 gets were of a rank's own memory")


def test_what_an_infinite_cache_would_serve_is_said_of_one_that_does_not_read_ahead():
    from nearcache.html import verdict

    said = " ".join(verdict.sentences(json.loads(EXAMPLE.read_text())))
    assert "cache that fetches only what was requested would serve no more" in said
