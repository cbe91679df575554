"""Compiles the programs of the language suite and runs many of them within one start of the launcher.

Each program is compiled by upcc by itself; in its object, main gets a name of its own and all else becomes local, so that any number
of programs can be linked into one. That one's main runs the programs that its arguments name, one after the other.
"""

import concurrent.futures
import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .. import launch, launch_upc
from . import language_programs

CFLAGS = ["-Wall", "-Werror", "-fno-common"]  # objcopy cannot make common symbols local
DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>fatal error|error|warning): (?P<text>.*)$",
    re.M,
)
WORKERS = min(4, os.cpu_count() or 1)


@dataclass(frozen=True)
class Surroundings:
    """How programs are run: through which network, and whether the cache is on."""

    name: str
    tcp: bool = False
    cache: bool = True


MEMORY = Surroundings("memory")
CACHED = Surroundings("cached", tcp=True)
UNCACHED = Surroundings("uncached", tcp=True, cache=False)


@dataclass(frozen=True)
class Combination:
    threads: int
    static: bool
    where: Surroundings

    def __str__(self):
        return f"{'static' if self.static else 'dynamic'}-{self.threads}-{self.where.name}"


# Every number of threads with every network and both kinds of THREADS; one thread talks to nobody.
ALL = [
    Combination(threads, static, where)
    for threads in (1, 2, 3, 4)
    for static in (False, True)
    for where in ((MEMORY,) if threads == 1 else (MEMORY, CACHED, UNCACHED))
]
# Those that a run of ./test starts: each threads, each kind, each network occurs; a program takes part in one of them.
FEW = [
    Combination(1, False, MEMORY),
    Combination(2, False, CACHED),
    Combination(3, False, MEMORY),
    Combination(4, False, MEMORY),
    Combination(3, False, UNCACHED),
    Combination(4, False, CACHED),
    Combination(1, True, MEMORY),
    Combination(2, True, MEMORY),
    Combination(3, True, CACHED),
    Combination(4, True, UNCACHED),
]


def combinations(program, long):
    """Where a program is run: in all that its comments allow (`long`), or in the one of FEW that its name's hash chooses."""

    def allowed(which):
        return [
            each
            for each in which
            if each.threads in program.threads
            and ("static" if each.static else "dynamic") in program.environments
        ]

    if long:
        # what takes the whole run with it needs a start of its own each time
        return allowed(FEW if program.ends else ALL)
    few = allowed(FEW)
    return [few[program.hash() % len(few)]]


# --- compiling -------------------------------------------------------------------------------------------------------------------


def upcc(words):
    return launch_upc.call_upcc(*words)


def include_words():
    return ["-I", language_programs.FOLDER]


def optimised(program):
    """Whether it is: every fourth one, or all under --long, as that takes the C compiler half as long again."""
    return ["-O1" if long_run() or program.hash("optimised") % 4 == 0 else "-O0"]


def compile_program(program, static, folder, more=()):
    """The object of a program, with its main renamed; or the messages of the step that failed. `static`: the number of threads, or 0."""
    folder = Path(folder)
    flags = [
        *CFLAGS,
        *optimised(program),
        *more,
        *include_words(),
        *([f"-T={static}"] if static else []),
    ]
    objects = []
    for index, source in enumerate(program.sources):
        output = folder / f"{program.symbol}.{index}.o"
        code, _, messages = upcc([*flags, "-c", source, "-o", output])
        if code != 0 or messages:
            return None, messages or f"upcc ended with {code}"
        objects.append(output)
    joined, renamed = folder / f"{program.symbol}.r.o", folder / f"{program.symbol}.o"
    steps = [
        [
            "objcopy",
            "--redefine-sym",
            f"ncupc_main={program.symbol}",
            "--keep-global-symbol",
            program.symbol,
            objects[0],
            renamed,
        ]
    ]
    if len(objects) > 1:  # names that they share become local once they are one
        steps = [["ld", "-r", "-o", joined, *objects], [*steps[0][:-2], joined, renamed]]
    for words in steps:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode != 0:
            return None, done.stderr
    for path in {*objects, joined}:
        path.unlink(missing_ok=True)
    return renamed, ""


@dataclass
class Told:
    """What upcc says of a program: {line: messages} of errors and of warnings."""

    code: int
    messages: str
    errors: dict
    warnings: dict


def diagnose(program, static):
    code, _, messages = upcc(
        [*include_words(), *([f"-T={static}"] if static else []), "-fsyntax-only", program.path]
    )
    told = Told(code, messages, {}, {})
    for match in DIAGNOSTIC.finditer(messages):
        if Path(match["file"]).name == program.path.name:
            lines = told.warnings if match["kind"] == "warning" else told.errors
            lines.setdefault(int(match["line"]), []).append(match["text"])
    return told


def in_processes(function, items):
    """{item: function(item)}, several at a time: upcc works within its process."""
    with concurrent.futures.ProcessPoolExecutor(WORKERS) as pool:
        return dict(zip(items, pool.map(function, items, chunksize=1)))


MAIN = """\
#include <stdio.h>
#include <string.h>
#include <upc.h>

{declarations}

static const struct {{ const char *name; int (*run)(int, char **); }} cases[] = {{
{rows}
}};

shared int status[THREADS];

static int run(int index, char *program)
{{
    char *arguments[] = {{program, NULL}};
    int mine;
    if (MYTHREAD == 0)
        printf("\\n=== %s\\n", cases[index].name);
    fflush(stdout);
    upc_barrier;
    mine = status[MYTHREAD] = cases[index].run(1, arguments);
    fflush(stdout);
    upc_barrier;
    if (MYTHREAD == 0) {{
        int failed = 0;
        for (int t = 0; t < THREADS; t++)
            failed += status[t] != 0;
        printf("\\n--- %s %d\\n", cases[index].name, failed);
        fflush(stdout);
    }}
    upc_barrier;
    return mine;
}}

int main(int argc, char **argv)
{{
    int last = 0;
    for (int i = 1; i < argc; i++)
        for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++)
            if (strcmp(argv[i], cases[c].name) == 0)
                last = run(c, argv[0]);
    return argc == 2 ? last : 0;
}}
"""


