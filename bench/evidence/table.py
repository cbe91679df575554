# SPDX-License-Identifier: BSD-3-Clause
"""The tables behind figures: CSV written once and read by plots, page and tests."""

import csv


def flat(row):
    """Split each median with its interval into three columns; the number of repetitions is recorded
    elsewhere."""
    result = {}
    for name, value in row.items():
        if isinstance(value, dict) and "median" in value:
            low, high = value["ci95"]
            result.update({name: value["median"], f"{name}_low": low, f"{name}_high": high})
        else:
            result[name] = value
    return result


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return (
        f"{value:.6g}"
        if isinstance(value, float) and not value.is_integer()
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value)
    )


def number(word):
    if word in ("", "true", "false"):
        return {"": None, "true": True, "false": False}[word]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word


def write(path, rows):
    rows = [flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows([text(row.get(name)) for name in columns] for row in rows)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{name: number(word) for name, word in row.items()} for row in csv.DictReader(file)]


def where(rows, **wanted):
    """Return the rows whose columns have these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def ratio(before, after):
    """Return before / after; None if there is no `before` because that run failed."""
    return None if before is None else before / after


def values(rows, name):
    """Return a column's distinct values in order of appearance."""
    return list(dict.fromkeys(row[name] for row in rows))
