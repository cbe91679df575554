# SPDX-License-Identifier: BSD-3-Clause
"""Links a UPC program: the user's objects, the runtime, the cache, the OpenSHMEM."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import command

if TYPE_CHECKING:
    from .runner import Runner
    from .toolchain import Toolchain


def link(runner: Runner, tools: Toolchain, objects: Sequence[str | Path]) -> None:
    """Link the objects, with the linker's words among them."""
    invocation = runner.invocation
    flags = invocation.compiling + invocation.linking
    linker = command.split(invocation.linker, "-link-with") or tools.cc
    output = ["-o", invocation.output or "a.out"]
    if {"-shared", "-r"} & set(flags):  # the result is not a program
        runner.run([*linker, *flags, *objects, *output])
        return
    if not invocation.dry:
        objects = renamed_mains(runner, tools, objects)
    known = {
        "ncupc_static_threads": invocation.threads,
        "ncupc_shared_heap": invocation.heap,
        "ncupc_struct_pointers": int(invocation.struct_pointers),
    }
    # read by upcrun
    fixed = [f"-Wl,--defsym={name}={value}" for name, value in known.items() if value]
    runner.run(
        [
            *linker,
            *flags,
            *objects,
            *tools.link_words(invocation.struct_pointers),
            *fixed,
            "-pthread",
            *output,
        ]
    )


def renamed_mains(
    runner: Runner, tools: Toolchain, words: Sequence[str | Path]
) -> Sequence[str | Path]:
    """Return the objects, with those that define `main` replaced by copies in which it is
    ncupc_main, which the runtime calls."""
    paths = [str(word) for word in words if re.search(r"\.(o|obj)$", str(word))]
    if not paths:
        return words
    try:
        listed = subprocess.run(
            ["nm", "-A", "-P", "--defined-only", *paths], capture_output=True, text=True
        ).stdout
    except OSError:  # without nm, the linker is missing as well, as the C compiler will report
        return words
    mains = {match[1] for match in re.finditer(r"^(.*): main [TW] ", listed, re.M)}
    copies = {path: str(runner.temporary(os.path.basename(path))) for path in mains}
    lto = any(word.startswith("-flto") for word in runner.invocation.compiling)
    for path, copy in copies.items():
        if lto:  # symbols of an object that is not fully compiled cannot be renamed
            native = runner.temporary(os.path.basename(path))
            runner.run(
                [
                    *tools.cc,
                    *runner.invocation.compiling,
                    "-r",
                    "-flinker-output=nolto-rel",
                    path,
                    "-o",
                    native,
                ]
            )
            path = native
        runner.run(["objcopy", "--redefine-sym", "main=ncupc_main", path, copy])
    return [copies.get(str(word), word) for word in words]
