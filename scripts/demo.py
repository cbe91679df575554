"""The demo: local clustering coefficients over TCP, uncached and cached, with the same binary
(started by ./demo)."""

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from console import DEPS, ROOT, Failed, Status, build_targets, configure, configured, told

BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "python"))


def arguments():
    parser = argparse.ArgumentParser(
        prog="./demo",
        description="Runs local clustering coefficients of a graph over TCP, "
        "first uncached, then with Nearcache preloaded into the same binary, and compares.",
    )
    parser.add_argument(
        "--scale", type=int, default=14, metavar="S", help="R-MAT graph of 2^S vertices [14]"
    )
    parser.add_argument(
        "--edge-factor",
        type=int,
        default=16,
        metavar="N",
        help="edges per vertex of the R-MAT graph [16]",
    )
    parser.add_argument(
        "--graph",
        metavar="FILE",
        help="a graph from a file instead (edge list, Matrix Market, binary CSR)",
    )
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="MPI ranks [2]")
    parser.add_argument(
        "--mode",
        choices=["off", "transparent", "coherent", "always", "user"],
        help="mode of windows that name none; lcc's own window promises `always`",
    )
    given = parser.parse_args()
    if given.ranks < 2:
        parser.error("--ranks: at least 2, or nothing is remote")
    if given.graph and not Path(given.graph).is_file():
        parser.error(f"--graph: there is no file {given.graph}")
    return given


def find_launcher():
    """Return the launcher to use and its Mpi: MPICH 5 of .deps, else an MPI of the system, after a
    message that says so."""
    from nearcache import mpi

    own = DEPS / "mpich" / "bin" / "mpiexec"
    if own.exists():
        found = mpi.of_launcher(str(own))
        if found:
            return str(own), found
    for name in ("mpiexec.mpich", "mpiexec.openmpi", "mpiexec"):
        path = shutil.which(name)
        found = mpi.of_launcher(path) if path else None
        if found:
            print(
                f"demo: MPICH 5 from PyPI could not be installed (see .deps/pip-mpich.log); using {found.tag} ({path}) "
                "instead, so times will differ",
                flush=True,
            )
            return path, found
    raise Failed(
        "there is no MPI: PyPI's MPICH could not be installed (.deps/pip-mpich.log), and the system has none"
    )


def tcp_environment(found):
    """Return variables that make messages between ranks of one machine use TCP instead of shared
    memory."""
    if found.family == "openmpi":
        return {
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_osc": "^ucx",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
    return {
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_PROVIDER": "tcp",
        "UCX_TLS": "tcp,self",
    }


def build(tag):
    """Build what the demo needs; return the program."""
    log = BUILD / "log"
    BUILD.mkdir(exist_ok=True)
    log.write_text("")
    targets = [f"lcc.{tag}", f"nearcache_mpi.{tag}", "nearcache_tables_json"]
    with Status("building (Release)") as status:
        # An existing build folder keeps its settings.
        settings = (
            {
                "CMAKE_BUILD_TYPE": "Release",
                "NEARCACHE_BUILD_TESTS": "OFF",
                "NEARCACHE_BUILD_BENCH": "OFF",
            }
            if not configured(BUILD)
            else {}
        )
        configure(BUILD, settings, log)
        build_targets(BUILD, targets, log, status)
        status.done()
    return BUILD / "bin" / tag / "lcc"


def launch(command, title, environment):
    """Run a command and show the program's progress lines; return its standard output."""
    with Status(title) as status, tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env={**os.environ, **environment},
        )
        messages = []
        try:
            for line in process.stderr:
                line = line.strip()
                percent = line.rpartition("%")[0].split()[-1:] or [""]
                if line.startswith("lcc: "):
                    messages.append(line)
                    status.update(line[5:], int(percent[0]) if percent[0].isdigit() else None)
                elif line:
                    messages.append(line)
            process.wait()
        except BaseException:
            process.terminate()
            raise
        if process.returncode != 0:
            output.seek(0)
            raise Failed(
                f"{title} failed with exit code {process.returncode}: {' '.join(command)}\n"
                + "\n".join(messages[-20:])
                + output.read()[-2000:]
            )
        status.done()
        for line in messages:
            if not line.startswith("lcc: "):
                print(f"  {line}")


