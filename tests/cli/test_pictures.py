"""Pictures of the documents: speedups as docs/evidence has them, in both themes; diagrams that name what there is."""

import importlib.util
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"


def speedups():
    spec = importlib.util.spec_from_file_location("speedups", PICTURES / "speedups.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(path):
    return [
        element.text
        for element in xml.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.parametrize("theme", ("light", "dark"))
def test_the_picture_of_speedups_shows_the_evidence(theme):
    module = speedups()
    bars = module.bars()
    expected = [
        module.text_of(by_network[network])
        for network in (module.TCP, module.ARIES)
        for _, by_network in bars
    ]
    drawn = texts(PICTURES / f"speedups-{theme}.svg")
    labels = [label for label, _ in bars]
    first = drawn.index(labels[0])
    assert drawn[first : first + len(labels)] == labels, "run: python docs/pictures/speedups.py"
    figures = [text for text in drawn if re.fullmatch(r"[\d.]+x", text)]
    axis = ["1x", "2x", "5x", "10x", "20x", "50x", "100x"]
    assert sorted(figures) == sorted(axis + expected), "run: python docs/pictures/speedups.py"


def test_the_readme_tells_the_fastest_and_the_slowest_bar():
    module = speedups()
    every = [(value, label) for label, by_network in module.bars() for value in by_network.values()]
    readme = (PICTURES.parents[1] / "README.md").read_text(encoding="utf-8")
    for value, label in (max(every), min(every)):
        assert re.search(
            rf"{re.escape(module.text_of(value))} \({label.split(',')[0]}\)", readme
        ), label


@pytest.mark.parametrize("diagram", ("layers.svg", "one_get.svg"))
def test_diagrams_name_what_the_sources_have(diagram):
    words = " ".join(texts(PICTURES / diagram))
    sources = PICTURES.parents[1] / "src"
    code = "".join(
        file.read_text(encoding="utf-8")
        for folder in ("mpi", "cache")
        for file in sorted((sources / folder).rglob("*.h"))
    )
    for folder in re.findall(r"src/([a-z/]+)", words):
        assert (sources / folder).is_dir(), folder
    for kind, name in re.findall(r"\b([A-Z]\w+)::(\w+)", words):
        assert re.search(rf"^(class|struct) [^;]*\b{kind}\b", code, re.M) and re.search(
            rf"\b{name}\b", code
        ), f"{kind}::{name}"
    assert re.search(
        r"prefers-color-scheme: dark", (PICTURES / diagram).read_text(encoding="utf-8")
    )
