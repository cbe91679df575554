"""What the parts of the lowering have in common.

A part is given the file's Unit and, under their names, the parts that its `needs` names. What it offers to others are its methods without
an underscore; of another part nothing else is used (tests/upc/test_parts.py). lower.py makes the parts and gives them to each other.
"""


class Part:
    needs = ()

    def __init__(self, unit):
        self.unit = unit

    def connect(self, parts):
        """parts: all of them, by name."""
        for name in self.needs:
            setattr(self, name, parts[name])
