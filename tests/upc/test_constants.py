"""What the translator takes integer constant expressions for: the values of C, which the C compiler is asked for as well."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pycparser", minversion="3.0")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from nearcache.upcc import lower, parser, printer  # noqa: E402

DECLARATIONS = """\
enum { FEW = 5, MANY = 0x100000000, NONE = -1 };
enum small { SMALL };
struct pair { char c; double d; };
struct wave { char c; double _Complex z; };
"""
# On a machine with ints of 4 bytes and longs of 8.
VALUES = {
    "sizeof(int) - 5 > 0": 1,
    "(unsigned char) ~0": 255,
    "(signed char) 200 + 300": 244,
    "(_Bool) 0.5 + 2": 3,
    "-1 < 0u": 0,
    "-1 < 0l": 1,
    "~0u >> 28": 15,
    "~0ul >> 60": 15,
    "(0xffffffff + 1 == 0) + 1": 2,
    "(4294967295 + 1 == 0) + 1": 1,
    "-7 / 2 + 10": 7,
    "-7 % 4 + 10": 7,
    "(int) 3.99": 3,
    "0b101": 5,
    "0B11 + 010": 11,
    "'a'": 97,
    "'\\n'": 10,
    "'\\12' + 1": 11,
    "1 ? 2 : 1 / 0": 2,
    "0 && 1 / 0": 0,
    "1 || 1 / 0": 1,
    "(1 ? -1 : 0u) > 5": 1,
    "FEW * 3": 15,
    "MANY >> 31": 2,
    "sizeof(MANY) > 4 ? 7 : 8": 7,
    "NONE + 4": 3,
    "(unsigned short) NONE": 65535,
    "sizeof(struct pair)": 16,
    "_Alignof(struct pair)": 8,
    "sizeof(struct wave)": 24,
    "sizeof(struct pair[3])": 48,
    "!NONE": 0,
    "!0.0 + 4": 5,
    "-(-6)": 6,
    "+'\\x41'": 65,
    "(unsigned) -1 / 0x10000000": 15,
    "(long) -1 / 0x10000000 + 3": 3,
    "1ull << 20 >> 18": 4,
    "10 - 3u": 7,
}


def block_size(expression, **options):
    """The block size that a layout of this expression has in the C text."""
    text = f"{DECLARATIONS}shared [{expression}] int a[2];"
    printed = printer.print_file(lower.lower(parser.parse(text, "t.upc"), threads=2, **options))
    return re.search(r'ncupc_place\(&a, "a", sizeof\(int\), 2, (.*), NCUPC_HERE\);', printed)[1]


@pytest.mark.parametrize("expression", VALUES)
def test_value_of_a_constant_expression(expression):
    left_to_the_compiler = {"!0.0 + 4", "sizeof(MANY) > 4 ? 7 : 8"}
    found = block_size(expression)
    assert (
        found == str(VALUES[expression])
        or expression in left_to_the_compiler
        and not found.isdigit()
    )


def test_the_values_are_those_of_the_c_compiler(tmp_path):
    lines = [
        f'_Static_assert(({expression}) == {value}, "");' for expression, value in VALUES.items()
    ]
    (tmp_path / "values.c").write_text(DECLARATIONS + "\n".join(lines) + "\n")
    done = subprocess.run(
        [shutil.which("cc"), "-w", "-fsyntax-only", tmp_path / "values.c"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "expression",
    [
        "2147483647 + 1",
        "1 << 31",
        "-2147483647 - 2",
        "1 / 0",
        "1 % 0",
        "1 << 40",
        "'\\xff'",
        "'ab'",
        "'\\n1'",
        "'\\0123'",
    ],
)
def test_what_c_leaves_open_is_left_to_the_compiler(expression):
    assert not block_size(expression).isdigit()


@pytest.mark.parametrize(
    "option, expression",
    [
        ("-fpack-struct", "sizeof(struct pair)"),
        ("-fpack-struct=2", "sizeof(struct wave[2])"),
        ("-fshort-enums", "sizeof(enum small)"),
        ("-mlong-double-64", "sizeof(long double)"),
        ("-mlong-double-128", "sizeof(struct { long double _Complex z; })"),
    ],
)
def test_sizes_that_an_option_changes_are_left_to_the_compiler(option, expression):
    assert not block_size(expression, options=["-O2", option]).isdigit()
    assert block_size(expression, options=["-O2"]).isdigit()
