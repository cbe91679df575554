"""The documents agree with the code: docs/options.md is what the table gives, and links, options and files that are named exist."""

import email.utils
import os
import re
from pathlib import Path

import pytest
from nearcache import listing, simulate, tables

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(ROOT.glob("apps/*/README.md")),
    *(ROOT / folder / "README.md" for folder in ("bench", "examples", "tests")),
]
# Variables of the commands, the UPC runtime, the build and its tests, which are no options of the library.
OTHER_VARIABLES = {
    "NEARCACHE_BUILD",
    "NEARCACHE_HOME",
    "NEARCACHE_PYTHON",
    "NEARCACHE_MPICC",
    "NEARCACHE_OSHCC",
    "NEARCACHE_PRECOMPILE",
    "NEARCACHE_UPC_SHARED_HEAP",
    "NEARCACHE_UPC_YIELD",
    "NEARCACHE_UPCC_DEBUG",
}
# Values of constants of nearcache/mpi.h and nearcache/shmem.h.
CONSTANTS = re.compile(r"NEARCACHE_MODE_\w+|NEARCACHE_SHMEM_(OK|ARGUMENT|ABSENT)")

named = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def words(document):
    return document.read_text(encoding="utf-8")


def anchors(document):
    """Anchors of the headings, made as Markdown renderers make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", words(document), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_options_document_is_up_to_date(tables_text):
    expected = listing.options_markdown(tables.parse(tables_text))
    assert words(ROOT / "docs" / "options.md") == expected, (
        "run: nearcache options --markdown > docs/options.md"
    )


@named
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)]+)\)", words(document)):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


def cells(row):
    """Of a table's row; a bar in code, or behind a backslash, parts no cells."""
    plain = re.sub(r"`[^`]*`", "", row.replace(r"\|", ""))
    return plain.strip().strip("|").count("|") + 1


@named
def test_tables_are_whole(document):
    """No blank line within a table, which makes text of the rest, and no row with other columns than the head."""
    text = re.sub(r"```.*?```", "", words(document), flags=re.S)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        head, *rest = table.splitlines()
        assert rest and re.fullmatch(r"\|(?: ?:?-+:? ?\|)+", rest[0]), head
        assert [row for row in rest if cells(row) != cells(head)] == []


WRAPPED = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *(path for path in sorted((ROOT / "docs").glob("*.md")) if "<!-- Generated" not in words(path)),
]


@pytest.mark.parametrize("document", WRAPPED, ids=lambda path: path.name)
def test_prose_is_wrapped_at_100_columns(document):
    """Tables, commands and lines that are one link or picture are as long as they are."""
    text = re.sub(r"```.*?```", "", words(document), flags=re.S)
    kept = re.compile(r"\||    |(?:[-*] )?!?\[[^\]]*\]\([^)]*\)[.,;]?$|<")
    long = [line for line in text.splitlines() if len(line) > 100 and not kept.match(line)]
    assert long == []


