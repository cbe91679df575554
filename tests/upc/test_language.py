"""The language suite: programs by section of the UPC specification, each checks one rule. language_programs.py says how they are written.

A run of ./test starts each program once, in a combination of threads, kind of THREADS, network and cache that its name chooses;
./test --long starts it in every combination.
"""

import re

import pytest
from support import launch_upc
from support.upc import language_programs, language_suite

pytestmark = launch_upc.needs_upc

_programs = None


def all_programs():
    global _programs
    if _programs is None:
        folder = launch_upc.folder() / "language"
        folder.mkdir(exist_ok=True)
        _programs = language_programs.handwritten() + language_programs.generated(
            folder / "sources"
        )
    return _programs


def pytest_generate_tests(metafunc):
    if "program" in metafunc.fixturenames:
        told = metafunc.function.__name__ == "test_told"
        programs = [each for each in all_programs() if each.told == told]
        metafunc.parametrize("program", programs, ids=[each.name for each in programs])


@pytest.fixture(scope="session")
def suite(request):
    """What is asked for is compiled and run all at once."""
    chosen = {
        item.callspec.params["program"].name
        for item in request.session.items
        if getattr(item, "callspec", None)
        and "program" in item.callspec.params
        and item.path.name == "test_language.py"
    }
    programs = [each for each in all_programs() if each.name in chosen]
    return language_suite.Suite(
        programs, language_suite.long_run(), launch_upc.folder() / "language"
    )


def test_told(suite, program):
    """Each line with a wanted error or warning has one that says so, and no other line has one."""
    check_told(program, suite.diagnostics[program.name])


def check_told(program, told):
    assert (told.code != 0) == bool(program.errors), told.messages or "accepted"
    assert "internal error" not in told.messages, told.messages
    for found, wanted in ((told.errors, program.errors), (told.warnings, program.warnings)):
        assert set(found) == set(wanted), told.messages
        for line, pattern in wanted.items():
            assert any(re.search(pattern, text) for text in found[line]), told.messages


def test_program(suite, program):
    check_program(suite, program)


def check_program(suite, program):
    for combination in language_suite.combinations(program, suite.long):
        static = combination.threads if combination.static else 0
        compiled, messages = suite.objects[program.name, static]
        assert compiled, f"{combination}:\n{messages}"
        check(program, suite.results[program.name, combination], combination)


def check(program, outcome, combination):
    shown = f"{combination}: exit code {outcome.code}\n{outcome.messages}\n{outcome.output}\n{outcome.command}"
    if program.ends:
        assert outcome.code is not None, f"hangs: {shown}"
        assert outcome.code == program.exit if program.exit is not None else outcome.code != 0, (
            shown
        )
        if program.abort is not None:
            wanted = rf"upc: thread \d+: \S*{program.path.name}:\d+: .*{program.abort}"
            assert re.search(wanted, outcome.messages), f"no message that matches {wanted}: {shown}"
    else:
        assert outcome.done, shown
        assert outcome.failed == 0 and not outcome.messages, shown
    assert [line for line in outcome.output.split("\n") if line] == program.expected, shown


# Where a C compiler may take a mistake for what is meant while a pointer to shared is a number.
STRUCT_FORM = {"6-c/scalars_in_braces", "6.5.1-qualifiers/array_parameter_by_typedef"}


def test_pointers_of_the_struct_form():
    """The same sources with the other form of pointers to shared; some of them, or all under --long."""
    programs = [
        each
        for each in all_programs()
        if not each.told
        and (language_suite.long_run() or each.hash("struct") % 10 == 0 or each.name in STRUCT_FORM)
    ]
    suite = language_suite.Suite(
        programs, False, launch_upc.folder() / "language-struct", ["--struct-pointers"]
    )
    for program in programs:
        check_program(suite, program)


FAILING = """#include "check.h"
int main(void) { CHECK(MYTHREAD == 0); return check_failures; }
"""
CRASHING = """#include <stdlib.h>
int main(void) { upc_barrier; abort(); }
"""
GOOD = """#include "check.h"
int main(void) { CHECK_EQ(THREADS, 2); return check_failures; }
"""


def test_a_program_that_fails_does_not_hide_the_others(tmp_path):
    programs = []
    for name, text in (("failing", FAILING), ("crashing", CRASHING), ("good", GOOD)):
        (tmp_path / f"{name}.upc").write_text(text)
        programs.append(language_programs.read(tmp_path / f"{name}.upc", name))
    objects = [language_suite.compile_program(each, 0, tmp_path)[0] for each in programs]
    executable = language_suite.link(programs, objects, 0, tmp_path / "all")
    found = language_suite.outcomes(
        executable, language_suite.Combination(2, False, language_suite.MEMORY), programs
    )
    assert (found["failing"].done, found["failing"].failed) == (True, 1)
    assert "failing.upc:2: thread 1: CHECK failed: MYTHREAD == 0" in found["failing"].messages
    assert not found["crashing"].done and found["crashing"].code != 0
    assert (found["good"].done, found["good"].failed, found["good"].messages) == (True, 0, "")


def test_there_are_enough_programs():
    assert len(language_programs.handwritten()) >= 300


def test_every_combination_is_run():
    """The hashes of the names spread the programs over all combinations of a short run."""
    run = [program for program in all_programs() if not program.told and not program.ends]
    used = {each for program in run for each in language_suite.combinations(program, False)}
    assert used == set(language_suite.FEW)
