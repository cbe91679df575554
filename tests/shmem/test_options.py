"""Every option of the page cache at both ends of its range, and one beyond: what programs read is right all the same."""

import pytest
from support import launch_shmem

CASE = "own_puts_are_read_back"
LEAST = {"SIZE": "2k", "PAGE": "256", "LINE": "4", "DIRTY_PAGES": "1", "READAHEAD": "0"}
MOST = {
    "SIZE": "64G",
    "PAGE": "64k",
    "LINE": "64k",
    "DIRTY_PAGES": "32767",
    "READAHEAD": "1G",
    "MAX_TRANSFER": "1G",
}


def run(shmem, values, **more):
    env = {f"NEARCACHE_SHMEM_{name}": value for name, value in values.items()}
    return launch_shmem.run(shmem, 2, "shmem_front", CASE, env={**env, **more}).check().output


@pytest.mark.parametrize(
    "values, more",
    [(LEAST, {}), ({**MOST, "SIZE": "64M"}, {"NEARCACHE_MAX_STORAGE": "1024T"})],
    ids=["least", "most"],
)
def test_ends_of_every_range_work(shmem, preload_shmem, values, more):
    assert "not allowed" not in run(shmem, values, **more)


def test_what_is_beyond_a_range_is_said_with_what_is_allowed(shmem, preload_shmem):
    beyond = {"DIRTY_PAGES": "65536", "READAHEAD": "2G", "MAX_TRANSFER": "2G"}
    # each in its range, but not with the others
    together = {"PAGE": "64k", "LINE": "64", "SIZE": "64k"}
    output = run(shmem, {**beyond, **together})
    for name, value in beyond.items():
        assert (
            f"NEARCACHE_SHMEM_{name}: shmem_{name.lower()}: '{value}' is not allowed; allowed: "
            in output
        )
    assert (
        "shmem_line: '64' is not allowed; allowed: a power of two from 1024 to 65536 (a page)"
        in output
    )
    assert "shmem_size: '65536' is not allowed; allowed: at least 524288 bytes (8 pages)" in output
