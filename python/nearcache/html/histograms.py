"""Histograms of the sizes of gets and of how often keys are asked for (the paper's Fig. 2)."""

from ..report_counts import HITS_ARE_ESTIMATES, api
from . import bars, scale
from .parts import HALF, Figure, Section, Table, counted, drawings


def _between(rows, key, empty):
    """The rows with the empty classes between them: classes are powers of two, and 0."""
    by_class = {row[key]: row for row in rows}
    classes = sorted(by_class)
    if any(value < 0 or value & (value - 1) for value in classes):
        raise ValueError(f"classes {classes} are not powers of two")
    found = [by_class[0]] if classes[0] == 0 else []
    at = next((value for value in classes if value), 0)
    while at and at <= classes[-1]:
        found.append(by_class.get(at, {**empty, key: at}))
        at *= 2
    return found


def sizes(rows):
    rows = _between(rows, "bytes", {"gets": 0, "hits": 0})
    labels = [scale.whole_bytes(row["bytes"]) for row in rows]
    hits = [row["hits"] for row in rows]
    others = [max(0, row["gets"] - row["hits"]) for row in rows]
    y_ticks = scale.ticks(max(row["gets"] for row in rows))
    gets = sum(row["gets"] for row in rows)
    most = max(rows, key=lambda row: row["gets"])
    story = f"Most gets, {scale.percent(most['gets'] / gets if gets else 0)}, have at most {scale.whole_bytes(most['bytes'])} and more than half of that."

    def draw(width_class, width):
        return bars.chart(
            "sizes",
            width_class,
            width,
            "Gets by size",
            story,
            y_ticks,
            labels,
            lambda frame: bars.stacked(frame, [("bar hits_full", hits), ("bar other", others)]),
        )

    cells = [
        [
            label,
            counted(row["gets"]),
            counted(row["hits"]),
            scale.percent(row["hits"] / row["gets"]) if row["gets"] else "-",
        ]
        for label, row in zip(labels, rows)
    ]
    tips = [[f"up to {row[0]}", f"{row[1]} gets", f"{row[2]} hits ({row[3]})"] for row in cells]
    return Figure(
        "sizes",
        "Sizes of gets",
        "Gets by size; each class holds the sizes up to its label and above half of it.",
        drawings(HALF, draw),
        Table(
            "Gets by size",
            [
                ("size up to", "text"),
                ("gets", "number"),
                ("hits", "number"),
                ("hit ratio", "number"),
            ],
            cells,
        ),
        [
            ("bar hits_full", "hits", scale.percent(sum(hits) / gets) if gets else ""),
            ("bar other", "other gets", ""),
        ],
        tips,
    )


def repeats(classes):
    """Share of gets that ask again for what was asked for before, 0..1; None without gets."""
    gets = sum(row["gets"] for row in classes)
    return max(0.0, 1 - sum(row["keys"] for row in classes) / gets) if gets else None


def reuse(part):
    rows = _between(part["classes"], "times", {"keys": 0, "gets": 0})
    keys, gets = (sum(row[name] for row in rows) or 1 for name in ("keys", "gets"))
    labels = [scale.class_text(row["times"]) for row in rows]
    shares = [
        [row[name] / whole for row in rows] for name, whole in (("keys", keys), ("gets", gets))
    ]
    once = next((row["keys"] for row in rows if row["times"] == 1), 0) / keys
    story = (
        f"{scale.percent(once)} of the keys were asked for once by a rank; {scale.percent(repeats(rows) or 0)} of the gets "
        f"repeat an earlier one of the same rank."
    )
    y_ticks = _share_ticks(max(max(values) for values in shares))

    def draw(width_class, width):
        return bars.chart(
            "reuse",
            width_class,
            width,
            "Reuse of keys",
            story,
            y_ticks,
            labels,
            lambda frame: bars.beside(frame, [("bar keys", shares[0]), ("bar gets", shares[1])]),
        )

    cells = [
        [label, counted(row["keys"]), scale.percent(k), counted(row["gets"]), scale.percent(g)]
        for label, row, k, g in zip(labels, rows, *shares)
    ]
    tips = [
        [f"asked for {row[0]} times", f"keys: {row[1]} ({row[2]})", f"gets: {row[3]} ({row[4]})"]
        for row in cells
    ]
    sampled = part.get("sampled", 1)
    about = "How often a rank asks for the same key (place in a window): share of the keys, and of the gets that ask for them."
    if sampled < 1:
        about += f" Estimated from {100 * sampled:.2g}% of the keys."
    columns = [
        ("asked for, times", "text"),
        ("keys", "number"),
        ("of keys", "number"),
        ("gets", "number"),
        ("of gets", "number"),
    ]
    return Figure(
        "reuse",
        "Reuse",
        f"{about} {story}",
        drawings(HALF, draw),
        Table("Keys by how often a rank asks for them", columns, cells),
        [("bar keys", "share of keys", ""), ("bar gets", "share of gets", "")],
        tips,
    )


def _share_ticks(top):
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.25) if step * 5 >= top or step == 0.25)
    return [
        (i * step, f"{round(100 * i * step)}%")
        for i in range(min(int(top / step - 1e-9) + 2, round(1 / step) + 1))
    ]


def section(document):
    """Sizes and reuse, whichever are there. Caches of pages know no keys."""
    details = document.get("details")
    part = Section("locality", "What is asked for")
    shmem = api(document) == "OpenSHMEM"
    rows, again = (details or {}).get("sizes"), (details or {}).get("reuse") or {}
    if rows:
        part.figures.append(sizes(rows))
        if shmem:
            part.words = [HITS_ARE_ESTIMATES]
    if again.get("classes"):
        part.figures.append(reuse(again))
    absent = [
        name
        for name, there in (
            ("sizes of gets", rows),
            ("reuse of keys", shmem or again.get("classes")),
        )
        if not there
    ]
    part.missing = " and ".join(absent)
    return part
