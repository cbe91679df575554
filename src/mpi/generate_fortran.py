"""The Fortran entry points of entry_points.txt's rows: which symbols, and their code."""


def entries(rows, family):
    return []


def source(fortran, family):
    return ""