def run(launcher, found, program, given, folder, cached):
    """Run lcc once; return its summary."""
    name = "cached" if cached else "uncached"
    output, summary = folder / f"{name}.tsv", folder / f"{name}.json"
    words = [launcher, "-n", str(given.ranks)]
    if found.family == "openmpi":
        words += (
            ["--map-by", ":OVERSUBSCRIBE"] if found.version.startswith("5") else ["--oversubscribe"]
        )
    graph = (
        [str(Path(given.graph).resolve())]
        if given.graph
        else ["--rmat", str(given.scale), "--edge-factor", str(given.edge_factor)]
    )
    words += [str(program), *graph, "--output", str(output), "--json", str(summary), "--progress"]
    if cached:
        mode = ["--mode", given.mode] if given.mode else []
        words = [
            sys.executable,
            "-m",
            "nearcache",
            "run",
            "--report",
            str(folder / "report.json"),
            *mode,
            "--",
            *words,
        ]
    environment = {
        **tcp_environment(found),
        "NEARCACHE_HOME": str(BUILD),
        "PYTHONPATH": str(ROOT / "python"),
    }
    launch(words, f"{name} run on {given.ranks} ranks over TCP", environment)
    return json.loads(summary.read_text())


def same_results(folder, uncached, cached):
    """Return what differs between the runs, or None: summaries and every vertex's values, byte by
    byte."""
    for key in ("checksum", "triangles", "average_coefficient", "vertices", "edges"):
        if uncached.get(key) != cached.get(key):
            return f"{key}: {uncached.get(key)} uncached, {cached.get(key)} cached"
    if not filecmp.cmp(folder / "uncached.tsv", folder / "cached.tsv", shallow=False):
        return f"values of vertices ({folder}/uncached.tsv, {folder}/cached.tsv)"
    return None


def report(folder, uncached, cached):
    """Print the report and the closing line."""
    from nearcache import report as reports

    written = folder / "report.json"
    if not written.exists():
        raise Failed("the cached run wrote no report: was Nearcache really preloaded?")
    document = reports.load(str(written))
    print()
    reports.show(document, None if sys.stdout.isatty() else 120)
    print()
    print(
        f"triangles {uncached['triangles']:,}, average clustering coefficient {uncached['average_coefficient']:.4f}"
    )
    print(
        f"triangle counting alone: uncached {uncached['seconds_lcc']:.3f} s, cached {cached['seconds_lcc']:.3f} s, "
        f"{uncached['seconds_lcc'] / cached['seconds_lcc']:.1f}x"
    )
    slow, fast = uncached["seconds_total"], cached["seconds_total"]
    print(
        f"demo: speedup {slow / fast:.1f}x (uncached {slow:.3f} s, cached {fast:.3f} s, "
        f"hit rate {100 * reports.hit_rate(document['totals']):.1f}%)"
    )


def main():
    given = arguments()
    launcher, found = find_launcher()
    program = build(found.tag)
    folder = BUILD / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    uncached = run(launcher, found, program, given, folder, cached=False)
    cached = run(launcher, found, program, given, folder, cached=True)
    difference = same_results(folder, uncached, cached)
    if difference:
        raise Failed(f"the results differ: {difference}")
    print(
        f"results are identical: {uncached['vertices']:,} vertices, checksum {uncached['checksum']}"
    )
    report(folder, uncached, cached)


if __name__ == "__main__":
    try:
        main()
    except (Failed, OSError) as error:  # such as a build folder of another user
        sys.exit(f"demo: {told(error)}")
    except KeyboardInterrupt:
        sys.exit(130)