def link(programs, objects, static, path, more=()):
    """One executable of many programs."""
    main = Path(f"{path}.upc")
    main.write_text(
        MAIN.format(
            declarations="\n".join(f"extern int {each.symbol}(int, char **);" for each in programs),
            rows="\n".join(f'    {{"{each.name}", {each.symbol}}},' for each in programs),
        )
    )
    fixed = [f"-T={static}"] if static else []
    code, _, messages = upcc([*CFLAGS, *more, *fixed, main, *objects, "-o", path, "-lm"])
    assert code == 0, messages
    return path


# --- running ---------------------------------------------------------------------------------------------------------------------

OUTPUT = re.compile(r"^=== (\S+)\n(.*?)(?:^--- (\S+) (\d+)$|\Z)", re.M | re.S)


def run(executable, combination, names, timeout=60, env=None):
    return launch_upc.run(
        executable,
        combination.threads,
        *names,
        cache=combination.where.cache,
        tcp=combination.where.tcp,
        timeout=timeout,
        env=env,
        heap=24 << 20,
    )


@dataclass
class Outcome:
    """What became of one program in one combination."""

    done: bool = False  # main returned on every thread
    failed: int = 0  # on how many threads with a value other than 0
    output: str = ""
    messages: str = ""
    code: int = None
    command: str = ""


def outcomes(executable, combination, programs, env=None):
    """Runs programs, as many of them as possible at a time: after one that crashed or hung, the rest by a new start."""
    found, waiting = {}, [each.name for each in programs if not each.ends]
    while waiting:
        result = run(executable, combination, waiting, timeout=30 + 2 * len(waiting), env=env)
        shown = " ".join(map(str, result.command))
        for name, output, end, failed in OUTPUT.findall(result.stdout):
            outcome = Outcome(
                bool(end), int(failed or 0), output.strip("\n"), "", result.returncode, shown
            )
            outcome.messages = messages_of(name, result.stderr) if end else result.stderr[-3000:]
            found[name] = outcome
        if waiting[0] not in found:  # nothing was started
            for name in waiting:
                found[name] = Outcome(
                    messages=result.stderr[-3000:], code=result.returncode, command=shown
                )
        waiting = [name for name in waiting if name not in found]
    for program in programs:
        if program.ends:
            result = run(executable, combination, [program.name], env=env)
            output = result.stdout.split(f"=== {program.name}\n")[-1].split("\n--- ")[0].strip("\n")
            found[program.name] = Outcome(
                False,
                0,
                output,
                result.stderr,
                result.returncode,
                " ".join(map(str, result.command)),
            )
    return found


def messages_of(name, text):
    """The lines of standard error that name the program's file."""
    file = name.rpartition("/")[2] + ".upc:"
    return "\n".join(line for line in text.split("\n") if file in line)


class Suite:
    """Everything that a list of programs shall show; compiled and run once, when it is first asked for. `options`: for upcc."""

    def __init__(self, programs, long, folder, options=()):
        self.programs = programs
        self.long = long
        self.folder = Path(folder)
        self.options = options

    @functools.cached_property
    def diagnostics(self):
        wanted = [each for each in self.programs if each.told]
        found = in_processes(functools.partial(_diagnose, wanted), range(len(wanted)))
        return {wanted[index].name: result for index, result in found.items()}

    @functools.cached_property
    def plan(self):
        """{combination: programs}."""
        plan = {}
        for program in self.programs:
            if not program.told:
                for combination in combinations(program, self.long):
                    plan.setdefault(combination, []).append(program)
        return plan

    @functools.cached_property
    def objects(self):
        """{(program's name, static number of threads or 0): (object, messages)}."""
        wanted = sorted(
            {
                (self.programs.index(each), combination.threads if combination.static else 0)
                for combination, programs in self.plan.items()
                for each in programs
            }
        )
        for _, static in wanted:
            (self.folder / str(static)).mkdir(exist_ok=True, parents=True)
        found = in_processes(
            functools.partial(_compile, self.programs, self.folder, self.options), wanted
        )
        return {
            (self.programs[index].name, static): result for (index, static), result in found.items()
        }

    @functools.cached_property
    def executables(self):
        """{static number of threads or 0: (path, programs in it)}."""
        linked = {}
        for static in sorted({static for _, static in self.objects}):
            programs = [
                each for each in self.programs if self.objects.get((each.name, static), (None,))[0]
            ]
            objects = [self.objects[each.name, static][0] for each in programs]
            linked[static] = link(
                programs, objects, static, self.folder / f"all-{static}", self.options
            )
        return linked

    @functools.cached_property
    def results(self):
        """{(program's name, combination): Outcome}, of what compiled."""
        found = {}
        for combination, programs in self.plan.items():
            static = combination.threads if combination.static else 0
            compiled = [each for each in programs if self.objects[each.name, static][0]]
            for name, outcome in outcomes(self.executables[static], combination, compiled).items():
                found[name, combination] = outcome
        return found


def _diagnose(programs, index):
    return diagnose(programs[index], 2 if programs[index].environments == ("static",) else 0)


def _compile(programs, folder, options, wanted):
    index, static = wanted
    return compile_program(programs[index], static, folder / str(static), options)


def long_run():
    return launch.LONG
