# SPDX-License-Identifier: BSD-3-Clause
"""Reads entry_points.txt: the rows, with their C prototypes parsed."""

import re
from dataclasses import dataclass, field, replace


@dataclass
class Parameter:
    type: str  # without the name: "const int*", "MPI_Datatype"; arrays as pointers
    name: str


# Kinds of all calls from which others may learn what this rank has done; their entry points report
# a release before the call goes down.
RELEASING = ("create", "acquire", "acquire_all", "acquire_end", "publish")
# Kinds whose rows say where the call receives.
RECEIVING = ("write", "acquire", "acquire_all", "publish")
RECEIVED = (
    "each rank",
    "all counts",
    "at root",
    "from root",
    "but at root",
    "later",
    "anywhere",
    "nothing",
)


@dataclass
class Received:
    """The memory that MPI writes in a call: C expressions in terms of its parameters, except
    `places`."""

    places: str  # anywhere; or the layout of the other fields: block, each, displaced, all
    buffer: str = ""
    counts: str = ""
    displacements: str = ""
    type: str = ""
    group: str = "all"  # which ranks receive: all, at_root, from_root, but_at_root
    later: bool = False


@dataclass
class Row:
    kind: str
    arguments: list  # arguments of the kind: acquire_if(flag) has ["flag"]
    requirement: str
    returns: str
    symbol: str  # MPI_Get, MPIX_Comm_agree
    parameter_text: str
    parameters: list = field(default_factory=list)
    received_words: list = field(default_factory=list)

    def with_parameters(self, text):
        return replace(self, parameter_text=text, parameters=parse_parameters(text))

    @property
    def name(self):
        """Name of its field in the table `next`: Get for MPI_Get, X_Continue for MPIX_Continue."""
        return (
            self.symbol[len("MPI_") :]
            if self.symbol.startswith("MPI_")
            else self.symbol[len("MPI") :]
        )

    @property
    def enters_ours(self):
        """Whether Fortran's entry point converts its arguments and calls our C function."""
        return self.of_rma or self.kind == "window"

    @property
    def of_rma(self):
        """Whether it is in RmaNext: calls on windows and requests, which a layer below the cache
        may do itself."""
        windows = (
            any(p.type in ("MPI_Win", "MPI_Win*") for p in self.parameters)
            and self.requirement != "openmpi"
        )
        return windows or self.kind in ("complete", "query", "release", "unkept")

    @property
    def releases(self):
        """Whether another rank may learn by the call what this one has done."""
        return self.kind in RELEASING or (self.kind == "window" and self.arguments == ["releases"])

    @property
    def persistent(self):
        """Whether it makes a request that is started later, any number of times."""
        return bool(re.search(r"_init(_c)?$", self.name))

    @property
    def received(self):
        """A Received; None if MPI writes none of the program's memory in this call, or another call
        reports it."""
        buffers = [
            p.name
            for p in self.parameters
            if p.type == "void*" and p.name in ("buf", "buffer", "recvbuf", "result_addr")
        ]
        if self.kind not in RECEIVING or not buffers or "nothing" in self.received_words:
            return None
        names, words = {p.name for p in self.parameters}, self.received_words
        later = (
            "later" in words
            or "request" in names
            or self.kind == "write"
            or bool(re.search(r"_begin(_c)?$", self.name))
        )
        if "anywhere" in words:
            return Received("anywhere", later=later)

        def first(*candidates):
            return next((name for name in candidates if name in names), "")

        own = {"recvbuf": "recv", "result_addr": "result_"}.get(buffers[0], "")
        found = Received("block", buffers[0], later=later)
        found.type = first(own + ("datatype" if own == "result_" else "type"), "datatype")
        found.counts = first("recvcounts", own + "count", "count") or (
            "1" if self.kind == "write" else ""
        )
        found.displacements = first("displs", "rdispls") if found.counts == "recvcounts" else ""
        if "partitions" in names:
            found.counts = f"MPI_Count{{partitions}} * {found.counts}"
        found.places = (
            "each"
            if "each rank" in words
            else "all"
            if "all counts" in words
            else "displaced"
            if found.displacements
            else "block"
        )
        found.group = first_word(words, "at root", "from root", "but at root")
        if (
            not found.counts
            or not found.type
            or ((found.counts == "recvcounts") != (found.places in ("displaced", "all")))
        ):
            raise SystemExit(
                f"entry_points.txt: {self.symbol}: its parameters do not say where it receives, so the row must"
            )
        return found

    @property
    def everywhere(self):
        """Whether every real MPI has it (SimGrid's may lack any)."""
        return self.requirement in ("", "not-simgrid")


def first_word(words, *candidates):
    return next((word.replace(" ", "_") for word in candidates if word in words), "all")


def parse_parameter(text):
    text = text.strip()
    match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[\w*\])*)", text)
    kind, name, arrays = match.group(1).strip(), match.group(2), match.group(3)
    if arrays:  # int ranges[][3] and int counts[] are pointers to their elements
        kind += "*"
    return Parameter(re.sub(r"\s*\*", "*", kind), name)


def parse_parameters(text):
    return [] if text == "void" else [parse_parameter(p) for p in text.split(",")]


def parse_row(line, number, path):
    parts = [p.strip() for p in line.split("|", 3)]
    kind = re.fullmatch(
        r"(window|create|pass|get|rget|write|acquire|acquire_all|acquire_end|acquire_if|complete|publish|query|release|unkept|next)(?:\((.*)\))?",
        parts[0],
    )
    prototype = re.fullmatch(r"(\w+)\s+(MPIX?_\w+)\((.*)\)", parts[2] if len(parts) > 2 else "")
    received = [word.strip() for word in parts[3].split(",")] if len(parts) > 3 else []
    if not kind or not prototype or not set(received) <= set(RECEIVED):
        raise SystemExit(
            f"{path}:{number}: expected `kind | requirement | prototype [| received]`: {line}"
        )
    arguments = [a.strip() for a in kind.group(2).split(",")] if kind.group(2) else []
    text = prototype.group(3)
    return Row(
        kind.group(1),
        arguments,
        parts[1],
        prototype.group(1),
        prototype.group(2),
        text,
        parse_parameters(text),
        received,
    )


def read_table(path):
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            rows.append(parse_row(line, number, path))
    return rows
