"""Every mutation still fits the sources and names tests that exist; `./test --long` builds them and sees each one caught (run.py)."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import mutation  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
MUTATIONS = mutation.all_mutations()


def gtest_names():
    """Every test of tests/unit by its full name, those with parameters as gtest names them."""
    names = set()
    for path in (ROOT / "tests" / "unit").glob("*.cpp"):
        text = path.read_text(encoding="utf-8")
        names.update(
            f"{suite}.{test}"
            for suite, test in re.findall(r"^TEST(?:_F)?\((\w+), (\w+)\)", text, re.M)
        )
        for suite, test in re.findall(r"^TEST_P\((\w+), (\w+)\)", text, re.M):
            names.update(
                f"{prefix}/{suite}.{test}/0"
                for prefix in re.findall(rf"INSTANTIATE_TEST_SUITE_P\((\w+), {suite},", text)
            )
    return names


def matches(filter_, names):
    pattern = "|".join(re.escape(word).replace(r"\*", ".*") for word in filter_.split(":"))
    return any(re.fullmatch(pattern, name) for name in names)


def test_there_are_mutations_of_every_layer():
    assert len(MUTATIONS) >= 60
    areas = {each.name.split("/")[0] for each in MUTATIONS}
    assert {"get_cache", "page_cache"} <= areas


@pytest.mark.parametrize("area", sorted({each.name.split("/")[0] for each in MUTATIONS}))
def test_every_mutation_fits_the_sources_as_they_are(area):
    stale = []
    for each in MUTATIONS:
        if each.name.split("/")[0] == area:
            try:
                each.check(ROOT)
            except mutation.Stale as error:
                stale.append(str(error))
    assert not stale, "what was changed there must be broken by them still:\n" + "\n".join(stale)


def test_the_copy_of_a_checkout_that_was_moved_is_configured_anew(tmp_path, monkeypatch):
    import run

    house = run.Mutants(tmp_path)
    cache = house.build / "CMakeCache.txt"
    cache.parent.mkdir()
    cache.write_text("CMAKE_CACHEFILE_DIR:INTERNAL=/elsewhere\n")
    (house.tree / ".deps").symlink_to("/elsewhere/.deps")
    monkeypatch.setattr(run, "sources", list)
    monkeypatch.setattr(house, "must", lambda words: "")
    house.configure()
    assert not cache.exists()
    assert (house.tree / ".deps").exists() == (ROOT / ".deps").exists()


def test_what_their_tests_need_is_known():
    import run

    programs = {
        arguments.split()[0]
        for each in MUTATIONS
        for kind, arguments in each.tests
        if kind == "pytest"
    }
    assert programs
    assert [name for name in programs if not name.startswith(tuple(run.PYTEST_TARGETS))] == []


def test_tests_that_are_to_catch_them_exist():
    names = gtest_names()
    missing = []
    for each in MUTATIONS:
        for kind, arguments in each.tests:
            found = {
                "unit": lambda arguments=arguments: matches(arguments, names),
                "threads": lambda arguments=arguments: matches(arguments, names),
                "fuzz": lambda arguments=arguments: (
                    ROOT / "tests" / "fuzz" / f"fuzz_{arguments}.cpp"
                ).exists(),
                "pytest": lambda arguments=arguments: (
                    ROOT / re.split(r"::| ", arguments)[0]
                ).exists(),
            }.get(kind, lambda: False)()
            if not found:
                missing.append(f"{each.name}: {kind} {arguments}")
    assert not missing, "\n".join(missing)


def test_a_mutation_that_does_not_fit_is_told():
    text = "# It is broken.\n# rule: a rule\n# test: unit A.B\n--- {}\n-  one\n+  two\n"
    good = mutation.parse("area/name", text.format("file"))
    assert (good.title, good.rule, good.tests) == ("It is broken.", "a rule", [("unit", "A.B")])
    assert good.parts[0].original == "  one\n" and good.parts[0].replacement == "  two\n"
    for wrong in (
        text.replace("# rule: a rule\n", ""),
        text.replace("-  one\n", ""),
        text.replace("+  two", "+  one"),
        text + "three\n",
    ):
        with pytest.raises(mutation.Stale):
            mutation.parse("area/name", wrong)


def test_whole_lines_are_changed_once_and_given_back(tmp_path):
    source = tmp_path / "file"
    source.write_text("  one\nthe  one\n  two\n")
    part = mutation.Part("file", "  one\n", "  zero\n")
    each = mutation.Mutation("area/name", "", "", [], [part])
    before = each.apply(tmp_path)
    assert source.read_text() == "  zero\nthe  one\n  two\n" and before == {
        source: "  one\nthe  one\n  two\n"
    }
    source.write_text("  one\n  one\n")
    with pytest.raises(mutation.Stale, match="2 times"):
        each.apply(tmp_path)
    assert source.read_text() == "  one\n  one\n"
