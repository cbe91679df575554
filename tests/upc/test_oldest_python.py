"""The modules that upcc and upcrun start with can be read by Python 3.9, that of the other commands: upcrun runs with it, and upcc says in words which one it needs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[2] / "python"
LOADED = """
import sys
import nearcache.upcc.driver, nearcache.upcc.upcrun
print(*(each.__file__ for name, each in sys.modules.items() if name.startswith("nearcache")), sep="\\n")
"""


def unions(tree):
    """The annotations of the form X | Y that are evaluated when the module is imported."""
    if any(isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in tree.body):
        return
    for node in ast.walk(tree):
        annotations = [getattr(node, name, None) for name in ("annotation", "returns")]
        for part in [part for each in annotations if each for part in ast.walk(each)]:
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
                yield f"line {part.lineno}: {ast.unparse(part)}"


def test_modules_loaded_before_the_version_is_checked_are_of_the_oldest_python():
    path = os.pathsep.join([str(PYTHON), os.environ.get("PYTHONPATH", "")])
    listed = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    files = [Path(line) for line in listed.split("\n") if line]
    assert {"upcrun.py", "driver.py", "cli.py"} <= {file.name for file in files}
    found = {
        file.name: [*unions(ast.parse(file.read_text(), feature_version=(3, 9)))] for file in files
    }
    assert not {name: lines for name, lines in found.items() if lines}
