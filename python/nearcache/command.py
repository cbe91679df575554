"""Finds the program in a launcher's command line: `timeout 60 mpiexec -n 4 --bind-to core numactl -N 0 ./app args`.

parse(words) -> Command; each of its Programs says where its words start, so that a preload can be put there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest

LAUNCHERS = re.compile(
    r"(mpiexec|mpirun|oshrun|shmemrun|orterun|prterun|prun|srun|aprun|jsrun|ibrun|smpirun|hydra_mpiexec)([.\-_].*)?"
)

# Options of the launchers that take values, without their leading dashes. Words after an option that is not listed are
# values as long as they are not programs.
ONE_VALUE = set(
    """
    n np c N f hostfile machinefile machine-file default-hostfile host hosts H wdir wd path iface ppn perhost launcher
    bootstrap launcher-exec bootstrap-exec rmk bind-to map-by rank-by membind env-file envlist genvlist configfile
    x nodes ntasks nperhost npernode npersocket timeout tune am app prefix report-uri output-filename output
    stdin max-restarts cpus-per-proc cpus-per-rank cpu-set cpu-list oversubscribe-limit demangle ranks-on personality
    ntasks-per-node cpus-per-task nodelist w p partition A account t time J job-name mpi cpu-bind mem mem-per-cpu
    gpus gres constraint C o e i error input jobid reservation export distribution m exclude D chdir qos
    hostlist nrs rs_per_host tasks_per_rs cpu_per_rs gpu_per_rs platform cfg localhost
    prepend-pattern task-prolog task-epilog prolog epilog launch-agent
""".split()
)
TWO_VALUES = {"mca", "gmca", "omca", "pmca", "prtemca", "genv", "env"}
JOINED_VALUES = {"genv", "env"}  # may also be given as one word
# Open MPI's -c and -N take a value, so do hydra's; hydra's -env takes a name and a value.
NO_VALUE = set(
    """
    v verbose V version help h q-quiet quiet tag-output oversubscribe nooversubscribe nolocal display-map display-allocation
    report-bindings allow-run-as-root l prepend-rank genvall genvnone envall envnone exclusive u
    unbuffered label O overcommit K k no-kill bynode byslot bycore preload-binary stream-buffering
""".split()
)

# Programs that run another one given as their first non-option word. Their options that take a value are listed, and
# the number of leading words that are not options.
WRAPPERS = {
    "env": ({"-u", "--unset", "-C", "--chdir"}, 0),
    "numactl": (set(), 0),
    "taskset": (set(), 1),
    "nice": ({"-n", "--adjustment"}, 0),
    "ionice": ({"-c", "-n"}, 0),
    "timeout": ({"-s", "--signal", "-k", "--kill-after"}, 1),
    "stdbuf": ({"-i", "-o", "-e"}, 0),
    "setarch": (set(), 1),
    "time": ({"-f", "-o"}, 0),
    "nohup": (set(), 0),
    "setsid": (set(), 0),
    "chrt": ({"-T", "-P", "-D"}, 1),
    "exec": (set(), 0),
}
NUMACTL_VALUES = re.compile(
    r"-[iwNmpPC]|--(interleave|weighted-interleave|cpunodebind|membind|preferred|preferred-many|physcpubind)"
)
# These look at the program from outside: the preload goes before them.
OBSERVERS = {"valgrind", "gdb", "perf", "strace", "ltrace", "xterm"}
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.S)


@dataclass
class Program:
    """A program in a command line: `at` is the index of the word before which a preload belongs, `start` the program's own."""

    at: int
    start: int
    assignments: dict[str, str] = field(default_factory=dict)  # of an `env` before it


@dataclass
class Command:
    words: list[str]
    launcher: str = ""  # "" when the program is started without one
    programs: list[Program] = field(default_factory=list)
    config_file: bool = False  # the programs stand in a file, not on the command line


def locate(word: str, path: str | None = None) -> str | None:
    """The file that a word starts: a path, or a name in PATH; None if there is no such program."""
    if "/" in word:
        return word if os.path.isfile(word) and os.access(word, os.X_OK) else None
    return shutil.which(word, path=path)


def _locate_in_launcher(word: str) -> str | None:
    # Launchers also find programs in the working directory.
    return locate(word) or (locate("./" + word) if "/" not in word else None)


def _is_program_of_setarch(word: str) -> bool:
    """Not an architecture, which may be left out; some of these are commands, too, that are setarch itself."""
    path = locate(word)
    return path is not None and os.path.basename(os.path.realpath(path)) != "setarch"


