"""A man page as roff(7): sections of paragraphs, items with a description, and preformatted lines."""

import re
import textwrap

WIDTH = 80


def escaped(text):
    """Words of a paragraph: no character of theirs is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"(?m)^\.", r"\\&.", text)


def literal(text):
    """Names in backquotes are bold."""
    return "".join(
        f"\\fB{escaped(part)}\\fR" if index % 2 else escaped(part)
        for index, part in enumerate(text.split("`"))
    )


def wrapped(line):
    """A line of words as several; a command stays as it is."""
    if line.startswith(".") or len(line) <= WIDTH:
        return line
    lines = textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"\\&{each}\n" if each.startswith(".") else f"{each}\n" for each in lines)


class Page:
    """`head` holds date and version; both are given, so that a page is the same whenever it is made."""

    def __init__(self, name, section, purpose, version, date):
        self.name = name
        self.section = section
        self.lines = [
            f'.TH "{escaped(name.upper())}" {section} "{date}" "Nearcache {version}" "Nearcache"',
            ".SH NAME",
            f"{escaped(name)} \\- {escaped(purpose.rstrip('.'))}",
        ]

    @property
    def file(self):
        return f"man{self.section}/{self.name}.{self.section}"

    def heading(self, text):
        self.lines.append(f'.SH "{escaped(text.upper())}"')

    def paragraph(self, text):
        self.lines += [".PP", literal(" ".join(text.split()))]

    def item(self, name, text, argument=""):
        """`argument` is in italics."""
        self.lines += [
            ".TP",
            f"\\fB{escaped(name)}\\fR" + (f" \\fI{escaped(argument)}\\fR" if argument else ""),
            literal(" ".join(text.split())) or "\\&",
        ]

    def verbatim(self, text):
        self.lines += [".PP", ".nf", escaped(text.rstrip("\n")), ".fi"]

    def see_also(self, *names):
        self.heading("See also")
        # Each is "name(section)".
        self.lines += [
            ".PP",
            ",\n".join(
                re.sub(
                    r"^(.*)(\(\d\))$", lambda found: f"\\fB{escaped(found[1])}\\fR{found[2]}", name
                )
                for name in names
            ),
        ]

    def text(self):
        """No paragraph begins where a section has begun one; lines of words end where mandoc wants them to."""
        text = "\n".join(self.lines) + "\n"
        text = re.sub(r"(?m)^(\.SH .*\n)\.PP\n", r"\1", text)
        parts = re.split(r"(?ms)^(\.nf\n.*?^\.fi\n)", text)  # what its author has laid out stays
        for index in range(0, len(parts), 2):
            parts[index] = "".join(map(wrapped, parts[index].splitlines(keepends=True)))
        return "".join(parts)
