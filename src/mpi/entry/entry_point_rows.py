"""Reads entry_points.txt: the rows, with their C prototypes taken apart."""
import re
from dataclasses import dataclass, field


@dataclass
class Parameter:
    type: str  # without the name: "const int*", "MPI_Datatype"; arrays as pointers
    name: str


@dataclass
class Row:
    kind: str
    arguments: list  # of the kind: acquire_if(flag) has ["flag"]
    requirement: str
    returns: str
    symbol: str  # MPI_Get, MPIX_Comm_agree
    parameter_text: str
    parameters: list = field(default_factory=list)

    @property
    def name(self):
        """Of its field in the table `next`: Get of MPI_Get, X_Continue of MPIX_Continue."""
        return self.symbol[len("MPI_"):] if self.symbol.startswith("MPI_") else self.symbol[len("MPI"):]

    @property
    def enters_ours(self):
        """Fortran's entry point converts its arguments and enters our C function."""
        return self.of_rma or self.kind == "window"

    @property
    def of_rma(self):
        """In RmaNext: of windows and requests, which a layer below the cache may do itself."""
        windows = any(p.type in ("MPI_Win", "MPI_Win*") for p in self.parameters) and self.requirement != "openmpi"
        return windows or self.kind in ("complete", "query", "release", "unkept")

    @property
    def everywhere(self):
        """Every real MPI has it (SimGrid's may lack any)."""
        return self.requirement in ("", "not-simgrid")


def parse_parameter(text):
    text = text.strip()
    match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[\w*\])*)", text)
    kind, name, arrays = match.group(1).strip(), match.group(2), match.group(3)
    if arrays:  # int ranges[][3] and int counts[] are pointers to what they hold
        kind += "*"
    return Parameter(re.sub(r"\s*\*", "*", kind), name)


def parse_row(line, number, path):
    parts = [p.strip() for p in line.split("|", 2)]
    kind = re.fullmatch(r"(window|create|pass|get|rget|write|acquire|acquire_all|acquire_end|acquire_if|complete|query|release|unkept|next)(?:\((.*)\))?", parts[0])
    prototype = re.fullmatch(r"(\w+)\s+(MPIX?_\w+)\((.*)\)", parts[-1])
    if len(parts) != 3 or not kind or not prototype:
        raise SystemExit(f"{path}:{number}: expected `kind | requirement | prototype`: {line}")
    arguments = [a.strip() for a in kind.group(2).split(",")] if kind.group(2) else []
    text = prototype.group(3)
    parameters = [] if text == "void" else [parse_parameter(p) for p in text.split(",")]
    return Row(kind.group(1), arguments, parts[1], prototype.group(1), prototype.group(2), text, parameters)


def read_table(path):
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            rows.append(parse_row(line, number, path))
    return rows