def _skip_wrapper(words: list[str], at: int, end: int) -> tuple[int, dict[str, str]]:
    """The index after a wrapper's own words at `at`, and the variables that it sets."""
    name = os.path.basename(words[at])
    valued, leading = WRAPPERS[name]
    assignments = {}
    at += 1
    while at < end:
        word = words[at]
        assignment = ASSIGNMENT.fullmatch(word) if name == "env" else None
        if assignment:
            assignments[assignment[1]] = assignment[2]
        elif word == "--":
            at += 1
            break
        elif word.startswith("-"):  # that of `env -`, too
            if word in valued or (name == "numactl" and NUMACTL_VALUES.fullmatch(word)):
                at += 1
        elif name == "taskset" and leading and "-c" in words[:at] and leading == 1:
            leading = 0  # taskset -c LIST program: the list
        elif leading and not (name == "setarch" and _is_program_of_setarch(word)):
            leading -= 1
        else:
            break
        at += 1
    return at, assignments


def _unwrap(words: list[str], at: int, end: int) -> tuple[int, dict[str, str]]:
    """Skips wrappers from `at` on: (index of what they run, variables set)."""
    assignments = {}
    while at < end and os.path.basename(words[at]) in WRAPPERS:
        at, more = _skip_wrapper(words, at, end)
        assignments.update(more)
    return at, assignments


def _program(words: list[str], at: int, end: int) -> Program | None:
    start, assignments = _unwrap(words, at, end)
    preload_at = start
    while start < end and os.path.basename(words[start]) in OBSERVERS:
        start += 1
        while start < end and (words[start].startswith("-") or not locate(words[start])):
            start += 1
        start, more = _unwrap(words, start, end)
        assignments.update(more)
    return Program(preload_at, start, assignments) if start < end else None


def _after_launcher_options(words: list[str], at: int, end: int) -> int:
    """The index of the program's first word, after a launcher's options."""
    while at < end:
        word = words[at]
        if word == "--":
            return at + 1
        if not word.startswith("-") or word == "-":
            return at
        name = word.lstrip("-")
        at += 1
        if "=" in name or name in NO_VALUE:
            continue
        if name in TWO_VALUES:
            joined = name in JOINED_VALUES and at < end and "=" in words[at]  # -genv NAME=VALUE
            at += 1 if joined else 2
        elif name in ONE_VALUE:
            at += 1
        else:
            while at < end and not words[at].startswith("-") and not _locate_in_launcher(words[at]):
                at += 1
    return at


def _set_by_launcher(words: list[str]) -> dict[str, str]:
    """The variables that a launcher's own options give its ranks: -x A=1, -env A 1, -genv A=1, --export=ALL,A=1."""
    texts = []
    for option, *values in zip_longest(words, words[1:], words[2:], fillvalue=""):
        name, _, joined = option.lstrip("-").partition("=") if option.startswith("-") else ("",) * 3
        if name in JOINED_VALUES:
            texts.append(values[0] if "=" in values[0] else "=".join(values))
        elif name == "x":
            texts.append(values[0])
        elif name == "export":
            texts += (joined or values[0]).split(",")
    found = (ASSIGNMENT.fullmatch(text) for text in texts)
    return {each[1]: each[2] for each in found if each}


def parse(words: Iterable[str]) -> Command:
    """The Command of a list of words."""
    words = list(words)
    command = Command(words)
    at, assignments = _unwrap(words, 0, len(words))
    if at >= len(words):
        return command
    if not LAUNCHERS.fullmatch(os.path.basename(words[at])):
        program = _program(words, 0, len(words))
        if program:
            command.programs.append(program)
        return command
    command.launcher = words[at]
    at += 1
    while at <= len(words):  # mpiexec -n 1 ./a : -n 2 ./b
        end = words.index(":", at) if ":" in words[at:] else len(words)
        start = _after_launcher_options(words, at, end)
        options = {
            word.lstrip("-").partition("=")[0] for word in words[at:start] if word.startswith("-")
        }
        if options & {"configfile", "app", "multi-prog"}:
            command.config_file = True
        set_here = _set_by_launcher(words[at:start])
        if "genv" in options:  # for all programs
            assignments.update(set_here)
        program = _program(words, start, end) if start < end else None
        if program:
            command.programs.append(
                Program(
                    program.at, program.start, {**assignments, **set_here, **program.assignments}
                )
            )
        at = end + 1
    return command
