# SPDX-License-Identifier: BSD-3-Clause
"""upcc: translates UPC 1.3 to C with calls to the runtime on OpenSHMEM."""
