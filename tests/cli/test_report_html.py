"""`nearcache report FILE --html OUT` in a real browser: it renders, is readable in both colour schemes, and asks for nothing else."""

import copy
import json
from pathlib import Path

import pytest
from support import browser as browsers
from support import launch, make_report_example

HERE = Path(__file__).resolve().parent
EXAMPLES = {"version 1": HERE / "report_example.json", "version 2": HERE / "report_example_v2.json"}
AUDIT = (HERE / "page_audit.js").read_text()
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7*7}}"


@pytest.fixture(scope="session")
def chromium():
    program = browsers.find()
    if program is None:
        pytest.skip("there is no chromium; scripts/setup.sh test installs it")
    browser = browsers.Browser(program)
    yield browser
    browser.close()


def test_a_script_in_place_of_a_browser_is_none(tmp_path, monkeypatch):
    for name, code in (("chromium", 1), ("google-chrome", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browsers.find() == str(tmp_path / "google-chrome")


@pytest.fixture
def page_of(nearcache, tmp_path):
    """The page of a report: a file, or a document that is written to one."""

    def make(report):
        if isinstance(report, dict):
            path = tmp_path / "report.json"
            path.write_text(json.dumps(report))
            report = path
        out = tmp_path / "report.html"
        done = nearcache("report", report, "--html", out)
        assert done.returncode == 0, done.stderr
        return out

    return make


def hostile(document):
    """The document with every text replaced that comes from the program or the machine."""
    document = copy.deepcopy(document)
    document.update(
        program=HOSTILE,
        host=HOSTILE,
        mpi=HOSTILE,
        nearcache=HOSTILE,
        modelled=HOSTILE,
        options={HOSTILE: HOSTILE},
    )
    document["verdict"]["text"] = HOSTILE
    for row in document["details"].get("objects", []):
        row["name"] = HOSTILE
    for row in document["details"].get("acquires", []):
        row["call"] = HOSTILE
    for window in document["windows"]:
        window.update(name=HOSTILE, mode=HOSTILE, policy=HOSTILE, bypass=HOSTILE)
    document["totals"][HOSTILE] = 1
    return document


def no_gets():
    """A report of a program that did nothing."""
    document = make_report_example.make(ranks=1)
    for counters in (document["totals"], document["per_rank"][0]["counters"]):
        counters.update(dict.fromkeys(counters, 0))
    document.update(
        windows=[],
        verdict={
            "helped": False,
            "saved_seconds": 0,
            "text": "no gets were seen on windows that can be cached: the cache did not help",
        },
        spread={name: {"min": 0, "mean": 0, "max": 0} for name in document["totals"]},
    )
    document["details"] = {
        "timeline": {"slot_ns": 1000000, "points": []},
        "sizes": [],
        "reuse": {"sampled": 1, "classes": []},
        "targets": [],
        "adaptations": [],
    }
    return document


REPORTS = {
    "version 1": lambda: EXAMPLES["version 1"],
    "version 2": lambda: EXAMPLES["version 2"],
    "128 ranks, modelled": lambda: {
        **make_report_example.make(ranks=128),
        "modelled": "L=1900ns G=0.17ns/B",
    },
    "hostile": lambda: hostile(make_report_example.make(ranks=2)),
    "OpenSHMEM": make_report_example.make_openshmem,
    "hostile OpenSHMEM": lambda: hostile(make_report_example.make_openshmem(pes=2)),
    "no gets": no_gets,
}


@pytest.fixture(scope="session")
def pages():
    """Pages of REPORTS that were made already: making one takes as long as looking at it."""
    return {}


def audit(page):
    height = page.evaluate("document.documentElement.scrollHeight")
    width = page.evaluate("innerWidth")
    # What lies outside the window has no element at its point.
    page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=height,
        deviceScaleFactor=1,
        mobile=False,
    )
    return page.evaluate(AUDIT)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 800, 400])
@pytest.mark.parametrize("report", REPORTS)
def test_page_is_readable_and_asks_for_nothing(chromium, page_of, pages, report, width, scheme):
    if report not in pages:
        pages[report] = page_of(REPORTS[report]())
    out = pages[report]
    page = chromium.open(out.as_uri(), width, scheme)
    found = audit(page)
    assert found["problems"] == []
    assert found["text"] > 40 and found["drawings"] >= (
        4 if report in ("version 2", "128 ranks, modelled", "OpenSHMEM") else 0
    )
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert audit(page)["problems"] == [], "with everything unfolded"
    assert page.complaints() == []
    assert page.requests() == [out.as_uri()]
    page.close()


def test_audit_finds_what_is_wrong(chromium, tmp_path):
    """The test of the test: a page with each of the faults."""
    path = tmp_path / "bad.html"
    path.write_text("""<body style="background: #fff"><p style="font-size: 11px">small</p><p style="color: #aaa">pale</p><p style="width: 3000px">wide</p>
        <i id="twice"></i><i id="twice"></i><svg width="200" height="40" style="font-size: 20px"><rect width="200" height="40" fill="#000"/>
        <text x="10" y="30" fill="#222">under</text><text x="30" y="30" fill="#fff">over</text><text x="190" y="30" fill="#fff">cut</text></svg>""")
    page = chromium.open(path.as_uri())
    problems = " ".join(audit(page)["problems"])
    for fault in (
        '"small" is 11',
        '"pale" has contrast 2.3',
        "px wide",
        "the id twice",
        '"under" has contrast',
        '"under" lies over "over"',
        '"cut" is cut off',
        "without a name",
    ):
        assert fault in problems
    page.close()