@named
def test_code_in_prose_begins_and_ends_with_no_blank(document):
    """A formatter that breaks a line behind the first backquote leaves one."""
    text = re.sub(r"```.*?```", "", words(document), flags=re.S)
    text = re.sub(r"^(?:    |\|).*$", "", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", paragraph):
            assert code == code.strip(), code


@named
def test_no_line_within_a_paragraph_begins_like_an_item(document):
    """Wrapped prose in which a dash or a plus comes first in a line becomes a list."""
    text = re.sub(r"```.*?```", "", words(document), flags=re.S)
    for paragraph in re.split(r"\n\s*\n", text):
        first, *rest = paragraph.strip("\n").split("\n")
        if not re.match(r" *(?:[-*+]|\d+\.) |    ", first):
            assert [line for line in rest if re.match(r" {0,3}(?:[-*+]|1[.)]) ", line)] == []


@named
def test_variables_that_are_named_exist(document, tables_text):
    known = {option.variable for option in tables.parse(tables_text).options} | OTHER_VARIABLES
    found = set(re.findall(r"\bNEARCACHE_[A-Z][A-Z_]*[A-Z]\b", words(document)))
    assert {name for name in found if not CONSTANTS.fullmatch(name)} <= known


@named
def test_options_of_run_that_are_named_exist(document, tables_text):
    known = {option.flag for option in tables.parse(tables_text).options} | {"--mpi", "--dry-run"}
    for line in re.findall(r"nearcache run(?= )([^`\n]*)", words(document)):
        own = re.split(r" --(?: |$)", line)[0]  # what follows belongs to the program
        assert set(re.findall(r"--[a-z][a-z-]*", own)) <= known, own


def options_of(command):
    return {
        name
        for parameter in command.params
        for name in [*parameter.opts, *parameter.secondary_opts]
        if name.startswith("-")
    }


def test_options_of_upcc_and_upcrun_are_those_of_their_help():
    """The tables of docs/upc.md name what there is; of upcrun's, all that is not the cache's."""
    pytest.importorskip("pycparser")
    from nearcache.upcc import command, upcrun

    _, of_upcc, of_upcrun = re.split(
        r"^### upc(?:c|run)$", words(ROOT / "docs" / "upc.md"), flags=re.M
    )
    rows = re.compile(r"^\| (`-.*?) \|", re.M)
    for row in rows.findall(of_upcc):
        for name in re.findall(r"`(--?[a-z][a-z-]*)", row, re.I):
            assert name in command.HELP, name
    named_here = {
        name
        for row in rows.findall(of_upcrun.split("\n## ")[0])
        for name in re.findall(r"`(--?[a-zA-Z-]+)", row)
    }
    own = {option for option in options_of(upcrun.main)}
    assert named_here <= own, named_here - own
    assert {
        "--per-node",
        "--cache",
        "--no-cache",
        "--shared-heap",
        "--dump-options",
        "--launcher-args",
        "--shmem-tag",
        "--show",
    } <= named_here


def test_options_of_simulate_are_those_of_its_help():
    """The table of docs/trace.md names all but how to show what is done."""
    rows = re.findall(r"^\| (`--.*?) \|", words(ROOT / "docs" / "trace.md"), re.M)
    named_there = {name for row in rows for name in re.findall(r"`(--[a-z-]+)", row)}
    assert named_there == options_of(simulate.simulate) - {"--progress"}


@named
def test_source_files_that_are_named_exist(document):
    for name in re.findall(
        r"`((?:src|include|tests|bench|apps|packaging|python|scripts)/[\w./*-]+)`", words(document)
    ):
        assert list(ROOT.glob(name.rstrip("/"))), name


def test_commands_of_the_tree_can_be_started():
    """What a reader is told to type is executable: `./test`, `bench/run`, `scripts/release.py`."""
    started = {
        name
        for document in DOCUMENTS
        for name in re.findall(
            r"^ {4,}(?:\./)?(test|demo|(?:bench|scripts)/[\w.]+)(?= |$)", words(document), re.M
        )
    }
    assert {"test", "demo", "bench/run", "scripts/release.py"} <= started
    assert not [name for name in sorted(started) if not os.access(ROOT / name, os.X_OK)]


def test_architecture_names_files_that_exist():
    """It names files of the library, and of upcc, without their folder."""
    names = {
        path.name
        for folder in ("src", "python/nearcache/upcc")
        for path in (ROOT / folder).rglob("*")
    }
    for name in re.findall(
        r"`([a-z_0-9]+\.(?:cpp|h|py|def|txt))`", words(ROOT / "docs" / "architecture.md")
    ):
        assert name in names, name


def sections(document):
    """Headings, and what is set in bold at the begin of a paragraph."""
    text = words(document)
    return {
        name.rstrip(".:")
        for name in re.findall(r"^#+ (.*)$", text, re.M)
        + re.findall(r"^(?:- )?\*\*([^*]+)\*\*", text, re.M)
    }


def test_sections_that_comments_name_exist():
    """A section stands in quotes behind the document; in mutations, behind `semantics.md` of the rule."""
    named_sections = []
    for folder, pattern in (
        ("src", r"docs/([\w-]+\.md)(?:, \"([^\"]+)\")?"),
        ("include", r"docs/([\w-]+\.md)(?:, \"([^\"]+)\")?"),
        ("tests", r"docs/([\w-]+\.md)(?:, \"([^\"]+)\")?"),
        ("tests/mutations", r"^# rule: (semantics\.md), ([^,:\n]+)"),
    ):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".h", ".cpp", ".c", ".txt", ".def", ".py", ".mutation"):
                named_sections += [
                    (file.name, *found) for found in re.findall(pattern, words(file), re.M)
                ]
    assert len(named_sections) > 100
    for file, document, section in named_sections:
        path = ROOT / "docs" / document
        assert path.exists(), (file, document)
        assert not section or section in sections(path), (file, section)


def test_every_record_of_the_version_agrees():
    """The source is python/nearcache/__init__.py; these are records of releases, which name the version in their own ways."""
    from nearcache import __version__

    assert re.search(r"^## (\d\S*)", words(ROOT / "CHANGELOG.md"), re.M)[1] == __version__
    assert re.search(r"^version: (\S+)", words(ROOT / "CITATION.cff"), re.M)[1] == __version__
    debian = words(ROOT / "packaging" / "debian" / "changelog")
    assert debian.startswith(f"nearcache ({__version__}-1) ")
    # The newest day of the release is its date.
    day = re.search(r"^### (\S+)", words(ROOT / "CHANGELOG.md"), re.M)[1]
    assert re.search(r"^date-released: (\S+)", words(ROOT / "CITATION.cff"), re.M)[1] == day
    released = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", debian, re.M)[1])
    assert released.date().isoformat() == day


def test_papers_that_the_documents_follow_can_be_cited():
    cited = words(ROOT / "CITATION.cff")
    named_papers = re.findall(
        r"\((\w[\w ]+?)(?:, \w+)*,\s+(?:IPDPS|PGAS|SC'?)\s*(?:\d+)?\)", words(ROOT / "README.md")
    )
    assert len(named_papers) == 3
    for author in [*named_papers, "Lewis"]:
        assert author in cited, author
