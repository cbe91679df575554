# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache doctor`: finds MPIs, OpenSHMEMs and preload objects, tests each, and reports what is
wrong.

checks.py     what there must be: environment, home, objects, UPC, known defects
launchers.py  finds launchers, and the one of an object's MPI
selftest.py   runs an object's self-test, over each fabric of the RMA engine too
"""

from .checks import examine

__all__ = ["examine"]
