"""Families of programs of the language suite: what is written once here and tried with every type, layout or operator."""

from . import (
    layouts,
    operators,
    pointers,
    random_programs,
    reductions,
    refused,
    side_effects,
    work_sharing,
)

MEMBERS = (
    operators,
    layouts,
    pointers,
    side_effects,
    work_sharing,
    random_programs,
    reductions,
    refused,
)


def programs():
    """(name, source) of each."""
    for member in MEMBERS:
        yield from member.programs()
