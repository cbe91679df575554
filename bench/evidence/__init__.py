"""Reproduces the figures of the CLaMPI paper: measurements, CSV, plots and the page
docs/evidence.md."""
