# SPDX-License-Identifier: BSD-3-Clause
"""All studies in the order of measurement: the shortest of each paper first, so that mistakes show
soon."""

from . import (
    access,
    adaptive,
    barnes_hut,
    lcc,
    locality,
    one_sided_applications,
    one_sided_sizes,
    one_sided_synchronisation,
    overlap,
    peers,
    remote_data,
    scaling,
    sharing,
    upc,
    victims,
)

STUDIES = (
    victims.STUDY,
    locality.STUDY,
    access.STUDY,
    overlap.STUDY,
    peers.STUDY,
    sharing.STUDY,
    adaptive.STUDY,
    barnes_hut.STUDY,
    lcc.STUDY,
    scaling.STUDY,
    remote_data.SYNTHETICS,
    remote_data.PROGRAMS,
    one_sided_sizes.STUDY,
    one_sided_synchronisation.STUDY,
    *one_sided_applications.STUDIES,
    upc.TRANSFER_STUDY,
    upc.KERNEL_STUDY,
)


def figures():
    """Return every figure with its study, in the paper's order, followed by tables."""
    found = [(figure, study) for study in STUDIES for figure in study.figures]
    return sorted(
        found,
        key=lambda pair: (
            not pair[0].number.isdigit(),
            int(pair[0].number) if pair[0].number.isdigit() else 0,
        ),
    )


def of(numbers):
    """Return the studies that make these figures; all if none are given. Raises ValueError with the
    name of an unknown figure."""
    known = {figure.number: study for figure, study in figures()}
    unknown = [number for number in numbers if number not in known]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: there are {', '.join(known)}")
    return [
        study
        for study in STUDIES
        if not numbers or any(known[number] is study for number in numbers)
    ]
