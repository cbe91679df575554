# SPDX-License-Identifier: BSD-3-Clause
"""Finds the program in a launcher's command line: `timeout 60 mpiexec -n 4 --bind-to core numactl
-N 0 ./app args`.

parse(words) -> Command; each of its Programs says where its words start, so that a preload can be
inserted there.
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

# Launcher options that take values, without leading dashes. Words after an unlisted option count as
# values unless they are programs.
ONE_VALUE = set(
    """
    n np c N f hostfile machinefile machine-file default-hostfile host hosts H wdir wd gwdir path iface ppn perhost launcher
    bootstrap launcher-exec bootstrap-exec rmk bind-to map-by rank-by membind env-file envlist genvlist configfile
    x nodes ntasks nperhost npernode npersocket timeout am app prefix report-uri output-filename output
    stdin max-restarts cpus-per-proc cpus-per-rank cpu-set cpu-list oversubscribe-limit demangle ranks-on personality
    ntasks-per-node cpus-per-task nodelist w p partition A account t time J job-name mpi cpu-bind mem mem-per-cpu
    gpus gres constraint C o e i error input jobid reservation export distribution m exclude D chdir qos
    hostlist nrs rs_per_host tasks_per_rs cpu_per_rs gpu_per_rs platform cfg localhost
    prepend-pattern task-prolog task-epilog prolog epilog launch-agent
""".split()
)
TWO_VALUES = {
    "mca",
    "gmca",
    "omca",
    "pmca",
    "prtemca",
    "gprtemca",
    "pmixmca",
    "gpmixmca",
    "genv",
    "env",
}
JOINED_VALUES = {"genv", "env"}  # may also be given as one word
# options that set the programs' working directory, and those that do so in one launcher only
FOLDERS = {"wdir", "wd", "gwdir", "chdir"}
OWN_FOLDERS = {"srun": {"D"}, "jsrun": {"h"}}
# Open MPI's -c and -N take a value, as do hydra's; hydra's -env takes a name and a value.
NO_VALUE = set(
    """
    v verbose V version help h q-quiet quiet tag-output oversubscribe nooversubscribe nolocal display-map display-allocation
    report-bindings allow-run-as-root l prepend-rank genvall genvnone envall envnone exclusive u
    unbuffered label O overcommit K k no-kill bynode byslot bycore preload-binary stream-buffering
""".split()
)
# Where a launcher differs from the others: its options that take one value, and those that take
# none.
DIFFERENT = {
    "srun": (
        set(
            """
    B G L M S T W d q r accel-bind acctg-freq begin clusters comment core-spec cores-per-socket cpu-freq deadline dependency
    extra-node-info gid gpu-bind gpu-freq gpus-per-node gpus-per-socket gpus-per-task hint licenses mail-type mail-user network
    nodefile ntasks-per-core ntasks-per-gpu ntasks-per-socket open-mode profile relative signal sockets-per-node switches
    thread-spec threads threads-per-core tmp tres-bind tres-per-task uid wait wckey
""".split()
        ),
        set(
            """
    E H I Q R X Z s contiguous disable-status exact hold immediate kill-on-bad-exit multi-prog nice no-allocate no-rotate overlap
    preserve-env pty quit-on-interrupt reboot spread-job test-only use-min-nodes
""".split()
        ),
    ),
    "jsrun": (
        set(
            """
    D E F K M P S U X b d g h k l r bind chdir env_eval env_no_propagate exit_on_error latency_priority launch_distribution
    memory_per_rs pre_post_exec rs_per_socket save_resources smpiargs stdio_input stdio_mode stdio_stderr stdio_stdout
    use_resources
