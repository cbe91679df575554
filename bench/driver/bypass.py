"""What Nearcache adds to a call when it has nothing to do."""
from .numbers import paired_difference, summarise


def measure(launch, arguments):
    flags = {"blocks": 1000 if arguments.quick else 5000}
    loaded = launch.build.preload().exists()
    rows = launch.rows("bench_bypass", flags, network="shared", cached=loaded)
    rows += launch.rows("bench_bypass", {**flags, "environment": "off-by-environment"}, network="shared",
                        cached=loaded, options={"mode": "off"})
    results = [result_row(row) for row in rows]
    # The rows of MPI_Test are shown, but the figure is that of the get and its flush.
    added = [r["added_per_call_ns"]["median"] for r in results if not r["case"].startswith("test-")]
    return results, {"bypass_added_ns": max(added) if loaded else None}, {}


def result_row(row):
    gets = max(1, row["gets"])
    calls = 1 if row["case"].startswith("test-") else 2  # the program divides the pair's time by its calls
    return {"case": row["case"], "size": int(row["size"]), "calls": calls, "with_ns": summarise(row["with_ns"]),
            "without_ns": summarise(row["without_ns"]),
            "added_per_call_ns": paired_difference(row["with_ns"], row["without_ns"]),
            "hit_share": row["hits_full"] / gets}
