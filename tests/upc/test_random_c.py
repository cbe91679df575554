"""Random C computes the same with shared objects as with private ones: every operator, through every kind of lvalue and layout."""

import shutil
import subprocess

import pytest
from support import launch, launch_upc
from support.upc import random_c

pytestmark = launch_upc.needs_upc

# seed, threads, over the network, options: a default run has one of each kind.
DEFAULT = [(1, 3, False, ()), (2, 2, True, ("--struct-pointers",)), (3, 1, False, ("--strict",))]
LONG = [
    (
        seed,
        seed % 4 + 1,
        seed % 2 == 0,
        (("--struct-pointers",) if seed % 3 == 0 else ())
        + (("--strict",) if seed % 5 == 0 else ()),
    )
    for seed in range(4, 44)
]


@pytest.mark.parametrize(
    "seed, threads, tcp, options",
    [*DEFAULT, *(pytest.param(*each, marks=pytest.mark.long) for each in LONG)],
)
def test_shared_objects_compute_what_private_ones_do(tmp_path, seed, threads, tcp, options):
    text = random_c.program(seed, 40 if launch.LONG else 25)
    private = tmp_path / "private.c"
    private.write_text(text)
    subprocess.run(
        [shutil.which("cc"), "-w", "-O1", "-fwrapv", "-o", tmp_path / "private", private],
        check=True,
        timeout=120,
    )
    wanted = subprocess.run(
        [tmp_path / "private"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert len(set(wanted.split())) > 100, "the program does nothing"
    program = launch_upc.upcc(text, "-w", "-O1", "-fwrapv", f"-T={threads}", *options)
    assert launch_upc.run(program, threads, tcp=tcp).check().stdout == wanted