""".split()
        ),
        {"L", "i", "immediate", "use_spindle"},
    ),
}

# Programs that run another program, given as their first non-option word: their options that take a
# value, and how many words other than options precede the program.
WRAPPERS = {
    "env": ({"-u", "--unset", "-C", "--chdir"}, 0),
    "numactl": (set(), 0),
    "taskset": (set(), 1),
    "nice": ({"-n", "--adjustment"}, 0),
    "ionice": ({"-c", "--class", "-n", "--classdata"}, 0),
    "timeout": ({"-s", "--signal", "-k", "--kill-after"}, 1),
    "stdbuf": ({"-i", "--input", "-o", "--output", "-e", "--error"}, 0),
    "setarch": (set(), 1),
    "time": ({"-f", "--format", "-o", "--output"}, 0),
    "nohup": (set(), 0),
    "setsid": (set(), 0),
    "chrt": ({"-T", "-P", "-D"}, 1),
    "exec": (set(), 0),
}
NUMACTL_VALUES = re.compile(
    r"-[iwNmpPC]|--(interleave|weighted-interleave|cpunodebind|membind|preferred|preferred-many|physcpubind)"
)
UPCRUN = "upcrun"  # of UPC programs, which have the library linked in
# These look at the program from outside: the preload goes before them. Their options whose value
# may be the name of a program, too.
OBSERVERS = {
    "valgrind": set(),
    "gdb": set("-x -ex -ix -iex -d -cd --command --eval-command".split()),
    "perf": set("-G -M -e -k -o -t -u --event --output --type".split()),
    "strace": set("-E -I -P -S -a -b -e -o -p -s -u --output --trace --username".split()),
    "ltrace": set("-A -D -F -a -e -l -n -o -p -s -u -x --output".split()),
    "xterm": set("-T -class -display -fa -fn -geometry -name -title".split()),
}
# Commands of perf that have commands of their own, such as `perf mem record`.
PERF_GROUPS = {"c2c", "kmem", "lock", "mem", "sched"}
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.S)


@dataclass
class Program:
    """A program in a command line: `at` is the index of the word before which a preload is
    inserted, `start` that of the program's own first word."""

    at: int
    start: int
    assignments: dict[str, str] = field(default_factory=dict)  # set by an `env` before it
    folder: str = ""  # its working directory, if it differs from ours
    bare: bool = False  # a name without a path that only the launcher looks up in that folder


@dataclass
class Command:
    words: list[str]
    launcher: str = ""  # "" if the program is started without a launcher
    programs: list[Program] = field(default_factory=list)
    config_file: bool = False  # the programs are listed in a file, not on the command line


def locate(word: str, path: str | None = None, folder: str = "") -> str | None:
    """Return the file that a word starts in a folder: a path, or a name in PATH; None if there is
    no such program."""
    if "/" in word:
        word = os.path.join(folder, word)
        return word if os.path.isfile(word) and os.access(word, os.X_OK) else None
    return shutil.which(word, path=path)


def locate_in_launcher(word: str, folder: str = "") -> str | None:
    """Like locate(), but for a word that a launcher starts: launchers also find programs in the
    working directory."""
    return locate(word, folder=folder) or _beside(word, folder)


def why_not_located(word: str, folder: str = "") -> str:
    """Return what is wrong with a word for which locate() or locate_in_launcher() found nothing."""
    if not word:
        return "the name of the program is empty"
    path = os.path.join(folder, word)
    if os.path.isdir(path):
        return f"{word} is a folder, not a program"
    if os.path.isfile(path):
        return f"{word} is not executable"
    return f"there is no program {word}"


def _beside(word: str, folder: str) -> str | None:
    return locate("./" + word, folder=folder) if "/" not in word else None


def _is_program_of_setarch(word: str) -> bool:
    """Return whether a word after setarch is its program, not the optional architecture.

    Some architectures are also the names of commands, which are links to setarch itself.
    """
    path = locate(word)
    return path is not None and os.path.basename(os.path.realpath(path)) != "setarch"


def _skip_wrapper(words: list[str], at: int, end: int) -> tuple[int, dict[str, str], str]:
    """Return the index after the own words of the wrapper at `at`, the variables that it sets, and
    the folder that it changes to."""
    name = os.path.basename(words[at])
    valued, leading = WRAPPERS[name]
    assignments, folder = {}, ""
    at += 1
    while at < end:
        word = words[at]
        assignment = ASSIGNMENT.fullmatch(word) if name == "env" else None
        if assignment:
            assignments[assignment[1]] = assignment[2]
        elif word == "--":
            at += 1
            break
        elif word.startswith("-"):  # including the `-` of `env -`
            if name == "env":
                following = words[at + 1 : end]
                folder = os.path.join(folder, _value_of("C", "chdir", word, following))
                # An empty value is as good as none, to the loader and to the library.
                unset = _value_of("u", "unset", word, following)
                if word in ("-", "-i", "--ignore-environment"):
                    unset = "LD_PRELOAD"  # the one variable of ours to which others may belong
                assignments.update({unset: ""} if unset else {})
            if word in valued or (name == "numactl" and NUMACTL_VALUES.fullmatch(word)):
                at += 1
        elif leading and not (name == "setarch" and _is_program_of_setarch(word)):
            leading -= 1
        else:
            break
        at += 1
    return at, assignments, folder


def _value_of(letter: str, name: str, word: str, following: list[str]) -> str:
    """Return the value of an option: of `-C FOLDER`, `-CFOLDER`, `--chdir FOLDER` or
    `--chdir=FOLDER`; else ""."""
    if word in (f"-{letter}", f"--{name}"):
        return following[0] if following else ""
    found = re.fullmatch(rf"(?:-{letter}|--{name}=)(.+)", word, re.S)
    return found[1] if found else ""


