"""The simulated network of `bench/run scale`."""
