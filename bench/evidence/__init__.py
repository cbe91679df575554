"""Makes the figures of the CLaMPI paper anew: measurements, CSV, plots and the page docs/evidence.md."""
