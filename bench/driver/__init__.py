"""Drives the measuring programs of bench/programs and turns their samples into tables and JSON."""