def _unwrap(
    words: list[str], at: int, end: int, folder: str = ""
) -> tuple[int, dict[str, str], str]:
    """Skip wrappers from `at` on; return (index of what they run, variables set, folder where it
    runs)."""
    assignments = {}
    while at < end and os.path.basename(words[at]) in WRAPPERS:
        at, more, its_folder = _skip_wrapper(words, at, end)
        assignments.update(more)
        folder = os.path.join(folder, its_folder)
    return at, assignments, folder


def _after_observer(words: list[str], at: int, end: int, folder: str) -> int:
    """Return the index of the first word that the observer at `at` runs.

    Words after an unlisted option count as its values unless they are programs.
    """
    name = os.path.basename(words[at])
    commands = int(name == "perf")  # words of its own, of which some are names of programs
    at += 1
    while at < end:
        word = words[at]
        if word == "--":
            return at + 1
        if word in OBSERVERS[name]:
            at += 1
        elif not word.startswith("-"):
            if commands:
                commands += (word in PERF_GROUPS) - 1
            elif locate(word, folder=folder):
                return at
        at += 1
    return at


def _program(words: list[str], at: int, end: int, folder: str, launched: bool) -> Program | None:
    start, assignments, folder = _unwrap(words, at, end, folder)
    preload_at = start
    while start < end and os.path.basename(words[start]) in OBSERVERS:
        start = _after_observer(words, start, end, folder)
        start, more, folder = _unwrap(words, start, end, folder)
        assignments.update(more)
    if start >= end:
        return None
    word = words[start]
    bare = launched and start == at and not locate(word, folder=folder)
    return Program(
        preload_at, start, assignments, folder, bare and _beside(word, folder) is not None
    )


def _kind_of(launcher: str) -> str:
    """Return the name of a launcher without path and suffix."""
    found = LAUNCHERS.fullmatch(os.path.basename(launcher))
    return found[1] if found else ""


def _folder_of(words: list[str], launcher: str) -> tuple[str, bool]:
    """Return the folder in which a launcher's own options run the program ("" for the current one),
    and whether this applies to all programs."""
    folder, for_all = "", False
    names = FOLDERS | OWN_FOLDERS.get(_kind_of(launcher), set())
    for word, following in zip(words, [*words[1:], ""]):
        name, equals, joined = word.lstrip("-").partition("=")
        if word.startswith("-") and name in names:
            folder, for_all = (joined if equals else following), name == "gwdir"
    return folder, for_all


def _after_launcher_options(words: list[str], at: int, end: int, launcher: str) -> int:
    """Return the index of the program's first word, after a launcher's options."""
    first = at
    one, none = DIFFERENT.get(_kind_of(launcher), (set(), set()))
    while at < end:
        word = words[at]
        if word == "--":
            return at + 1
        if not word.startswith("-") or word == "-":
            return at
        name = word.lstrip("-")
        at += 1
        if "=" in name or name in none:
            continue
        if name in one:
            at += 1
        elif name in NO_VALUE:
            continue
        elif name in TWO_VALUES:
            joined = name in JOINED_VALUES and at < end and "=" in words[at]  # -genv NAME=VALUE
            at += 1 if joined else 2
        elif name in ONE_VALUE:
            at += 1
        else:
            folder, _ = _folder_of(words[first:at], launcher)
            while (
                at < end
                and not words[at].startswith("-")
                and not locate_in_launcher(words[at], folder)
            ):
                at += 1
    return at


def _set_by_launcher(words: list[str]) -> dict[str, str]:
    """Return the variables that a launcher's own options set in its ranks: -x A=1, -env A 1, -genv
    A=1, --export=ALL,A=1."""
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
    """Parse a list of words into a Command."""
    words = list(words)
    command = Command(words)
    at, assignments, our_folder = _unwrap(words, 0, len(words))
    if at >= len(words):
        return command
    if not LAUNCHERS.fullmatch(os.path.basename(words[at])):
        program = _program(words, 0, len(words), "", False)
        if program:
            command.programs.append(program)
        return command
    command.launcher = words[at]
    at += 1
    while at <= len(words):  # mpiexec -n 1 ./a : -n 2 ./b
        end = words.index(":", at) if ":" in words[at:] else len(words)
        start = _after_launcher_options(words, at, end, command.launcher)
        folder, for_all = _folder_of(words[at:start], command.launcher)
        folder = os.path.join(our_folder, folder)
        if for_all:
            our_folder = folder
        options = {
            word.lstrip("-").partition("=")[0] for word in words[at:start] if word.startswith("-")
        }
        if options & {"configfile", "app", "multi-prog"}:
            command.config_file = True
        set_here = _set_by_launcher(words[at:start])
        if "genv" in options:  # applies to all programs
            assignments.update(set_here)
        program = _program(words, start, end, folder, True) if start < end else None
        if program:
            program.assignments = {**assignments, **set_here, **program.assignments}
            command.programs.append(program)
        at = end + 1
    return command