def test_schemes_differ(chromium, page_of):
    out = page_of(EXAMPLES["version 2"])
    colours = set()
    for scheme in ("light", "dark"):
        page = chromium.open(out.as_uri(), scheme=scheme)
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert len(colours) == 2


def test_texts_of_the_report_are_shown_and_not_run(chromium, page_of):
    page = chromium.open(page_of(REPORTS["hostile"]()).as_uri())
    assert page.evaluate("document.querySelector('h1').firstChild.textContent").strip() == HOSTILE
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert (
        page.evaluate(
            f"[...document.querySelectorAll('td')].filter((cell) => cell.textContent === {json.dumps(HOSTILE)}).length"
        )
        >= 6
    )
    page.close()


def test_pointer_and_arrow_keys_show_the_figures_of_a_slot(chromium, page_of):
    page = chromium.open(page_of(EXAMPLES["version 2"]).as_uri())
    where = page.evaluate(
        "(() => { const svg = document.querySelector('#accesses .wide svg'); svg.scrollIntoView(); "
        "const box = svg.getBoundingClientRect(); return [box.x + box.width / 2, box.y + 50]; })()"
    )
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=where[0], y=where[1])
    shown = page.evaluate("document.getElementById('tip').innerText")
    points = json.loads(EXAMPLES["version 2"].read_text())["details"]["timeline"]["points"]
    assert any(
        f"{after['gets'] - before['gets']:,} gets" in shown
        for before, after in zip(points, points[1:])
    ), shown
    page.evaluate("document.querySelector('#accesses .wide svg').focus()")
    page.call(
        "Input.dispatchKeyEvent",
        type="keyDown",
        key="ArrowRight",
        code="ArrowRight",
        windowsVirtualKeyCode=39,
    )
    assert page.evaluate("document.getElementById('tip').innerText") != shown
    page.close()


def test_page_without_script_says_the_same(chromium, page_of):
    out = page_of(EXAMPLES["version 2"])
    texts = []
    for script in (True, False):
        page = chromium.open(out.as_uri(), script=script)
        texts.append(page.evaluate("document.body.innerText"))
        page.close()
    assert texts[0] == texts[1] and "About 2.0 times faster than uncached" in texts[0]


def test_page_prints(chromium, page_of):
    page = chromium.open(page_of(EXAMPLES["version 2"]).as_uri(), scheme="dark")
    assert len(page.call("Page.printToPDF", printBackground=False)["data"]) > 20_000
    page.call(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)", (
        "paper is white: the ink is that of the light scheme"
    )
    page.close()


def visible_text(chromium, out):
    page = chromium.open(out.as_uri())
    text = page.evaluate("document.body.innerText")
    page.close()
    return text


def test_figures_of_the_report_are_on_the_page(chromium, page_of):
    document = json.loads(EXAMPLES["version 2"].read_text())
    text = visible_text(chromium, page_of(EXAMPLES["version 2"]))
    for name in ("hits_full", "direct", "failing", "bypassed"):
        assert f"{document['totals'][name]:,}" in text
    for target in document["details"]["targets"]:
        assert f"{target['gets']:,}" in text
    assert "dynamic window [not asked for]" in text and "neighbours" in text
    assert text.index("About 2.0 times faster than uncached (") < text.index("Over time"), (
        "the verdict stands first"
    )
    assert "Not in this report" not in text


def test_version_1_says_what_is_missing(chromium, page_of):
    text = visible_text(chromium, page_of(EXAMPLES["version 1"]))
    missing = next(line for line in text.splitlines() if "Not in this report" in line)
    for part in (
        "gets over time",
        "sizes of gets",
        "reuse of keys",
        "gets by target",
        "adaptations over time",
    ):
        assert part in missing
    assert "version 1" in missing and "1,700,000" in text


def test_modelled_network_and_no_gain_are_said(chromium, page_of):
    assert "Modelled network." in visible_text(chromium, page_of(REPORTS["128 ranks, modelled"]()))
    assert "The cache did not help." in visible_text(chromium, page_of(no_gets()))


@pytest.mark.few_mpis
def test_report_of_a_real_run_becomes_a_page(chromium, page_of, mpi, preload, tmp_path):
    """The library's own report: its details are all there and agree with its totals."""
    selftest = mpi.binary("nearcache-selftest")
    if not selftest.exists():
        pytest.skip(f"{selftest} is not built")
    report = tmp_path / "run.json"
    launch.run(
        mpi,
        2,
        selftest,
        env={
            "NEARCACHE_MODE": "always",
            "NEARCACHE_SKIP_CHEAP": "false",
            "NEARCACHE_REPORT": str(report),
        },
    ).check()
    document = json.loads(report.read_text())
    gets = document["totals"]["gets"] - document["totals"]["own_gets"]
    assert document["version"] == 3 and gets > 0
    for part in ("sizes", "targets"):
        assert sum(row["gets"] for row in document["details"][part]) == gets, part
    page = chromium.open(page_of(report).as_uri())
    assert audit(page)["problems"] == [] and page.complaints() == []
    text = page.evaluate("document.body.innerText")
    assert f"{gets:,}" in text and "Not in this report" not in text
    page.close()
