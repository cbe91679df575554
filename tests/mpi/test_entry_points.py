"""The table of MPI's entry points, without running anything."""
import re
import sys

from support import launch

SOURCES = launch.ROOT / "src" / "mpi"
sys.path.insert(0, str(SOURCES / "entry"))
from entry_point_rows import read_table  # noqa: E402


def rows(kind):
    return [row for row in read_table(SOURCES / "entry" / "entry_points.txt") if row.kind == kind]


def test_no_function_is_asked_for_that_is_never_called():
    """A library that lacks it would be left uncached for nothing."""
    text = "".join(path.read_text() for path in SOURCES.rglob("*") if path.suffix in (".cpp", ".h", ".py"))
    assert [row.symbol for row in rows("next") if not re.search(rf"\b(next|below)\.{row.name}\b", text)] == []
