"""`./test --lint` and scripts/format.sh: what is out of order is found, named, and put in order."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BAD = {
    "src/bad.cpp": "int  f( ){return 1 ;}\n",
    "python/bad.py": "import os\nx = 'text'\n",
    "scripts/bad.sh": "#!/bin/bash\necho $1\n",
}
BAD_TYPES = "def f() -> int:\n    return None\n"
GOOD = {
    "src/good.cpp": "int f() { return 1; }\n",
    "python/good.py": 'x = "text"\n',
    "scripts/good": '#!/bin/bash\necho "$1"\n',
}


@pytest.fixture
def tree(tmp_path):
    """A checkout with the stage's files, which uses our tools."""
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/lint.py", "scripts/tidy.py", "scripts/console.py", "scripts/format.sh"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, tmp_path / name)
    for name in (".clang-format", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".deps").symlink_to(ROOT / ".deps")
    (tmp_path / ".gitignore").write_text(".deps\n__pycache__\n.ruff_cache\n.mypy_cache\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def put(tree, files):
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)


def outcomes(tree, call="outcomes(quick=True)"):
    """(check, passed, files of ours that are named) of the quick checks."""
    code = (
        "import lint\n"
        f"for each in lint.{call}:\n"
        "    named = [n for n in ('bad.cpp', 'bad.py', 'bad.sh') if n in each.text]\n"
        "    print(each.check.name, each.passed, *named, sep='|')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env={"PYTHONPATH": str(tree / "scripts"), "PATH": "/usr/bin:/bin", "HOME": str(tree)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()]
    return {name: (passed, named) for name, passed, *named in rows}


def test_each_quick_check_names_the_file_that_is_out_of_order(tree):
    put(tree, BAD)
    found = outcomes(tree)
    wanted = {
        "layout of C and C++": "bad.cpp",
        "ruff check": "bad.py",
        "ruff format": "bad.py",
        "scripts": "bad.sh",
    }
    looked = 0
    for name, file in wanted.items():
        if found[name][0] != "None":  # the tool is here
            assert found[name] == ("False", [file]), name
            looked += 1
    if not looked:
        pytest.skip("none of the tools is here: scripts/setup.sh lint")


def test_types_of_python_are_compared_in_the_whole_package(tree):
    put(tree, {"python/nearcache/__init__.py": "", "python/nearcache/bad.py": BAD_TYPES})
    passed, named = outcomes(tree)["types of Python"]
    if passed == "None":
        pytest.skip("no mypy: scripts/setup.sh lint")
    assert (passed, named) == ("False", ["bad.py"])


def test_the_checks_beside_the_tests_find_the_same(tree):
    put(tree, {**BAD, "python/nearcache/__init__.py": "", "python/nearcache/bad.py": BAD_TYPES})
    found = outcomes(tree, "start_quick().result()")
    assert found == outcomes(tree)
    assert len(found) == 5 and all(passed != "True" for passed, _ in found.values())


def test_files_in_order_pass(tree):
    put(tree, GOOD)
    for name in ("layout of C and C++", "ruff check", "scripts"):
        assert outcomes(tree)[name][0] in ("True", "None"), name


def test_a_tool_that_is_not_here_is_said_to_be_missing_and_nothing_fails(tree):
    (tree / ".deps").unlink()
    put(tree, BAD)
    assert outcomes(tree)["ruff check"][0] == "None"


def test_format_puts_sources_in_order(tree):
    if not all((ROOT / ".deps/tools/bin" / name).exists() for name in ("ruff", "clang-format")):
        pytest.skip("no formatters: scripts/setup.sh lint")
    put(tree, {name: text for name, text in BAD.items() if not name.endswith(".sh")})
    (tree / "python/bad.py").write_text("x = 'text'\n")
    done = subprocess.run([tree / "scripts" / "format.sh"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tree / "src/bad.cpp").read_text() == "int f() { return 1; }\n"
    assert (tree / "python/bad.py").read_text() == 'x = "text"\n'


def test_clang_tidy_looks_for_what_the_list_says_also_in_headers(tree):
    tidy = ROOT / ".deps/tools/bin/clang-tidy"
    if not tidy.exists():
        pytest.skip("no clang-tidy: scripts/setup.sh lint")
    shutil.copy(ROOT / ".clang-tidy", tree)
    put(
        tree,
        {
            "src/base/bad.cpp": '#include "bad.h"\nint* none() { return 0; }\n',
            "src/base/bad.h": "inline bool same(bool x) { return x == true; }\n",
        },
    )
    done = subprocess.run(
        [tidy, "--quiet", "src/base/bad.cpp", "--", "-std=c++20"],
        cwd=tree,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "modernize-use-nullptr" in done.stdout
    assert "bad.h:1" in done.stdout and "readability-simplify-boolean-expr" in done.stdout
