# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have."""

import click

width = click.option(
    "--width", type=click.IntRange(min=60), help="Width of the text  [default: the terminal's]"
)
